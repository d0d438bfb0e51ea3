// The end of a process waits for threads that answer, and leaves behind those that do not.

import test from 'ava';
import { awaitAnswer, hasWaitingThreads, untilAllAnswered } from '../../lib/model/waiting-threads.ts';
import { within } from '../support/deadline.ts';

test.serial('a wait for all threads ends with the last answer', async (t) => {
  const [first, second] = [awaitAnswer({}), awaitAnswer({})];
  const order: string[] = [];
  const all = untilAllAnswered(60_000).then(() => order.push('all'));
  first();
  await Promise.resolve();
  t.true(hasWaitingThreads());
  order.push('second');
  second();
  second(); // twice is once
  await within(all, 'all answers', 5000);
  t.deepEqual(order, ['second', 'all']);
  t.false(hasWaitingThreads());
});

test.serial(
  'the wait ends immediately when no thread owes an answer, and at the limit for a hanging one',
  async (t) => {
    await untilAllAnswered(60_000);
    const answered = awaitAnswer({});
    await untilAllAnswered(10);
    t.true(hasWaitingThreads());
    answered();
  },
);
