// Attempts to reach a server, in a simulated time: how often they begin, that none which hangs holds up the next one, and that of all
// that answer one is kept.

import test from 'ava';
import type { Subscription } from 'rxjs';
import { attemptAll } from '../../../../lib/connections/nats/link/nats-link.ts';
import { Pause } from '../../../../lib/model/time/wall-clock.ts';
import { Time } from '../support/time.ts';

const deadlineMs = 3000;

/** Servers that do at each time what `does` says: refuse at once, hang until the deadline, or answer after a while. */
function begin(servers: readonly string[], does: (server: string, atMs: number) => 'refuse' | 'hang' | number) {
  const time = new Time();
  const begun: string[] = [];
  const reasons: string[] = [];
  const entered: string[] = [];
  const isOpen = new Set<string>();
  let underWay = 0;
  let mostUnderWay = 0;
  let place = 0;
  const attempts: Subscription = attemptAll(
    {
      servers,
      next: () => servers[place++ % servers.length]!,
      clock: time,
      async dial(server) {
        const name = `${server} at ${time.now()}`;
        begun.push(name);
        mostUnderWay = Math.max(mostUnderWay, ++underWay);
        try {
          const answer = does(server, time.now());
          if (answer === 'refuse') throw new Error('refused');
          await new Pause(time).for(answer === 'hang' ? deadlineMs : answer);
          if (answer === 'hang') throw new Error('timeout');
        } finally {
          underWay--;
        }
        isOpen.add(name);
        return {
          name,
          async close() {
            isOpen.delete(name);
          },
        };
      },
      enter: ({ name }) => void entered.push(name),
      report: (reason) => void reasons.push(`${time.now()}: ${reason}`),
    },
    0,
  );
  const state = () => ({ begun, reasons, entered, isOpen: [...isOpen], underWay, mostUnderWay });
  return { time, attempts, state };
}

test('a server that refuses is tried again after 250 ms, and then each 400 ms', async (t) => {
  const { time, attempts, state } = begin(['a'], () => 'refuse');
  await time.run(2000);
  attempts.unsubscribe();
  t.deepEqual(state().begun, ['a at 1', 'a at 251', 'a at 651', 'a at 1051', 'a at 1451', 'a at 1851']);
  t.is(state().reasons[0], '1: cannot reach a: refused');
  await time.run(9000);
  t.is(state().begun.length, 6, 'none after the end');
});

test('while a server hangs, further attempts start every 400 ms, at most eight at once; the first answer wins', async (t) => {
  const { time, state } = begin(['a'], (_, atMs) => (atMs < 9100 ? 'hang' : 20));
  await time.run(3100);
  t.deepEqual(state().reasons, ['3001: cannot reach a: timeout']);
  await time.run(60_000);
  t.deepEqual(state().entered, ['a at 9201']);
  t.deepEqual(state().isOpen, ['a at 9201']);
  t.is(state().begun.at(-1), 'a at 9201');
  t.is(state().mostUnderWay, 8);
  t.is(state().underWay, 0);
});

test('later answers are closed', async (t) => {
  const { time, state } = begin(['a'], (_, atMs) => (atMs < 700 ? 2000 : 100));
  await time.run(60_000);
  t.deepEqual(state().entered, ['a at 801']);
  t.deepEqual(state().isOpen, ['a at 801']);
});

test('a late answer after the end is closed', async (t) => {
  const { time, attempts, state } = begin(['a'], () => 400);
  await time.run(200);
  attempts.unsubscribe();
  await time.run(60_000);
  t.deepEqual(state(), { begun: ['a at 1'], reasons: [], entered: [], isOpen: [], underWay: 0, mostUnderWay: 1 });
});

test('of several servers the next one is tried immediately after one that refuses, and beside one that hangs', async (t) => {
  const { time, state } = begin(['a', 'b', 'c'], (server) =>
    server === 'a' ? 'refuse' : server === 'b' ? 'hang' : 30,
  );
  await time.run(60_000);
  t.deepEqual(state().begun, ['a at 1', 'b at 1', 'c at 401']);
  t.deepEqual(state().entered, ['c at 401']);
  t.deepEqual(state().reasons, []);
});

test('the reasons are reported once they are known for each unreachable server', async (t) => {
  const { time, attempts, state } = begin(['a', 'b'], (server) => (server === 'a' ? 'refuse' : 'hang'));
  await time.run(3100);
  attempts.unsubscribe();
  t.is(state().reasons[0], '3001: cannot reach a: refused; b: timeout');
});
