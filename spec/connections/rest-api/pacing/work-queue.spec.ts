// Work is done in turns: addresses are treated alike, work is done at once where there is time, and never takes more of a round than it may.

import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import { processorMs } from '../../../../lib/connections/rest-api/pacing/processor-time.ts';
import { WorkQueue } from '../../../../lib/connections/rest-api/pacing/work-queue.ts';
import { within } from '../../../support/deadline.ts';
import '../../../support/own-process.ts';

interface Work {
  readonly address: string;
  readonly name: string;
  steps: number;
}

function start(roundMs = 2) {
  const log: string[] = [];
  const rounds: string[][] = [];
  const queue = new WorkQueue<Work>({
    roundMs,
    atOnceMs: 15,
    advance(work) {
      log.push(work.name);
      rounds.at(-1)?.push(work.name);
      spend(0.7); // more than a turn
      return --work.steps > 0;
    },
    shareOf: ({ address }) => address,
  });
  const done = async () => {
    for (let size = -1; size < log.length; ) {
      size = log.length;
      rounds.push([]);
      await setImmediate();
    }
  };
  return { queue, log, rounds, done: () => within(done(), 'the end of the work') };
}

test('addresses take turns, then what each asked for does', async (t) => {
  const { queue, log, done } = start();
  for (const name of ['a1', 'a2', 'a3']) queue.add({ address: 'a', name, steps: 2 });
  queue.add({ address: 'b', name: 'b1', steps: 3 });
  await done();
  t.deepEqual(log, ['a1', 'b1', 'a2', 'b1', 'a3', 'b1', 'a1', 'a2', 'a3']);
});

test('work is done at once when nobody waits and the round has time left, else it takes its turn', async (t) => {
  const { queue, log, done } = start();
  queue.do({ address: 'a', name: 'first', steps: 1 });
  t.deepEqual(log, ['first']);
  for (let count = 0; count < 50; count++) queue.do({ address: 'a', name: `more ${count}`, steps: 1 });
  t.true(log.length < 25, 'the time of a round has an end');
  await done();
  t.is(log.length, 51);
});

test('a round ends when its time is over, whatever waits', async (t) => {
  const { queue, rounds, done } = start();
  for (let count = 0; count < 20; count++) queue.add({ address: String(count), name: 'work', steps: 1 });
  await done();
  t.true(rounds.every(({ length }) => length <= 3));
  t.is(rounds.flat().length, 20);
});

test('what is removed is not done', async (t) => {
  const { queue, log, done } = start();
  const work = { address: 'a', name: 'gone', steps: 1 };
  queue.add(work);
  queue.add({ address: 'a', name: 'stays', steps: 1 });
  queue.remove(work);
  queue.remove(work);
  await done();
  t.deepEqual(log, ['stays']);
});

/** Takes that time, and so much of the processor: other threads of the process use it, and other programs the time. */
function spend(ms: number): void {
  const start = performance.now();
  const startedAt = processorMs();
  while (performance.now() - start < ms || processorMs() - startedAt < ms);
}
