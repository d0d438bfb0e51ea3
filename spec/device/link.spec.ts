// The link to a device in virtual time: when it is tried again, with which host, and when silence is its end.

import test from 'ava';
import { VirtualAction, VirtualTimeScheduler } from 'rxjs';
import { DeviceLink, nextPhase } from '../../lib/device/link.ts';
import type { LinkListener, Transport } from '../../lib/device/transport.ts';

/** A transport whose links the test opens and closes. */
function createTransport(name: string, opens: string[], now: () => number) {
  const listeners: LinkListener[] = [];
  const transport: Transport = {
    name,
    keepsFrames: false,
    open(listener) {
      opens.push(`${name} ${Math.round(now() / 100) / 10}`);
      listeners.push(listener);
      return { send() {}, end() {} };
    },
  };
  return { transport, last: () => listeners.at(-1)! };
}

function create(idleTimeoutMs?: number, random = 1) {
  const scheduler = new VirtualTimeScheduler(VirtualAction, Number.POSITIVE_INFINITY);
  const opens: string[] = [];
  const [main, backup] = ['main', 'backup'].map((name) => createTransport(name, opens, () => scheduler.now()));
  const ends: string[] = [];
  let leastMs = 0;
  let isBroken = false;
  const link = new DeviceLink(
    {
      transports: [main!.transport, backup!.transport],
      connectTimeoutMs: 5000,
      idleTimeoutMs,
      scheduler,
      random: () => random,
    },
    {
      opened: () => {},
      received: () => {
        if (isBroken) throw new Error('broken');
      },
      ended: (reason) => {
        ends.push(`${scheduler.now()} ${reason}`);
        return leastMs;
      },
    },
  );
  /** Lets the time pass up to a moment. */
  const until = (ms: number) => {
    scheduler.schedule(() => {}, ms - scheduler.now()); // the clock stands where nothing happens
    scheduler.maxFrames = ms;
    scheduler.flush();
  };
  const breakIt = () => {
    isBroken = true;
  };
  return { link, main: main!, backup: backup!, opens, ends, until, wait: (ms: number) => (leastMs = ms), breakIt };
}

test('an unreachable host is tried again after 1, 2, 4, … 30 s, each host in turn', (t) => {
  const { link, opens, ends, until } = create();
  link.start();
  until(120_000);
  t.deepEqual(opens, ['main 0', 'backup 6', 'main 13', 'backup 22', 'main 35', 'backup 56', 'main 91']);
  t.is(ends[0], '5000 no answer within 5 s');
});

test('pauses are shortened at random, and never less than 1 s', (t) => {
  const { link, opens, until } = create(undefined, 0);
  link.start();
  until(30_000);
  t.deepEqual(opens.slice(0, 4), ['main 0', 'backup 6', 'main 12.5', 'backup 20.5']);
});

test('if the machine refuses, the pause is at most 4 s', (t) => {
  const { link, main, backup, opens, until } = create();
  link.start();
  for (let at = 1; at <= 60; at++) {
    (at % 2 === 0 ? backup : main).last()?.closed('connect ECONNREFUSED');
    until(at * 1000);
  }
  t.deepEqual(opens.slice(0, 5), ['main 0', 'backup 1', 'main 3', 'backup 8', 'main 13']);
});

test('a link that worked is tried again immediately with the same host, and the pauses restart', (t) => {
  const { link, main, opens, until } = create();
  link.start();
  main.last().opened();
  link.prove();
  until(60_000);
  main.last().closed('reset');
  until(61_500);
  t.deepEqual(opens, ['main 0', 'main 61']);
});

test('a host that worked and does not come back is followed by the others', (t) => {
  const { link, main, opens, until } = create();
  link.start();
  main.last().opened();
  link.prove();
  until(1000);
  main.last().closed('gone');
  until(30_000);
  t.deepEqual(opens.slice(0, 5), ['main 0', 'main 2', 'backup 8', 'main 14', 'backup 20']);
});

test('for ten minutes after it was online, a device is tried at most 4 s after the attempt before, then after up to 30 s', (t) => {
  const { link, main, backup, opens, until } = create();
  link.start();
  main.last().opened();
  link.prove();
  until(1000);
  main.last().closed('gone');
  for (let at = 2; at <= 700; at++) {
    const last = opens.at(-1)!;
    if (Number(last.split(' ')[1]) === at - 1) (last.startsWith('main') ? main : backup).last().closed('EHOSTUNREACH');
    until(at * 1000);
  }
  const times = opens.map((open) => Number(open.split(' ')[1]));
  const pauses = times.map((time, place) => time - (times[place - 1] ?? 0));
  t.true(
    pauses.slice(1, 100).every((pause) => pause <= 5),
    pauses.join(' '),
  );
  t.is(Math.max(...pauses.slice(-3)), 30, pauses.join(' '));
});

test('a silent link is dead after the timeout; messages keep it alive', (t) => {
  const { link, main, ends, until } = create(5000);
  link.start();
  main.last().opened();
  until(4000);
  main.last().received(Buffer.from('x'));
  until(8900);
  t.deepEqual(ends, []);
  until(9000);
  t.deepEqual(ends, ['9000 the device has been silent for 5 s']);
});

test('a fault while handling a message ends the link, which is tried again', (t) => {
  const { link, main, opens, ends, until, breakIt } = create();
  link.start();
  main.last().received(Buffer.from('before it is open'));
  main.last().opened();
  breakIt();
  main.last().received(Buffer.from('x'));
  t.deepEqual(ends, ['0 internal error: broken']);
  until(2000);
  t.is(opens.length, 2);
});

test('events of a link after its end are ignored, and after a stop nothing is tried', async (t) => {
  const { link, main, opens, ends, until, wait } = create();
  link.start();
  const first = main.last();
  first.opened();
  wait(30_000);
  link.fail('it refuses');
  first.closed('again');
  t.is(ends.length, 1);
  until(29_000);
  t.is(opens.length, 1);
  until(31_000);
  t.is(opens.length, 2);
  await link.stop();
  until(100_000);
  t.is(opens.length, 2);
});

test('the phases of links are spread evenly over the interval', (t) => {
  for (const count of [2, 10, 100]) {
    const phases = Array.from({ length: count }, nextPhase).sort((one, other) => one - other);
    t.true(phases[0]! > 0 && phases.at(-1)! <= 1);
    const gaps = phases.map((phase, place) => phase - (phases[place - 1] ?? phases.at(-1)! - 1));
    t.true(Math.max(...gaps) < 2 / count, `the longest gap of ${count}: ${Math.max(...gaps)}`);
    t.true(Math.min(...gaps) > 0.35 / count, `the shortest gap of ${count}: ${Math.min(...gaps)}`);
  }
});
