// A hub that speaks OSC with others: liblo's oscsend and oscdump, osc-min, socat, and sockets that send what they should not.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { framingOf } from '../../../lib/connections/osc/framing.ts';
import { encodeBundle, readPacket, showPacket } from '../../../lib/connections/osc/packet.ts';
import type { Hub } from '../../../lib/index.ts';
import { eventually } from '../../support/deadline.ts';
import { api, startTestHub, statusOf, writer } from '../../support/hub.ts';
import { needs } from '../../support/programs.ts';
import { freePort } from '../../support/system/port.ts';
import { fromBuffer, toBuffer } from './osc-min.ts';

needs('liblo-tools', 'socat');

const run = promisify(execFile);
const place = (port: number) => `127.0.0.1:${port}`;
const faders = { 'ch/{n:1..4}/fader': { address: '/ch/{n:00}/mix/fader', type: 'F', min: 0, max: 1 } };
const value = (hub: Hub, id: string) => hub.find(`it/${id}`)?.value;
const has = (hub: Hub, id: string, expected: unknown) =>
  eventually(() => value(hub, id) === expected, `${id} = ${expected}, got ${value(hub, id)}`);
const isRunning = (hub: Hub) => eventually(() => statusOf(hub, 'it').state === 'running', 'a running connection');
const refusedOf = (hub: Hub) => statusOf(hub, 'it').wire?.refused ?? 0;

async function start(t: ExecutionContext, settings: object, more: object = {}) {
  const hub = await startTestHub(t, { connections: { it: { type: 'osc', ...settings }, ...more } });
  await isRunning(hub);
  return hub;
}

/** oscdump at a URL, and the lines that it prints, without their times. */
async function dump(t: ExecutionContext, url: string) {
  const lines: string[] = [];
  const child = spawn('oscdump', ['-L', url], { stdio: ['ignore', 'pipe', 'ignore'] });
  t.teardown(() => child.kill('SIGKILL'));
  createInterface(child.stdout!).on('line', (line) => lines.push(line.replace(/^\S+\s+/, '')));
  const shows = (pattern: RegExp) =>
    eventually(() => lines.some((line) => pattern.test(line)), `${pattern}, got ${lines}`);
  return { child, lines, shows };
}

/** A UDP socket at a free port, with what it receives as text. */
async function startUdp(t: ExecutionContext, answer?: (text: string) => string | undefined) {
  const socket = createSocket('udp4');
  const received: string[] = [];
  socket.on('message', (bytes, { port }) => {
    const text = showPacket(bytes);
    received.push(text);
    const answered = answer?.(text);
    if (answered !== undefined) socket.send(readPacket(answered), port, '127.0.0.1');
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.teardown(() => socket.close());
  const send = (bytes: Buffer | string, port: number) =>
    socket.send(typeof bytes === 'string' ? readPacket(bytes) : bytes, port, '127.0.0.1');
  return { port: socket.address().port, received, send };
}

async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(resolve));
  return port;
}

async function connectTo(t: ExecutionContext, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  await once(socket, 'connect');
  t.teardown(() => socket.destroy());
  return socket;
}

test('liblo sends over UDP: every type of argument, several of them, and patterns', async (t) => {
  const port = await freeUdpPort();
  const hub = await start(t, {
    listen: port,
    parameters: {
      ...faders,
      name: { address: '/name', type: 'S' },
      count: { address: '/count', type: 'I', args: 'h' },
      on: { address: '/on', args: 'T' },
      go: { address: '/go' },
      pos: { address: '/pos', args: ['x:f', 'y:d', 'note:m'] },
      second: { address: '/pos', arg: 1 },
    },
  });
  const send = (...args: string[]) => run('oscsend', ['127.0.0.1', String(port), ...args]);
  await send('/ch/01/mix/fader', 'f', '0.7');
  await send('/ch/0[2-3]/mix/fad??', 'f', '0.25');
  await send('/name', 's', 'Grüße');
  await send('/count', 'h', '5000000000');
  await send('/on', 'T');
  await send('/go');
  await send('/pos', 'fdm', '1.5', '-2.25', '00903c7f');
  await has(hub, 'pos/note', '00903c7f');
  t.is(value(hub, 'ch/1/fader'), 0.7);
  t.deepEqual(
    [2, 3, 4].map((n) => value(hub, `ch/${n}/fader`)),
    [0.25, 0.25, undefined],
  );
  t.is(value(hub, 'name'), 'Grüße');
  t.is(value(hub, 'count'), 5_000_000_000);
  t.true(value(hub, 'on'));
  t.is(hub.find('it/go')!.lastChange?.value, 1);
  t.is(value(hub, 'pos/x'), 1.5);
  t.is(value(hub, 'second'), -2.25);
});

test('liblo receives over UDP: each type of argument, parts of a message together, and a turn as a bundle', async (t) => {
  const port = await freeUdpPort();
  const { shows, lines } = await dump(t, `osc.udp://:${port}`);
  const hub = await start(t, {
    udp: place(port),
    bundles: true,
    parameters: {
      ...faders,
      name: { address: '/name', type: 'S' },
      on: { address: '/on', type: 'B' },
      mute: { address: '/mute', args: 'T' },
      pos: { address: '/pos', args: [7, 'x:f', { s: 'to' }, 'y:d'] },
      'cue/{n:1..3}/start': { address: '/cue/{n}/start' },
    },
  });
  await eventually(async () => {
    hub.write('it/name', 'hello', writer);
    return lines.length > 0;
  }, 'oscdump to listen');
  t.regex(lines[0]!, /^\/name s "hello"$/);
  hub.turn(() => {
    hub.write('it/ch/1/fader', 0.5, writer);
    hub.write('it/on', true, writer);
    hub.write('it/mute', false, writer);
    hub.write('it/pos/x', 1.5, writer);
    hub.write('it/pos/y', 2, writer);
    hub.write('it/cue/2/start', 1, writer);
  });
  await shows(/^\/cue\/2\/start/);
  t.true(
    lines.some((line) => /^\/ch\/01\/mix\/fader f 0\.5/.test(line)),
    lines.join('\n'),
  );
  t.true(lines.some((line) => /^\/on i 1$/.test(line)));
  t.true(lines.some((line) => /^\/mute F/.test(line)));
  t.is(lines.filter((line) => /^\/pos ifsd 7 1\.5\d* "to" 2/.test(line)).length, 1);
  t.throws(() => hub.write('it/ch/1/fader', 1.5, writer), { message: /expected a number from 0 to 1, got 1.5/ });
});

for (const framing of ['length', 'slip'] as const)
  test(`liblo receives over TCP with ${framing}, is killed, and is found again`, async (t) => {
    const port = await freePort();
    const url = `osc.tcp://:${port}`;
    let peer = await dump(t, url);
    const hub = await startTestHub(t, {
      connections: { it: { type: 'osc', tcp: place(port), framing, parameters: faders } },
    });
    await isRunning(hub);
    hub.write('it/ch/1/fader', 0.25, writer);
    await peer.shows(/^\/ch\/01\/mix\/fader f 0\.25/);
    peer.child.kill('SIGKILL');
    await eventually(() => statusOf(hub, 'it').state === 'degraded', 'a connection without its peer');
    t.true(hub.find('it/ch/1/fader')!.device?.staleSince !== undefined);
    t.throws(() => hub.write('it/ch/1/fader', 1, writer), { code: 'unavailable' });
    peer = await dump(t, url);
    await isRunning(hub);
    t.is(value(hub, 'ch/1/fader'), 0.25);
    hub.write('it/ch/2/fader', 0.75, writer);
    await peer.shows(/^\/ch\/02\/mix\/fader f 0\.75/);
    t.deepEqual(
      peer.lines.filter((line) => line.includes('/ch/01')),
      [],
      'nothing is sent again',
    );
  });

test('liblo connects over TCP, and clients are sent what others change', async (t) => {
  const port = await freePort();
  const settings = {
    tcpListen: port,
    framing: 'length',
    feedback: 'others',
    parameters: { ...faders, go: { address: '/go' } },
  };
  const hub = await start(t, settings);
  const other = await connectTo(t, port);
  const received: Buffer[] = [];
  other.on('data', (bytes) => received.push(bytes));
  await run('oscsend', [`osc.tcp://127.0.0.1:${port}`, '/ch/03/mix/fader', 'f', '0.5']);
  await has(hub, 'ch/3/fader', 0.5);
  const expected = framingOf('length').wrap(readPacket('/ch/03/mix/fader f 0.5'));
  await eventually(() => Buffer.concat(received).equals(expected), 'the value at the other client');
  hub.write('it/ch/1/fader', 0.125, writer);
  const both = Buffer.concat([expected, framingOf('length').wrap(readPacket('/ch/01/mix/fader f 0.125'))]);
  await eventually(() => Buffer.concat(received).equals(both), 'a write at the other client');
  other.write(framingOf('length').wrap(readPacket('/ch/01/mix/fader')));
  await eventually(() => Buffer.concat(received).length > both.length, 'the answer to a question');
  t.deepEqual(
    Buffer.concat(received).subarray(both.length),
    framingOf('length').wrap(readPacket('/ch/01/mix/fader f 0.125')),
  );
});

test('bundles of osc-min are one turn, immediately or at their time', async (t) => {
  const port = await freeUdpPort();
  const flow = {
    connections: {
      it: {
        type: 'osc',
        listen: port,
        parameters: { a: { address: '/a', type: 'I' }, b: { address: '/b', type: 'I' } },
      },
      desk: { type: 'dummy', parameters: ['sum,I', 'runs,I,0'] },
    },
    rules: [{ name: 'sum', from: { a: 'it/a', b: 'it/b' }, map: 'a + b', to: 'desk/sum' }],
  };
  const hub = await startTestHub(t, flow);
  await isRunning(hub);
  const sums: unknown[] = [];
  hub.changes$.subscribe({
    next: ({ parameter, value: sum }) => {
      if (parameter.address === 'desk/sum') sums.push(sum);
    },
  });
  const { send } = await startUdp(t);
  const bundle = (a: number, b: number, at: Date | [number, number]) => {
    const bytes = toBuffer({
      timetag: at,
      elements: [
        { address: '/a', args: [{ type: 'integer', value: a }] },
        { address: '/b', args: [{ type: 'integer', value: b }] },
      ],
    });
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
  const soonMs = Date.now() + 400;
  send(bundle(100, 200, new Date(soonMs)), port);
  send(bundle(1, 2, [0, 1]), port);
  send(bundle(10, 20, new Date(Date.now() - 5000)), port);
  await eventually(() => hub.find('desk/sum')!.value === 300, `the bundle of later, got ${sums}`);
  t.deepEqual(sums, [3, 30, 300]);
  t.true(hub.find('it/a')!.lastChange!.time >= soonMs - 2, 'not before its time');
  const { oscType } = fromBuffer(encodeBundle(0, [readPacket('/a i 1')]));
  t.is(oscType, 'bundle');
});

test('a desk confirms: by its report, by an answer, or not at all', async (t) => {
  let level = 0.5;
  const desk = await startUdp(t, (text) => {
    if (text.startsWith('/main f ')) level = Math.min(Number(text.slice(8)), 0.8);
    return text === '/main' ? `/main f ${level}` : text.startsWith('/bus f ') ? text : undefined;
  });
  const hub = await start(t, {
    udp: place(desk.port),
    confirm: 'ask',
    queries: [{ send: '/xremote', every: 50 }],
    parameters: {
      main: { address: '/main', type: 'F', ask: true },
      bus: { address: '/bus', type: 'F', confirm: 'echo' },
      deaf: { address: '/deaf', type: 'F', confirm: 'none' },
    },
  });
  await has(hub, 'main', 0.5);
  await eventually(() => desk.received.filter((text) => text === '/xremote').length >= 3, 'the repeated query');
  hub.write('it/main', 0.7, writer);
  t.is(hub.find('it/main')!.wanted?.value, 0.7);
  t.is(value(hub, 'main'), 0.5);
  await hub.whenConfirmed(hub.find('it/main')!, 30_000);
  t.is(value(hub, 'main'), 0.7);
  t.is(hub.find('it/main')!.lastChange!.cause!.origin.name, 'spec');
  hub.write('it/bus', 0.1, writer);
  await hub.whenConfirmed(hub.find('it/bus')!, 30_000);
  t.is(value(hub, 'bus'), 0.1);
  hub.write('it/deaf', 0.3, writer);
  t.is(value(hub, 'deaf'), 0.3);
  hub.write('it/main', 0.9, writer);
  await has(hub, 'main', 0.8);
  t.is(hub.find('it/main')!.wanted?.value, 0.9, 'the desk has set another value');
});

/** socat, which sends back what it is sent. */
async function startEcho(t: ExecutionContext, port: number): Promise<ChildProcess> {
  const child = spawn('socat', [`TCP-LISTEN:${port},bind=127.0.0.1,reuseaddr`, 'PIPE'], { stdio: 'ignore' });
  t.teardown(() => child.kill('SIGKILL'));
  return child;
}

test('a peer that is stopped leaves a half-open link: its values are stale within the idle timeout', async (t) => {
  const port = await freePort();
  const peer = await startEcho(t, port);
  const queries = [{ send: '/ch/01/mix/fader f 0.5', every: 50 }];
  const hub = await start(t, { tcp: place(port), idleTimeout: 500, queries, parameters: faders });
  await has(hub, 'ch/1/fader', 0.5);
  peer.kill('SIGSTOP');
  await eventually(() => hub.find('it/ch/1/fader')!.device?.staleSince !== undefined, 'stale values');
  t.regex(statusOf(hub, 'it').reason, /has been silent for \d(?:\.\d)? s/);
  t.is(value(hub, 'ch/1/fader'), 0.5);
  peer.kill('SIGKILL');
  await once(peer, 'exit');
  await startEcho(t, port);
  await isRunning(hub);
  t.is(hub.find('it/ch/1/fader')!.device?.staleSince, undefined);
});

test('a UDP peer that says nothing is away, and is back with its first packet', async (t) => {
  let isSilent = false;
  const desk = await startUdp(t, () => (isSilent ? undefined : '/ch/01/mix/fader f 0.5'));
  const queries = [{ send: '/xremote', every: 50 }];
  const hub = await start(t, {
    udp: place(desk.port),
    idleTimeout: 400,
    queries,
    onLoss: 'unknown',
    parameters: faders,
  });
  await has(hub, 'ch/1/fader', 0.5);
  isSilent = true;
  await has(hub, 'ch/1/fader', undefined);
  t.is(statusOf(hub, 'it').state, 'degraded');
  isSilent = false;
  await has(hub, 'ch/1/fader', 0.5);
});

test('senders read and write the parameters that the lists name, and no others', async (t) => {
  const port = await freeUdpPort();
  const desk = {
    type: 'dummy',
    parameters: ['level/1,F,0.25', 'level/2,F,0.5', 'name a,S,hall', 'secret,S,word', 'go,T', 'big,I,5000000000'],
  };
  const tree = { read: ['desk/level/*', 'desk/name*', 'desk/big'], write: ['desk/level/1', 'desk/go'], prefix: '/hub' };
  const hub = await start(t, { listen: port, tree }, { desk });
  const { send, received } = await startUdp(t);
  const answers = async (sent: string, ...expected: string[]) => {
    received.length = 0;
    send(sent, port);
    await eventually(() => received.length >= expected.length, `${expected}, got ${received}`);
    t.deepEqual(received, expected, sent);
  };
  await answers('/hub/desk/level/1', '/hub/desk/level/1 f 0.25');
  await answers('/hub/desk/name%20a', '/hub/desk/name%20a s "hall"');
  await answers('/hub/desk/big', '/hub/desk/big h 5000000000');
  send('/hub/desk/level/1 f 0.75', port);
  await answers('/hub//level/{1,2}', '/hub/desk/level/1 f 0.75', '/hub/desk/level/2 f 0.5');
  t.regex(hub.find('desk/level/1')!.lastChange!.origin.name, /^it 127\.0\.0\.1:\d+$/);
  send('/hub/desk/go', port);
  send('/hub/desk/level/2 f 1', port);
  send('/hub/desk/secret s "other"', port);
  send('/hub/desk/secret', port);
  send('/hub/desk/*', port);
  await answers(
    '/hub/desk/level/2',
    '/hub/desk/name%20a s "hall"',
    '/hub/desk/big h 5000000000',
    '/hub/desk/level/2 f 0.5',
  );
  t.is(hub.find('desk/secret')!.value, 'word');
  t.is(hub.find('desk/go')!.lastChange?.value, 1);
  t.is(refusedOf(hub), 1, 'the write to what may only be read');
});

test('without the setting tree nobody reaches the hub', async (t) => {
  const port = await freeUdpPort();
  const hub = await start(
    t,
    { listen: port, parameters: faders },
    { desk: { type: 'dummy', parameters: ['level,F,0.25'] } },
  );
  const { send, received } = await startUdp(t);
  send('/desk/level f 1', port);
  send('/desk/level', port);
  send('/ch/01/mix/fader f 1', port);
  await has(hub, 'ch/1/fader', 1);
  t.is(hub.find('desk/level')!.value, 0.25);
  t.deepEqual(received, []);
});

test('malformed packets are refused, counted and shown, and the next one is taken', async (t) => {
  const port = await freeUdpPort();
  const hub = await startTestHub(t, { connections: { api, it: { type: 'osc', listen: port, parameters: faders } } });
  await isRunning(hub);
  const { send } = await startUdp(t);
  send(Buffer.from('2f6100002c780000', 'hex'), port);
  send(Buffer.from('GET / HTTP/1.1'), port);
  send('/ch/01/mix/fader s "loud"', port);
  send('/ch/0[1/mix/fader f 1', port);
  send('/ch/01/mix/fader f 0.5', port);
  await has(hub, 'ch/1/fader', 0.5);
  t.is(refusedOf(hub), 4);
  const read = async (path: string) => (await fetch(`http://127.0.0.1:${hub.port}${path}`)).text();
  const frames = JSON.parse(await read('/hub/wire/it')) as { text: string; fault?: string }[];
  t.deepEqual(
    frames.map(({ fault }) => fault),
    [
      'expected arguments that match known type tags',
      'expected a length that is a multiple of 4',
      undefined,
      '/ch/01/mix/fader: expected a value of type F',
      undefined,
      'expected a ] after a [',
      undefined,
    ],
  );
  t.is(frames.at(-1)!.text, '/ch/01/mix/fader f 0.5');
  t.true((await read('/hub/metrics')).includes('patchbay_device_refused_total{id="it"} 4\n'));
  t.true(hub.lines.some(({ message }) => message === 'rejected a packet: expected a length that is a multiple of 4'));
});

test('each bound of a connection holds: messages a second, times ahead, bundles that wait, senders, streams', async (t) => {
  const port = await freeUdpPort();
  const hub = await start(t, { listen: port, messagesPerSecond: 20, allowFrom: ['127.0.0.0/8'], parameters: faders });
  const { send } = await startUdp(t);
  for (let count = 0; count < 50; count++) send('/ch/01/mix/fader f 0.5', port);
  await eventually(() => refusedOf(hub) >= 10, 'refused messages');
  const tcp = await freePort();
  const streams = await startTestHub(t, {
    connections: {
      it: { type: 'osc', tcpListen: tcp, parameters: faders },
      long: { type: 'osc', tcpListen: await freePort(), framing: 'length', parameters: faders },
    },
  });
  await isRunning(streams);
  const slip = await connectTo(t, tcp);
  slip.write(Buffer.concat([Buffer.alloc(70_000, 1), framingOf('slip').wrap(readPacket('/ch/02/mix/fader f 0.5'))]));
  slip.write(Buffer.from([0xc0, 0xdb, 1, 0xc0]));
  for (const byte of framingOf('slip').wrap(readPacket('#bundle 2999-01-01T00:00:00Z { /ch/01/mix/fader f 1 }')))
    slip.write(Buffer.from([byte]));
  slip.write(framingOf('slip').wrap(readPacket('/ch/04/mix/fader f 0.25')));
  await has(streams, 'ch/4/fader', 0.25);
  t.is(value(streams, 'ch/2/fader'), 0.5);
  t.is(refusedOf(streams), 3);
  const later = `#bundle ${new Date(Date.now() + 60_000).toISOString()} { /ch/01/mix/fader f 1 }`;
  for (let count = 0; count < 1030; count++) slip.write(framingOf('slip').wrap(readPacket(later)));
  slip.write(framingOf('slip').wrap(readPacket('/ch/04/mix/fader f 1')));
  await has(streams, 'ch/4/fader', 1);
  t.is(refusedOf(streams), 3 + 6);
});

test('a length that cannot be ends that client alone', async (t) => {
  const port = await freePort();
  const hub = await start(t, { tcpListen: port, framing: 'length', parameters: faders });
  const good = await connectTo(t, port);
  const bad = await connectTo(t, port);
  bad.write(Buffer.from('ffffffff00000000', 'hex'));
  await once(bad, 'close');
  good.write(framingOf('length').wrap(readPacket('/ch/01/mix/fader f 0.5')));
  await has(hub, 'ch/1/fader', 0.5);
  t.is(refusedOf(hub), 1);
});

test('a sender that may not send is refused', async (t) => {
  const port = await freeUdpPort();
  const hub = await start(t, { listen: port, allowFrom: ['10.0.0.0/8'], parameters: faders });
  const { send } = await startUdp(t);
  send('/ch/01/mix/fader f 1', port);
  await eventually(() => refusedOf(hub) === 1, 'a refused sender');
  t.is(value(hub, 'ch/1/fader'), undefined);
});

test('with simulate there is no peer, and a write is confirmed immediately', async (t) => {
  const hub = await start(t, { udp: '10.255.255.1:9', confirm: 'echo', simulate: true, parameters: faders });
  hub.write('it/ch/1/fader', 0.5, writer);
  t.is(value(hub, 'ch/1/fader'), 0.5);
  t.is(hub.find('it/ch/1/fader')!.wanted, undefined);
});

test('IPv6 is as good as IPv4, over UDP and TCP', async (t) => {
  const port = await freePort();
  const hub = await start(t, { tcpListen: `[::1]:${port}`, framing: 'length', parameters: faders });
  const client = connect(port, '::1').on('error', () => {});
  t.teardown(() => client.destroy());
  client.write(framingOf('length').wrap(readPacket('/ch/01/mix/fader f 0.5')));
  await has(hub, 'ch/1/fader', 0.5);

  const socket = createSocket('udp6');
  socket.bind(0, '::1');
  await once(socket, 'listening');
  t.teardown(() => socket.close());
  const other = await start(t, { udp: `[::1]:${socket.address().port}`, parameters: faders });
  other.write('it/ch/2/fader', 0.25, writer);
  const [bytes, from] = (await once(socket, 'message')) as [Buffer, { port: number }];
  t.is(showPacket(bytes), '/ch/02/mix/fader f 0.25');
  socket.send(toBuffer({ address: '/ch/03/mix/fader', args: [{ type: 'float', value: 0.75 }] }), from.port, '::1');
  await has(other, 'ch/3/fader', 0.75);
});

test('further hosts are tried in turn when the one in tcp does not answer', async (t) => {
  const [none, port] = [await freePort(), await freePort()];
  const child = spawn('socat', [`TCP-LISTEN:${port},bind=127.0.0.1,reuseaddr,fork`, 'EXEC:cat']);
  t.teardown(() => child.kill('SIGKILL'));
  const hub = await start(t, {
    tcp: place(none),
    hosts: [place(port)],
    framing: 'length',
    confirm: 'echo',
    parameters: faders,
  });
  hub.write('it/ch/1/fader', 0.5, writer);
  await has(hub, 'ch/1/fader', 0.5);
  t.is(hub.find('it/ch/1/fader')!.wanted, undefined);
});
