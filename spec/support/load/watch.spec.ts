import test from 'ava';
import { Watch } from './watch.ts';

const never = new Promise<never>(() => {});

test('the awaited message is returned', async (t) => {
  const watch = new Watch();
  t.is(await watch.wait(Promise.resolve(5)), 5);
  t.is(await watch.within(Promise.resolve(5), 'five', 60_000), 5);
  await watch.pass(1);
});

test('a failure anywhere ends all waiting, also later waiting', async (t) => {
  const watch = new Watch();
  const waits = [watch.wait(never), watch.within(never, 'an answer', 60_000), watch.pass(60_000)];
  watch.fail('socket 3 was closed');
  watch.fail('socket 4 was closed');
  for (const wait of [...waits, watch.wait(never)]) await t.throwsAsync(wait, { message: 'socket 3 was closed' });
});

test('a deadline has the expectation in its error', async (t) => {
  await t.throwsAsync(new Watch().within(never, 'an answer', 1), { message: 'expected an answer within 1 ms' });
});

test('a standstill fails; progress does not', async (t) => {
  const watch = new Watch();
  let count = 0;
  watch.failAtStandstill(
    20,
    () => (count < 3 ? ++count : count),
    () => `${count} answers came`,
  );
  await t.throwsAsync(watch.wait(never), { message: 'stalled for 20 ms: 3 answers came' });
});

test('a condition is checked until it holds, and no longer after a failure', async (t) => {
  let looks = 0;
  const times = { deadlineMs: 60_000, everyMs: 1 };
  const watch = new Watch();
  await watch.untilSo('three looks', () => ++looks === 3, times);
  const endless = watch.untilSo('a fourth look', () => ++looks < 0, times);
  watch.fail('a socket was closed');
  await t.throwsAsync(endless, { message: 'a socket was closed' });
  const seen = looks;
  let others = 0;
  await new Watch().untilSo('five looks of another one', () => ++others === 5, times); // as often, so it would have looked too
  t.is(looks, seen);
});
