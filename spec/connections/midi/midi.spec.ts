// A hub and a MIDI server that others have written, sndiod: all messages in both directions, motor faders, and everything that can happen to
// a device. Ports of the system need ALSA; where there is none, the hub says so.

import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Hub } from '../../../lib/index.ts';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { startTestHub, statusOf, writer } from '../../support/hub.ts';
import { needs } from '../../support/programs.ts';
import { startSndio } from './peers.ts';

needs('sndio');

const find = (hub: Hub, id: string) => hub.find(`desk/${id}`);
const value = (hub: Hub, id: string) => find(hub, id)?.value;
const has = (hub: Hub, id: string, expected: unknown) =>
  eventually(() => value(hub, id) === expected, `${id} = ${expected}`);
const isRunning = (hub: Hub) => eventually(() => statusOf(hub, 'desk').state === 'running', 'a running connection');
const reasonOf = (hub: Hub) => statusOf(hub, 'desk').reason ?? '';
const isStale = (hub: Hub, id: string) => find(hub, id)?.device?.staleSince !== undefined;
const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

const parameters = {
  'key/{n:1..4}': { note: 60 },
  velocity: { note: 70, as: 'value' },
  play: { note: 94, as: 'trigger' },
  knob: { control: 7 },
  fine: { control: 1, bits: 14 },
  level: { control: 8, range: [-60, 0] },
  nrpn: { nrpn: 1234, channel: 2 },
  rpn: { rpn: 0, bits: 7 },
  'bend/{n:1..2}': { bend: true },
  program: { program: true, channel: 10 },
  pressure: { pressure: true, channel: 3 },
  touch: { keyPressure: 60 },
  stop: { sysex: 'F0 7F ?? 06 01 F7' },
  all: { sysex: true },
  start: { realTime: 'start' },
} as const;

async function start(t: ExecutionContext, settings: object) {
  return startTestHub(t, { connections: { desk: { type: 'midi', ...settings } } });
}

test('messages of all kinds become values, with running status and real-time bytes within others', async (t) => {
  const server = await startSndio(t);
  const hub = await start(t, { path: server.path, parameters });
  await isRunning(hub);
  const fired: string[] = [];
  const following = hub.changes$.subscribe(({ parameter }) => fired.push(parameter.address));
  t.teardown(() => following.unsubscribe());
  await server.send(
    hex(
      [
        ...['90 3c 7f 3d 01 3e 7f 3e 00', '90 46 21', '90 5e 7f 5e 00 5e 7f', 'b0 07 64 01 40 21 0f 08 7f'],
        ...['b1 63 09 62 52 06 20 26 01', 'b0 65 00 64 00 06 0c', 'e0 00 40', 'e1 7f 7f', 'c9 05', 'd2 33', 'a0 3c 22'],
        ...['f0 7f 01 06 f8 01 f7', 'fa', 'fe', 'f0 7d 01 02 f7'],
      ].join(' '),
    ),
  );
  const expected = {
    ...{ 'key/1': true, 'key/2': true, 'key/3': false, velocity: 33, knob: 100, fine: 8207, level: 0, nrpn: 4097 },
    ...{ 'bend/1': 8192, 'bend/2': 16_383, program: 5, pressure: 51, touch: 34, all: 'F07D0102F7' },
  };
  await has(hub, 'all', expected.all);
  for (const [id, one] of Object.entries(expected)) t.is(value(hub, id), one, id);
  t.is(value(hub, 'rpn'), 12);
  t.deepEqual(
    ['play', 'stop', 'start'].map((id) => fired.filter((one) => one === `desk/${id}`).length),
    [2, 1, 1],
  );
  t.like(find(hub, 'level'), { type: 'F', about: { min: -60, max: 0 } });
  t.like(find(hub, 'fine'), { type: 'I', about: { min: 0, max: 16_383, step: 1 } });
});

const outs = Object.fromEntries(
  Object.entries(parameters)
    .filter(([id]) => id !== 'stop')
    .map(([id, one]) => [id, { ...one, direction: 'out' }]),
);

test('values are sent as the MIDI server understands them, and what is out of range never leaves', async (t) => {
  const server = await startSndio(t);
  const hub = await start(t, {
    path: server.path,
    parameters: { ...outs, stop: { sysex: 'F0 7F 01 06 01 F7', direction: 'out' } },
  });
  await isRunning(hub);
  const writes: readonly (readonly [string, unknown, string])[] = [
    ['key/1', true, '90 3c 7f'],
    ['key/1', false, '90 3c 00'],
    ['velocity', 33, '90 46 21'],
    ['play', true, '90 5e 7f'],
    ['knob', 100, 'b0 07 64'],
    ['fine', 8207, 'b0 01 40 b0 21 0f'],
    ['level', -30, 'b0 08 40'],
    ['nrpn', 4097, 'b1 63 09 b1 62 52 b1 06 20 b1 26 01'],
    ['bend/2', 16_383, 'e1 7f 7f'],
    ['program', 5, 'c9 05'],
    ['pressure', 51, 'd2 33'],
    ['touch', 34, 'a0 3c 22'],
    ['all', 'f0 7d 01 02 f7', 'f0 7d 01 02 f7'],
    ['stop', true, 'f0 7f 01 06 01 f7'],
    ['start', true, 'fa'],
  ];
  let expected = '';
  for (const [id, one, bytes] of writes) {
    hub.write(`desk/${id}`, one, writer);
    expected += bytes.replaceAll(' ', '');
    await eventually(() => server.received().toString('hex') === expected, `${expected} after ${id}`);
  }
  t.throws(() => hub.write('desk/knob', 128, writer), { code: 'out-of-range' });
  t.throws(() => hub.write('desk/level', 0.1, writer), { code: 'out-of-range' });
  t.throws(() => hub.write('desk/all', 'f0 90 f7', writer), { code: 'not-convertible' });
  hub.write('desk/knob', 100, writer); // it has it already
  hub.write('desk/knob', 101, writer);
  await eventually(() => server.received().toString('hex') === `${expected}b00765`, 'one message');
});

/** A device over TCP, whose fader the spec moves. */
async function startFader(t: ExecutionContext) {
  const sockets = new Set<Socket>();
  let received = '';
  const server = createServer((socket) => {
    sockets.add(socket.setNoDelay(true).on('error', () => {}));
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (bytes) => {
      received += bytes.toString('hex');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  t.teardown(() => {
    cut();
    server.close();
  });
  return {
    tcp: `127.0.0.1:${(server.address() as { port: number }).port}`,
    cut,
    move: (...bytes: readonly string[]) => {
      for (const socket of sockets) socket.write(hex(bytes.join(' ')));
    },
    received: () => received,
    links: () => sockets.size,
  };
}

test('a motor fader is not fought: no echo, nothing while a hand is at it, and then the newest value', async (t) => {
  const fader = await startFader(t);
  const settings = { fader: { bend: true, direction: 'both', touch: 104 } };
  const hub = await start(t, { tcp: fader.tcp, hold: 200, parameters: settings });
  await isRunning(hub);
  hub.write('desk/fader', 1000, writer);
  await eventually(() => fader.received() === 'e06807', 'the motor');
  fader.move('90 68 7f', 'e0 00 10');
  await has(hub, 'fader', 2048);
  hub.write('desk/fader', 2048, writer); // the same value comes back from a rule
  for (const target of [3000, 4000, 5000]) hub.write('desk/fader', target, writer);
  fader.move('e0 01 10');
  await has(hub, 'fader', 2049);
  t.is(fader.received(), 'e06807');
  hub.write('desk/fader', 6000, writer);
  fader.move('90 68 00');
  await eventually(() => fader.received() === 'e06807e0702e', 'the newest value');
  fader.move('e0 00 20'); // without touch, the time since the last movement counts
  await has(hub, 'fader', 4096);
  hub.write('desk/fader', 7000, writer);
  const fromMs = performance.now();
  await eventually(() => fader.received().length === 18, 'the value after the hold');
  t.true(performance.now() - fromMs > 100);
});

test('a fader that reports how its motor moves is not heard meanwhile', async (t) => {
  const fader = await startFader(t);
  const hub = await start(t, {
    tcp: fader.tcp,
    hold: 0,
    quiet: 60_000,
    parameters: { fader: { bend: true, direction: 'both' } },
  });
  await isRunning(hub);
  fader.move('e0 00 01');
  await has(hub, 'fader', 128);
  hub.write('desk/fader', 16_000, writer);
  await eventually(() => fader.received() === 'e0007d', 'the motor');
  fader.move('e0 00 10 e0 00 20', 'b0 07 01');
  await eventually(() => (statusOf(hub, 'desk').wire?.framesIn ?? 0) >= 4, 'the reports');
  t.is(value(hub, 'fader'), 16_000);
});

test('a device that is unplugged makes its values stale, and gets all lamps when it is back', async (t) => {
  const server = await startSndio(t);
  const some = { knob: { control: 7 }, 'lamp/{n:1..40}': { note: 1, direction: 'out' } };
  const hub = await start(t, { path: server.path, connectTimeout: '1m', parameters: some }); // a pipe waits for its other end
  await isRunning(hub);
  await server.send(hex('b0 07 11'));
  await has(hub, 'knob', 17);
  hub.write('desk/lamp/1', true, writer);
  await eventually(() => server.received().toString('hex') === '90017f', 'the first lamp');
  server.unplug();
  await eventually(() => isStale(hub, 'knob'), 'stale values');
  t.regex(reasonOf(hub), /in: unexpected end of file|EPIPE/);
  t.is(value(hub, 'knob'), 17);
  for (let lamp = 2; lamp <= 40; lamp++) hub.write(`desk/lamp/${lamp}`, lamp % 2 === 0, writer);
  const before = server.received().length;
  await server.plug();
  await isRunning(hub);
  await eventually(() => server.received().length === before + 120, 'all lamps');
  t.is(server.received().subarray(before).toString('hex').slice(0, 18), '90017f90027f900300');
  t.false(isStale(hub, 'knob'));
  await server.send(hex('b0 07 12'));
  await has(hub, 'knob', 18);
});

test('a device that reads nothing never blocks the hub, and gets the last value', async (t) => {
  const server = await startSndio(t);
  const hub = await start(t, {
    path: server.path,
    rate: 100_000,
    parameters: { knob: { control: 7 }, lamp: { control: 1, direction: 'out' } },
  });
  await isRunning(hub);
  for (const child of server.devices) child.kill('SIGSTOP');
  for (let turn = 0; turn < 20_000; turn++) hub.write('desk/lamp', turn % 128, writer);
  t.is(value(hub, 'lamp'), 19_999 % 128);
  for (const child of server.devices) child.kill('SIGCONT');
  await server.send(hex('b0 07 11'));
  await has(hub, 'knob', 17);
  await eventually(() => server.received().subarray(-1)[0] === 19_999 % 128, 'the last value');
});

test('the process of a port may be killed, or hang: another one takes over', async (t) => {
  const server = await startSndio(t);
  const hub = await start(t, { path: server.path, connectTimeout: '1m', parameters: { knob: { control: 7 } } });
  await isRunning(hub);
  for (const [signal, reason] of [
    ['SIGKILL', /the port's process ended: SIGKILL$/],
    ['SIGSTOP', /the port's process stopped responding$/],
  ] as const) {
    const pid = portProcess(server.path.in);
    process.kill(pid, signal);
    await eventually(() => isStale(hub, 'knob'), 'stale values');
    t.regex(reasonOf(hub), reason);
    await eventually(() => !existsSync(`/proc/${pid}`), 'a process that is gone');
    server.unplug(); // unlike a device, a pipe ends with its reader
    await server.plug();
    await isRunning(hub);
    const next = signal === 'SIGKILL' ? 1 : 2;
    await server.send(Buffer.of(0xb0, 7, next));
    await has(hub, 'knob', next);
  }
});

test('the process of a port ends with its hub, even while it waits for a device', async (t) => {
  const path = join(await createFolder(t), 'device');
  execFileSync('mkfifo', [path]);
  const program = join(import.meta.dirname, '../../../lib/connections/midi/process/main.ts');
  const child = fork(program, { execArgv: ['--disable-warning=ExperimentalWarning'], serialization: 'advanced' });
  t.teardown(() => child.kill('SIGKILL'));
  await once(child, 'message'); // it is alive
  child.send({ path: { in: path } });
  await once(child, 'message'); // it has taken the task, and waits for the other end of the pipe
  const ended = once(child, 'exit');
  child.disconnect();
  t.is((await ended)[1], 'SIGKILL');
});

/** Returns the process of a port that has a pipe open. */
function portProcess(path: string): number {
  const all = readdirSync('/proc').map(Number);
  return all.find((pid) => {
    try {
      const isPort = pid > 0 && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('midi/process/main');
      return isPort && readdirSync(`/proc/${pid}/fd`).some((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`) === path);
    } catch {
      return false; // it has ended in the meantime
    }
  })!;
}

test('garbage and endless messages are dropped and counted; what follows is heard', async (t) => {
  const fader = await startFader(t);
  const hub = await start(t, { tcp: fader.tcp, parameters: { knob: { control: 7 }, all: { sysex: true } } });
  await isRunning(hub);
  fader.move('00 01 02 7f', 'f0'.concat(' 11'.repeat(20_000)), 'f7', 'f4 f5 f9 fd ff', '80', 'b0 07');
  fader.move('21');
  await has(hub, 'knob', 33);
  t.true((statusOf(hub, 'desk').wire?.refused ?? 0) >= 1);
  t.is(value(hub, 'all'), undefined);
  fader.cut();
  await eventually(() => isStale(hub, 'knob'), 'stale values');
  await eventually(() => fader.links() === 1, 'a new link');
  fader.move('b0 07 22');
  await has(hub, 'knob', 34);
});

test('a flood of messages is followed, and the last value is right', async (t) => {
  const fader = await startFader(t);
  const hub = await start(t, { tcp: fader.tcp, parameters: { knob: { control: 7 }, end: { control: 8 } } });
  await isRunning(hub);
  const some = Array.from({ length: 30_000 }, (_, index) => `b0 07 ${(index % 128).toString(16).padStart(2, '0')}`);
  fader.move(...some, 'b0 08 01');
  await has(hub, 'end', 1);
  t.is(value(hub, 'knob'), 29_999 % 128);
});

test('a machine without ALSA says what to do, and the hub goes on; with it, a missing port is named', async (t) => {
  const hub = await start(t, { port: 'No such controller', parameters: { knob: { control: 7 } } });
  await eventually(() => !['', 'starting'].includes(reasonOf(hub)), 'a reason');
  t.regex(
    reasonOf(hub),
    existsSync('/dev/snd/seq')
      ? /^No such controller: there is no MIDI input "No such controller"; (?:this machine|the available) /
      : /^No such controller: this machine has no ALSA(?: sequencer: load its kernel module with `modprobe snd-seq`, or use `path`, `tcp` or `serial`|: install libasound2)$/,
  );
  t.true(isStale(hub, 'knob'));
});
