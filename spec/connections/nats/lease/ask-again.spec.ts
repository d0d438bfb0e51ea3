import { setTimeout as after } from 'node:timers/promises';
import test from 'ava';
import { askAgain } from '../../../../lib/connections/nats/lease/stream-register.ts';

class Answer extends Error {}
const isAnswer = (error: unknown) => error instanceof Answer;
const late = async (ms: number) => {
  await after(ms);
  throw new Error('late');
};

test('while nobody answers it is asked again, and the first answer ends that', async (t) => {
  const asked: number[] = [];
  const ask = (withinMs: number) => (asked.push(withinMs) < 3 ? late(withinMs) : Promise.resolve('yes'));
  t.is(await askAgain({ ask, everyMs: 20, limitMs: 10_000, isAnswer }), 'yes');
  t.is(asked.length, 3);
  t.is(asked[0], 10_000);
  t.true(asked.slice(1).every((ms) => ms < 10_000 && ms % 20 === 0)); // Node.js that was busy takes timers that are late in any order
});

test('a late answer to an earlier attempt counts', async (t) => {
  let asked = 0;
  const ask = async (withinMs: number) => (++asked === 1 ? after(100, 'first') : late(withinMs));
  t.is(await askAgain({ ask, everyMs: 30, limitMs: 5000, isAnswer }), 'first');
  t.true(asked > 1);
});

test('an answer that is an error ends it once no attempt is left that may succeed', async (t) => {
  let asked = 0;
  const ask = async () => {
    if (++asked === 1) return late(100);
    throw new Answer('no');
  };
  const error = await t.throwsAsync(askAgain({ ask, everyMs: 20, limitMs: 60_000, isAnswer }), {
    instanceOf: AggregateError,
  });
  t.deepEqual(
    (error as AggregateError).errors.map(({ message }) => message),
    ['late', 'no'],
  );
});

test('where the first attempt is rejected before there is another one, none follows', async (t) => {
  let asked = 0;
  const ask = async () => {
    asked++;
    throw new Error('nobody listens');
  };
  const error = await t.throwsAsync(askAgain({ ask, everyMs: 10, limitMs: 1000, isAnswer }));
  t.is((error as AggregateError).errors.length, 1);
  await after(30);
  t.is(asked, 1);
});

test('without any answer it ends at its limit', async (t) => {
  const error = await t.throwsAsync(askAgain({ ask: late, everyMs: 20, limitMs: 60, isAnswer }));
  const { errors } = error as AggregateError;
  t.true(errors.length > 0 && errors.length <= 3, `${errors.length} attempts`); // a thread that was busy begins fewer
  t.is((errors[0] as Error).message, 'late');
});
