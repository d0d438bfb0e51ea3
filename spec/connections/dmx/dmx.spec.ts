// DMX over sACN and Art-Net, with real sockets on loopback: the package `sacn`, and packets of Art-Net written by hand from its specification.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import test, { type ExecutionContext } from 'ava';
import { Sender } from 'sacn';
import type { Hub } from '../../../lib/index.ts';
import { eventually } from '../../support/deadline.ts';
import { startTestHub, statusOf, writer } from '../../support/hub.ts';

const value = (hub: Hub, id: string) => hub.find(`it/${id}`)?.value;
const has = (hub: Hub, id: string, expected: unknown) =>
  eventually(() => value(hub, id) === expected, `${id} = ${expected}, got ${value(hub, id)}`);
const isStale = (hub: Hub, id: string) => hub.find(`it/${id}`)?.device?.staleSince !== undefined;
const staleBecomes = (hub: Hub, id: string, expected: boolean) =>
  eventually(() => isStale(hub, id) === expected, `${id} ${expected ? 'stale' : 'fresh'}`);

/** A UDP socket at a free port, with the packets that it receives. */
async function startUdp(t: ExecutionContext, answer?: (packet: Buffer, port: number) => Buffer | undefined) {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  const received: Buffer[] = [];
  socket.on('message', (packet, { port }) => {
    received.push(packet);
    const answered = answer?.(packet, port);
    if (answered !== undefined) socket.send(answered, port, '127.0.0.1');
  });
  await once(socket, 'listening');
  t.teardown(() => socket.close());
  return {
    port: socket.address().port,
    received,
    send: (packet: Buffer, port: number) => socket.send(packet, port, '127.0.0.1'),
  };
}

async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(resolve));
  return port;
}

async function start(t: ExecutionContext, settings: object, rules: readonly object[] = []) {
  const port = await freeUdpPort();
  const it = { type: 'dmx', interface: '127.0.0.1', port, ...settings };
  const desk = { type: 'dummy', parameters: ['go,T'] };
  const hub = await startTestHub(t, { connections: { it, desk }, rules });
  await eventually(() => statusOf(hub, 'it').state === 'running', 'a running connection');
  return { hub, port };
}

/** ArtDmx as Art-Net 4 describes it: identifier, operation, version, sequence, port, universe, length, values. */
function artDmx(universe: number, values: readonly number[], sequence = 0): Buffer {
  const length = values.length + (values.length % 2);
  return Buffer.from([
    ...Buffer.from('Art-Net\0'),
    ...[0, 0x50, 0, 14, sequence, 0, universe & 255, universe >> 8, length >> 8, length & 255],
    ...values,
    ...(values.length % 2 === 1 ? [0] : []),
  ]);
}

/** The values of ArtDmx by channel, with its universe. */
const readArtDmx = (packet: Buffer) => ({
  universe: packet[14]! | (packet[15]! << 8),
  values: [...packet.subarray(18)],
  sequence: packet[12]!,
});

test('Art-Net: writes of a turn go as one packet, with every form of a value, and again while nothing changes', async (t) => {
  const receiver = await startUdp(t);
  const { hub } = await start(
    t,
    {
      protocol: 'art-net',
      to: [`127.0.0.1:${receiver.port}`],
      parameters: {
        'par/{n:1..3}/dimmer': { universe: 300, channel: 1, step: 4, as: 'percent' },
        'spot/pan': { universe: 300, channel: 20, as: 'word' },
        'spot/lamp': { universe: 300, channel: 30, as: 'switch' },
        'spot/gobo': { universe: 300, channel: 31 },
      },
    },
    [
      {
        from: 'desk/go',
        to: { 'it/par/2/dimmer': '50', 'it/spot/pan': '40000', 'it/spot/lamp': 'true', 'it/spot/gobo': '7' },
      },
    ],
  );
  hub.write('desk/go', 1, writer);
  const isWhole = (packet: Buffer) => packet.length > 40 && packet[18 + 30] === 7;
  await eventually(() => receiver.received.some(isWhole), 'the packet');
  const packets = receiver.received.filter((packet) => packet.readUInt16LE(8) === 0x5000).map(readArtDmx);
  const found = packets.find(({ values }) => values[30] === 7)!;
  t.is(found.universe, 300);
  t.deepEqual([found.values[4], found.values[19], found.values[20], found.values[29]], [128, 156, 64, 255]);
  t.true(
    packets.every(({ values }) => values[30] === 7 || values.every((one) => one === 0)),
    'no packet has a part of the turn',
  );
  const count = receiver.received.length;
  await eventually(() => receiver.received.length > count + 4, 'the same values again');
  t.throws(() => hub.write('it/spot/gobo', 256, writer), { code: 'out-of-range' });
});

test('Art-Net: received channels, a late packet, two sources, and a universe that goes silent', async (t) => {
  const { hub, port } = await start(t, {
    protocol: 'art-net',
    to: ['127.0.0.1:9'],
    idleTimeout: 600,
    parameters: {
      'desk/fader': { universe: 0, channel: 1, direction: 'in' },
      'desk/go': { universe: 0, channel: 2, direction: 'in', as: 'switch' },
      'other/fader': { universe: 1, channel: 1, direction: 'in' },
    },
  });
  t.true(isStale(hub, 'desk/fader'));
  const desk = await startUdp(t);
  desk.send(artDmx(0, [10, 255], 5), port);
  await has(hub, 'desk/fader', 10);
  t.is(value(hub, 'desk/go'), true);
  t.false(isStale(hub, 'desk/fader'));
  t.true(isStale(hub, 'other/fader'));
  desk.send(artDmx(0, [99, 0], 4), port); // late
  desk.send(artDmx(0, [11, 0], 6), port);
  await has(hub, 'desk/fader', 11);
  t.is(value(hub, 'desk/go'), false);
  for (const garbage of [Buffer.from('garbage'), artDmx(0, [1, 2]).subarray(0, 19), Buffer.alloc(2000)])
    desk.send(garbage, port);
  await eventually(() => (statusOf(hub, 'it').wire?.refused ?? 0) >= 3, 'refused packets');
  await staleBecomes(hub, 'desk/fader', true);
  t.is(value(hub, 'desk/fader'), 11);
});

test('Art-Net: a node that reports a universe gets it, and the hub answers polls', async (t) => {
  const reply = Buffer.alloc(239);
  reply.write('Art-Net\0');
  reply.writeUInt16LE(0x2100, 8);
  reply[18] = 1; // net 1
  reply[19] = 2; // subnet 2
  reply[173] = 1;
  reply[174] = 0x80;
  reply[190] = 3;
  const { hub, port } = await start(t, {
    protocol: 'art-net',
    parameters: {
      out: { universe: 0x123, channel: 1 },
      in: { universe: 0x45, channel: 1, direction: 'in' },
    },
  });
  const node = createSocket({ type: 'udp4', reuseAddr: true }).bind(0, '127.0.0.2');
  await once(node, 'listening');
  t.teardown(() => node.close());
  const asked = once(node, 'message');
  const poll = Buffer.from([...Buffer.from('Art-Net\0'), 0, 0x20, 0, 14, 2, 0]);
  node.send(poll, port, '127.0.0.1');
  const [answer] = (await asked) as [Buffer];
  t.is(answer.readUInt16LE(8), 0x2100);
  t.is(answer.toString('latin1', 26, 34), 'Patchbay');
  t.is(statusOf(hub, 'it').state, 'running');
  node.send(reply, port, '127.0.0.1');
  const receiver = createSocket({ type: 'udp4', reuseAddr: true }).bind(port, '127.0.0.2');
  await once(receiver, 'listening');
  t.teardown(() => receiver.close());
  const got = once(receiver, 'message');
  await eventually(() => {
    node.send(reply, port, '127.0.0.1');
    hub.write('it/out', 77, writer);
    return true;
  }, 'a write');
  const [packet] = (await got) as [Buffer];
  t.is(readArtDmx(packet).universe, 0x123);
});

test('sACN: a source by unicast with a priority, its end, and what the hub sends', async (t) => {
  const receiver = await startUdp(t);
  const { hub, port } = await start(t, {
    protocol: 'sacn',
    to: [`127.0.0.1:${receiver.port}`],
    priority: 120,
    name: 'Studio ä',
    parameters: {
      'desk/{n:1..4}': { universe: 7, channel: 1, direction: 'in' },
      'lamp/{n:1..4}': { universe: 8, channel: 1 },
    },
  });
  const source = (name: string, priority: number) => {
    const sender = new Sender({
      universe: 7,
      port,
      useUnicastDestination: '127.0.0.1',
      defaultPacketOptions: { sourceName: name, priority, useRawDmxValues: true, cid: Buffer.alloc(16, name) },
    });
    t.teardown(() => sender.close());
    return (payload: Record<number, number>) =>
      sender.send({ payload, sourceName: name, priority, useRawDmxValues: true, cid: Buffer.alloc(16, name) });
  };
  const [desk, backup] = [source('desk', 100), source('backup', 50)];
  await backup({ 1: 9, 2: 9 });
  await has(hub, 'desk/1', 9);
  await desk({ 1: 200, 4: 5 });
  await has(hub, 'desk/1', 200);
  t.is(value(hub, 'desk/2'), 0, 'the higher priority counts alone');
  await staleBecomes(hub, 'desk/1', true);
  await backup({ 1: 12 });
  await has(hub, 'desk/1', 12);
  hub.write('it/lamp/3', 33, writer);
  const isData = (packet: Buffer) => packet.readUInt32BE(18) === 4 && packet[126 + 2] === 33;
  await eventually(() => receiver.received.some(isData), 'the packet');
  const packet = receiver.received.find(isData)!;
  t.is(packet.length, 126 + 24);
  t.is(packet.readUInt16BE(113), 8);
  t.is(packet[108], 120);
  t.is(packet.toString('utf8', 44, 44 + 9), 'Studio ä');
  t.is(packet.readUInt16BE(16) & 0xfff, packet.length - 16);
  t.is(packet.readUInt16BE(123), 25);
  t.true(
    receiver.received.some((one) => one.readUInt32BE(18) === 8),
    'the list of universes',
  );
});

test('errors in channels are reported with their location', async (t) => {
  const parameters = {
    a: { universe: 0, channel: 1 },
    'b/{n:1..5}': { universe: 1, channel: 510 },
    c: { universe: 2, channel: 5 },
    d: { universe: 2, channel: 4, as: 'word' },
  };
  const starting = startTestHub(t, { connections: { it: { type: 'dmx', protocol: 'sacn', parameters } } });
  const { message } = (await t.throwsAsync(starting))!;
  t.regex(message, /parameters\.a\.universe: expected a universe 1\.\.63999 over sacn, got 0/);
  t.regex(message, /channel: expected channels up to 512, but b\/4 would reach channel 513/);
  t.regex(message, /parameters\.d\.channel: expected a free channel for d, but c has channel 5/);
});
