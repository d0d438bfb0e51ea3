// A hub that speaks TSL UMD with others: the packages tsl-umd and tsl-umd-v5, socat, and sockets that send what they should not.

import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import {
  decodePacket,
  encodePacket,
  framingOf,
  readDisplays,
  showPacket,
  type Version,
} from '../../../lib/connections/tsl-umd/packet.ts';
import { maxDisplays } from '../../../lib/connections/tsl-umd/settings.ts';
import type { Hub } from '../../../lib/index.ts';
import { eventually } from '../../support/deadline.ts';
import { startTestHub, statusOf, writer } from '../../support/hub.ts';
import { needs } from '../../support/programs.ts';
import { freePort } from '../../support/system/port.ts';
import { createPeer5, listen3, startReceiver5, type Tally3, type Tally5 } from './peers.ts';

needs('socat');

const place = (port: number) => `127.0.0.1:${port}`;
const value = (hub: Hub, id: string) => hub.find(`it/${id}`)?.value;
const has = (hub: Hub, id: string, expected: unknown) =>
  eventually(() => value(hub, id) === expected, `${id} = ${expected}, got ${value(hub, id)}`);
const isRunning = (hub: Hub) => eventually(() => statusOf(hub, 'it').state === 'running', 'a running connection');
const refusedOf = (hub: Hub) => statusOf(hub, 'it').wire?.refused ?? 0;
const packet = (version: Version, text: string) => encodePacket(version, readDisplays(text)).bytes;
const cams = { 'cam/{n:1..3}': { index: '{n}' } };

async function start(t: ExecutionContext, settings: object) {
  const hub = await startTestHub(t, { connections: { it: { type: 'tsl-umd', displays: cams, ...settings } } });
  await isRunning(hub);
  return hub;
}

async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(resolve));
  return port;
}

/** A UDP socket with the packets that it receives as text. */
async function startUdp(t: ExecutionContext, port = 0) {
  const socket = createSocket('udp4');
  const received: string[] = [];
  socket.on('message', (bytes) => received.push(showPacket(bytes)));
  socket.bind(port, '127.0.0.1');
  await once(socket, 'listening');
  let isClosed = false;
  const close = () => {
    if (!isClosed) socket.close();
    isClosed = true;
  };
  t.teardown(close);
  const send = (bytes: Buffer, to: number) => socket.send(bytes, to, '127.0.0.1');
  return { port: socket.address().port, received, send, close };
}

test('tsl-umd-v5 receives over UDP what is written: text, lamps, brightness', async (t) => {
  const port = await freeUdpPort();
  const got = startReceiver5(t, 'UDP', port);
  const hub = await start(t, {
    udp: place(port),
    displays: { 'cam/{n:1..3}': { index: '{n}', screen: 2 } },
    refresh: false,
  });
  await eventually(() => {
    hub.write('it/cam/1/text', `CAM ${got.length}`, writer);
    return got.length > 0;
  }, 'the peer to listen');
  hub.turn(() => {
    hub.write('it/cam/3/text', 'Studio', writer);
    hub.write('it/cam/3/lh', 'red', writer);
    hub.write('it/cam/3/txt', 2, writer);
    hub.write('it/cam/3/rh', 'amber', writer);
    hub.write('it/cam/3/brightness', 1, writer);
  });
  await eventually(() => got.some(({ index }) => index === 3), 'the display 3');
  const { screen, display } = got.find(({ index }) => index === 3)!;
  t.is(screen, 2);
  const { text, lh_tally, text_tally, rh_tally, brightness } = display;
  t.deepEqual([text, lh_tally, text_tally, rh_tally, brightness], ['Studio', 1, 2, 3, 1]);
  t.throws(() => hub.write('it/cam/3/lh', 'blue', writer), { message: /expected one of off, red, green, amber/ });
  t.throws(() => hub.write('it/cam/3/brightness', 4, writer), { message: /expected an integer 0\.\.3/ });
});

test('tsl-umd-v5 receives over TCP, framed by DLE and STX', async (t) => {
  const port = await freePort();
  const got = startReceiver5(t, 'TCP', port);
  const hub = await start(t, { tcp: place(port) });
  hub.write('it/cam/2/text', 'CAM 2', writer);
  await eventually(() => got.length > 0, 'a display');
  const [{ index, display }] = got as [Tally5];
  t.deepEqual([index, display.text, display.lh_tally, display.brightness], [2, 'CAM 2', 0, 3]);
});

test('tsl-umd-v5 sends over UDP and TCP, also an index that has to be stuffed, and a framed datagram', async (t) => {
  const displays = { ...cams, far: { index: 254 }, screen: { index: 2, screen: 5 } };
  const [udpPort, tcpPort] = [await freeUdpPort(), await freePort()];
  const udp = await start(t, { listen: udpPort, displays });
  const tcp = await start(t, { tcpListen: tcpPort, displays });
  const peer = createPeer5();
  const tally = (index: number, text: string, screen = 0) => ({
    ...{ screen, index },
    display: { rh_tally: 1, text_tally: 2, lh_tally: 3, brightness: 2, text },
  });
  peer.sendTallyUDP('127.0.0.1', udpPort, tally(1, 'over UDP'));
  peer.sendTallyUDP('127.0.0.1', udpPort, tally(2, 'on screen 5', 5));
  peer.sendTallyUDP('127.0.0.1', udpPort, tally(254, 'framed'), true);
  peer.sendTallyTCP('127.0.0.1', tcpPort, tally(254, 'over TCP'));
  await has(udp, 'cam/1/text', 'over UDP');
  await has(udp, 'screen/text', 'on screen 5');
  await has(udp, 'far/text', 'framed');
  await has(tcp, 'far/text', 'over TCP');
  t.deepEqual(
    ['lh', 'txt', 'rh', 'brightness'].map((part) => value(tcp, `far/${part}`)),
    [3, 2, 1, 2],
  );
  t.is(value(udp, 'cam/2/text'), undefined);
  t.throws(() => udp.write('it/cam/1/text', 'no', writer), { message: /read-only/ });
  t.is(refusedOf(udp) + refusedOf(tcp), 0);
});

test('tsl-umd receives version 3.1: 16 characters, four lamps, brightness', async (t) => {
  const port = await freeUdpPort();
  const peer = await listen3(port);
  t.teardown(() => peer.server.close());
  const got: Tally3[] = [];
  peer.on('message', (tally: Tally3) => got.push(tally));
  const hub = await start(t, { version: 3.1, udp: place(port), refresh: false });
  hub.turn(() => {
    hub.write('it/cam/3/text', 'Studio', writer);
    hub.write('it/cam/3/tally/1', true, writer);
    hub.write('it/cam/3/tally/4', true, writer);
    hub.write('it/cam/3/brightness', 2, writer);
  });
  await eventually(() => got.length > 0, 'a display');
  const [{ address, brightness, tally1, tally2, tally3, tally4, label }] = got as [Tally3];
  t.deepEqual([address, brightness, tally1, tally2, tally3, tally4], [3, 2, 1, 0, 0, 1]);
  t.is(label, 'Studio          ');
});

for (const version of [3.1, 4, 5] as const)
  for (const way of ['udp', 'tcp'] as const)
    test(`two hubs pass displays on in version ${version} over ${way}, and what is sent is what is received`, async (t) => {
      const port = await (way === 'udp' ? freeUdpPort() : freePort());
      const receiver = await start(t, { version, ...(way === 'udp' ? { listen: port } : { tcpListen: port }) });
      const sender = await start(t, { version, [way]: place(port), spacing: 0 });
      const lamp = version === 3.1 ? 'tally/2' : 'rh';
      sender.write('it/cam/1/text', 'one', writer);
      sender.write(`it/cam/1/${lamp}`, version === 3.1 ? true : 'green', writer);
      sender.write('it/cam/3/text', 'three', writer);
      if (version === 4) sender.write('it/cam/3/right/txt', 'amber', writer);
      await has(receiver, 'cam/1/text', 'one');
      await has(receiver, `cam/1/${lamp}`, version === 3.1 ? true : 2);
      await has(receiver, 'cam/3/text', 'three');
      if (version === 4) await has(receiver, 'cam/3/right/txt', 3);
      t.is(value(receiver, 'cam/2/text'), undefined, 'what has no value is not sent');
      t.is(refusedOf(receiver), 0);
    });

test('a broadcast in version 5 sets all displays of a screen, or of all screens', async (t) => {
  const port = await freeUdpPort();
  const hub = await start(t, { listen: port, displays: { ...cams, other: { index: 1, screen: 4 } } });
  const { send } = await startUdp(t);
  send(packet(5, '0/65535 "all" lh=red'), port);
  await has(hub, 'cam/3/text', 'all');
  t.is(value(hub, 'cam/1/lh'), 1);
  t.is(value(hub, 'other/text'), undefined);
  send(packet(5, '65535/1 "ones"'), port);
  await has(hub, 'other/text', 'ones');
  t.deepEqual([value(hub, 'cam/1/text'), value(hub, 'cam/2/text')], ['ones', 'all']);
});

test('a burst is paced, and merged to the newest value of each display', async (t) => {
  const { port, received } = await startUdp(t);
  const hub = await start(t, { version: 3.1, udp: place(port), spacing: 50, refresh: false });
  const startedMs = performance.now();
  for (let count = 1; count <= 200; count++)
    for (const cam of [1, 2, 3]) hub.write(`it/cam/${cam}/text`, `${count}`, writer);
  await eventually(() => received.filter((text) => text.includes('"200"')).length === 3, `the newest, got ${received}`);
  t.true(received.length <= 5, `${received}`);
  t.true(performance.now() - startedMs >= (received.length - 1) * 45);
});

test('displays are sent again, and a display that comes back over UDP gets everything', async (t) => {
  let display = await startUdp(t);
  const { port } = display;
  const hub = await start(t, { udp: place(port), refresh: 100 });
  hub.write('it/cam/1/text', 'again', writer);
  await eventually(() => display.received.length >= 4, 'four packets');
  t.deepEqual([...new Set(display.received)], ['1 "again" brightness=3']);
  display.close();
  await eventually(() => statusOf(hub, 'it').state === 'degraded', 'a refused packet');
  t.regex(statusOf(hub, 'it').reason, /^127\.0\.0\.1:\d+: .*ECONNREFUSED/);
  hub.write('it/cam/2/text', 'meanwhile', writer);
  display = await startUdp(t, port);
  await isRunning(hub);
  await eventually(() => display.received.some((text) => text.includes('meanwhile')), 'the newest values');
});

/** socat, which keeps what it receives over TCP. */
function startSink(t: ExecutionContext, port: number): { child: ChildProcess; received: () => Buffer } {
  const child = spawn('socat', ['-u', `TCP-LISTEN:${port},bind=127.0.0.1,reuseaddr`, 'STDOUT'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const chunks: Buffer[] = [];
  child.stdout!.on('data', (bytes: Buffer) => chunks.push(bytes));
  return { child, received: () => Buffer.concat(chunks) };
}

const textsIn = (bytes: Buffer) =>
  framingOf(5, 'dle')
    .createFramer(() => {})
    .push(bytes)
    .flatMap((one) => {
      const decoded = decodePacket(one);
      return typeof decoded === 'string' ? [] : decoded.displays.map(({ values }) => values.text);
    });

test('a display that is killed gets the newest values when it is back, and its neighbour has noticed nothing', async (t) => {
  const [port, otherPort] = [await freePort(), await freePort()];
  let sink = startSink(t, port);
  const other = startSink(t, otherPort);
  const hub = await startTestHub(t, {
    connections: { it: { type: 'tsl-umd', tcp: [place(port), place(otherPort)], displays: cams } },
  });
  await isRunning(hub);
  hub.write('it/cam/1/text', 'first', writer);
  await eventually(() => textsIn(sink.received()).includes('first'), 'the first text');
  sink.child.kill('SIGKILL');
  await eventually(() => statusOf(hub, 'it').state === 'degraded', 'a missing display');
  t.regex(statusOf(hub, 'it').reason, new RegExp(`^${place(port)}: `));
  hub.write('it/cam/1/text', 'second', writer);
  hub.write('it/cam/2/text', 'third', writer);
  await eventually(() => textsIn(other.received()).includes('third'), 'the neighbour');
  sink = startSink(t, port);
  await isRunning(hub);
  await eventually(() => textsIn(sink.received()).length >= 2, 'the newest values');
  t.deepEqual(textsIn(sink.received()).slice(0, 2), ['second', 'third'], 'what was shown before the break is not sent');
});

test('a display that is stopped takes little memory, and gets the newest values when it goes on', async (t) => {
  const port = await freePort();
  const sockets: Socket[] = [];
  const server = createServer({ pauseOnConnect: true }, (socket) => sockets.push(socket.on('error', () => {})));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const displays = { 'cam/{n:1..1000}': { index: '{n}' } };
  const hub = await start(t, { tcp: place(port), displays, spacing: 0, refresh: false });
  const long = 'x'.repeat(500);
  for (let round = 0; round < 20; round++) {
    hub.turn(() => {
      for (let cam = 1; cam <= 1000; cam++) hub.write(`it/cam/${cam}/text`, `${round} ${long}`, writer);
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  t.is(statusOf(hub, 'it').state, 'running');
  const chunks: Buffer[] = [];
  sockets[0]!.on('data', (bytes) => chunks.push(bytes));
  sockets[0]!.resume();
  const newest = () => new Set(textsIn(Buffer.concat(chunks)).filter((text) => String(text).startsWith('19 ')));
  await eventually(
    () => textsIn(Buffer.concat(chunks)).filter((text) => text === `19 ${long}`).length >= 1000,
    'the newest',
  );
  t.is(newest().size, 1);
});

test('values are stale when the controller is silent, and fresh with its next packet', async (t) => {
  const port = await freeUdpPort();
  const hub = await startTestHub(t, {
    connections: { it: { type: 'tsl-umd', listen: port, idleTimeout: 300, onLoss: { hold: 300 }, displays: cams } },
  });
  const { send } = await startUdp(t);
  await eventually(() => {
    send(packet(5, '1 "CAM" lh=red'), port);
    return value(hub, 'cam/1/lh') === 1;
  }, 'a display');
  await eventually(() => hub.find('it/cam/1/lh')!.device?.staleSince !== undefined, 'stale values');
  send(Buffer.from('garbage'), port);
  await has(hub, 'cam/1/lh', undefined);
  t.regex(statusOf(hub, 'it').reason, /has (?:been silent|sent none of the expected messages) for/);
  await eventually(() => {
    send(packet(5, '1 "CAM" lh=green'), port);
    return value(hub, 'cam/1/lh') === 2;
  }, 'a display that is fresh');
  await isRunning(hub);
});

test('garbage, other versions, strangers and floods are refused and counted; the next packet is read', async (t) => {
  const port = await freeUdpPort();
  const hub = await start(t, { listen: port, packetsPerSecond: 100 });
  const { send } = await startUdp(t);
  send(Buffer.from('garbage'), port);
  send(packet(3.1, '1 "old" tally=1'), port);
  await eventually(() => refusedOf(hub) === 2, 'two refused packets');
  for (let count = 0; count < 300; count++) send(packet(5, `2 "${count}"`), port);
  await eventually(() => refusedOf(hub) >= 100, 'the flood');
  await eventually(() => {
    send(packet(5, '1 "good"'), port);
    return value(hub, 'cam/1/text') === 'good';
  }, 'the next packet');
  t.is(value(hub, 'cam/1/lh'), 0);
});

test('a sender that may not send is refused', async (t) => {
  const port = await freeUdpPort();
  const hub = await start(t, { listen: port, allowFrom: ['10.0.0.0/8'] });
  const { send } = await startUdp(t);
  send(packet(5, '1 "stranger"'), port);
  await eventually(() => refusedOf(hub) === 1, 'a refused sender');
  t.is(value(hub, 'cam/1/text'), undefined);
});

test('over TCP, garbage costs its sender nothing but the packet, and clients send side by side', async (t) => {
  const port = await freePort();
  const hub = await start(t, { tcpListen: port });
  const [one, other] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')].map((socket) =>
    socket.on('error', () => {}),
  );
  t.teardown(() => [one, other].forEach((socket) => void socket!.destroy()));
  const { wrap } = framingOf(5, 'dle');
  const framed = Buffer.from(wrap(packet(5, '1 "one" rh=red')));
  one!.write(Buffer.concat([Buffer.from('noise'), Buffer.from('fe02ffff', 'hex'), framed.subarray(0, 7)]));
  other!.write(wrap(packet(5, '2 "other"')));
  await has(hub, 'cam/2/text', 'other');
  one!.write(framed.subarray(7));
  await has(hub, 'cam/1/text', 'one');
  t.true(refusedOf(hub) >= 2);
});

test('ten thousand changes of four thousand displays arrive', async (t) => {
  const port = await freePort();
  const displays = { [`d/{n:1..${maxDisplays}}`]: { index: '{n}' } };
  const receiver = await start(t, { tcpListen: port, displays });
  const sender = await start(t, { tcp: place(port), displays, spacing: 0, refresh: false });
  for (let round = 1; round <= 3; round++)
    sender.turn(() => {
      for (let n = 1; n <= maxDisplays; n++) sender.write(`it/d/${n}/text`, `${round}-${n}`, writer);
    });
  await eventually(() => {
    for (let n = 1; n <= maxDisplays; n++) if (value(receiver, `d/${n}/text`) !== `3-${n}`) return false;
    return true;
  }, 'all displays');
  t.is(refusedOf(receiver), 0);
});
