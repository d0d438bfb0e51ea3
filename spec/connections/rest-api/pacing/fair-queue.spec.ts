// Work that waits is done in slices: whoever has had least time comes next, first among users and networks, then among the sockets of each.

import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import { betweenMs, FairQueue, type Task } from '../../../../lib/connections/rest-api/pacing/fair-queue.ts';
import { processorMs, Round } from '../../../../lib/connections/rest-api/pacing/round.ts';
import { within } from '../../../support/deadline.ts';
import '../../../support/own-process.ts';

function start() {
  const log: string[] = [];
  /** What was done between two rounds. */
  const rounds: string[][] = [[]];
  const round = new Round();
  const queue = new FairQueue(round);
  const task = (
    name: string,
    { share = name, line = undefined as object | undefined, steps = 1, ms = 0.7 } = {},
  ): Task => {
    let left = steps;
    return {
      ...{ share, line },
      advance() {
        log.push(name);
        rounds.at(-1)!.push(name);
        spend(ms);
        return --left > 0;
      },
    };
  };
  const done = async () => {
    for (let size = -1; size < log.length; ) {
      size = log.length;
      await setImmediate();
      rounds.push([]);
    }
  };
  return { queue, round, task, log, rounds, done: () => within(done(), 'the end of the work') };
}

test('shares take turns, and so do the requests of each share', async (t) => {
  const { queue, task, log, done } = start();
  for (const name of ['a1', 'a2', 'a3']) queue.add(task(name, { share: 'a', steps: 2 }));
  queue.add(task('b1', { share: 'b', steps: 3 }));
  await done();
  t.deepEqual(
    log.filter((name) => name !== 'b1'),
    ['a1', 'a2', 'a3', 'a1', 'a2', 'a3'],
  );
  t.true(log.indexOf('b1') <= 1, log.join());
});

test('a client with an indivisible request waits until the others have had the same time', async (t) => {
  const { queue, task, log, done } = start();
  for (let count = 0; count < 3; count++) queue.add(task('long', { share: 'a', ms: 20 }));
  for (let count = 0; count < 60; count++) queue.add(task('short', { share: 'b', ms: 1 }));
  await done();
  const between = log.join(' ').split('long');
  t.is(between.length, 4);
  const shortIn = (text: string) => text.split('short').length - 1;
  for (const texts of between.slice(1, 3)) t.true(shortIn(texts) >= 5 && shortIn(texts) <= 30, log.join(' '));
});

test('a new socket has its turn before sockets of its share with a long wait and much work', async (t) => {
  const { queue, task, log, done } = start();
  const flooders = Array.from({ length: 20 }, (_, index) =>
    task(`flooder ${index}`, { share: 'a', line: {}, steps: 40 }),
  );
  for (const one of flooders) queue.add(one);
  for (let round = 0; round < 3; round++) await setImmediate();
  const before = log.length;
  queue.add(task('comer', { share: 'a', line: {} }));
  await done();
  t.true(log.indexOf('comer') - before <= flooders.length, `after ${log.indexOf('comer') - before}`);
});

test('a client that leaves after each slice, and returns, does not precede clients that have had less time', async (t) => {
  const { queue, task, log, done } = start();
  const comeAgain = (name: string, line: object, times: number): Task => ({
    ...{ share: 'a', line },
    advance() {
      log.push(name);
      spend(2);
      if (times > 1) setTimeout(() => queue.add(comeAgain(name, line, times - 1)), 0);
      return false;
    },
  });
  for (let index = 0; index < 20; index++) queue.add(comeAgain(`flooder ${index}`, {}, 20));
  for (let round = 0; log.length < 100 && round < 1000; round++) await setImmediate();
  const line = {};
  const waited: number[] = [];
  for (let times = 0; times < 5; times++) {
    const before = log.length;
    const name = `ordinary ${times}`;
    queue.add(task(name, { share: 'a', line, ms: 0.1 }));
    for (let round = 0; !log.includes(name) && round < 1000; round++) await setImmediate();
    waited.push(log.indexOf(name) - before);
  }
  await done();
  const sum = waited.reduce((all, one) => all + one, 0);
  t.true(sum < 40, waited.join()); // it was nearly twenty each time: each flooder came before it
});

test('the requests of a share form one line, for any number: they delay none of its sockets', async (t) => {
  const { queue, task, log, done } = start();
  for (let count = 0; count < 100; count++) queue.add(task('request', { share: 'a' }));
  queue.add(task('socket', { share: 'a', line: {} }));
  await done();
  t.true(log.indexOf('socket') <= 1, `after ${log.indexOf('socket')}`);
});

test('work is done immediately if nobody of its share waits and the round has time left, otherwise in its turn', async (t) => {
  const { queue, task, log, done } = start();
  queue.do(task('first', { share: 'a' }));
  t.deepEqual(log, ['first']);
  for (let count = 0; count < 50; count++) queue.do(task(`more ${count}`, { share: 'a' }));
  t.true(log.length < 20, 'the time of a round has an end');
  await done();
  t.is(log.length, 51);
  queue.add(task('waits', { share: 'a' }));
  queue.do(task('of the same', { share: 'a' }));
  queue.do(task('of another', { share: 'b' }));
  t.deepEqual(log.slice(51), ['of another']);
  await done();
});

test('the time between two rounds is limited, regardless of waiting work', async (t) => {
  const { queue, task, rounds, done } = start();
  for (let count = 0; count < 40; count++) queue.add(task(String(count)));
  await done();
  t.true(
    rounds.every(({ length }) => length <= betweenMs / 0.7 + 1),
    rounds.map(({ length }) => length).join(),
  );
  t.is(rounds.flat().length, 40);
});

test('work postponed until the end of that time is done within it, or else in the round', async (t) => {
  const { queue, task, log, done } = start();
  const end = () => void log.push('end');
  queue.add({ share: 'a', line: undefined, advance: () => queue.atEnd(end) as undefined & false });
  queue.add(task('b'));
  await setImmediate();
  t.deepEqual(log, ['b', 'end']);
  queue.atEnd(end);
  t.is(log.length, 2);
  await done();
  t.is(log.length, 3);
});

test('a publication counts as time of its client, also if it happens later', async (t) => {
  const { queue, round, task, log, done } = start();
  const publish = (line: object, times: number): Task => {
    let left = times;
    return {
      ...{ share: 'a', line },
      advance() {
        log.push('long');
        round.willPublish(1000, 60_000);
        queue.atEnd(() => round.hasPublished());
        return --left > 0;
      },
    };
  };
  for (let count = 0; count < 3; count++) queue.add(publish({}, 3));
  for (let count = 0; count < 20; count++) queue.add(task('short', { share: 'a', line: {}, steps: 5, ms: 0.1 }));
  await done();
  t.is(log.length, 9 + 100);
  t.true(log.lastIndexOf('short') < log.length - 6, log.join(' ')); // each of the long ones had one slice, as all had
});

test('a client with a long publication pauses for a while, and comes after waiting clients', async (t) => {
  const { queue, round, task, log, done } = start();
  const publisher = {};
  const text = (line: object): Task => ({
    ...{ share: 'a', line },
    advance() {
      log.push('long');
      round.willPublish(1000, 60_000);
      queue.atEnd(() => round.hasPublished());
      return false;
    },
  });
  queue.do(text(publisher));
  t.deepEqual(log, ['long']);
  t.true(queue.mustWait(publisher));
  queue.do(task('other', { share: 'a', line: {} })); // what waits to be published takes long: nobody does anything at once
  t.deepEqual(log, ['long']);
  queue.add(text(publisher));
  await setImmediate();
  t.deepEqual(log, ['long', 'other'], 'the second text would double the time of the round');
  await done();
  t.deepEqual(log, ['long', 'other', 'long']);
  queue.do(text(publisher));
  t.is(log.length, 3, 'it waits for its slice');
  queue.do(task('other', { share: 'b' }));
  t.deepEqual(log.slice(3), ['other']);
  await done();
  t.is(log.length, 5);
});

test('removed work is not done', async (t) => {
  const { queue, task, log, done } = start();
  const gone = task('gone', { share: 'a' });
  queue.add(gone);
  queue.add(task('stays', { share: 'a' }));
  queue.remove(gone);
  queue.remove(gone);
  await done();
  t.deepEqual(log, ['stays']);
  queue.remove(gone);
});

/** Takes that time, and so much of the processor: other threads of the process use it, and other programs the time. */
function spend(ms: number): void {
  const start = performance.now();
  const startedAt = processorMs();
  while (performance.now() - start < ms || processorMs() - startedAt < ms);
}
