import test from 'ava';
import { becomesSo, untilSo } from './deadline.ts';

test('a condition that holds immediately is checked once', async (t) => {
  let looks = 0;
  const isSo = () => ++looks > 0;
  t.true(await becomesSo(isSo, { deadlineMs: 0, everyMs: 60_000 }));
  t.is(looks, 1);
});

test('a condition that becomes true in time holds, also in another process', async (t) => {
  let looks = 0;
  t.true(await becomesSo(() => ++looks === 3, { deadlineMs: 60_000, everyMs: 1 }));
  t.true(await becomesSo(async () => ++looks === 6, { deadlineMs: 60_000, everyMs: 1 }));
});

test('a condition that stays false is awaited no longer than the time', async (t) => {
  const startMs = performance.now();
  t.false(await becomesSo(() => false, { deadlineMs: 20, everyMs: 1 }));
  t.true(performance.now() - startMs >= 20);
});

test('a check that fails ends the wait', async (t) => {
  const isSo = () => Promise.reject(new Error('the hub has ended'));
  await t.throwsAsync(becomesSo(isSo, { deadlineMs: 60_000, everyMs: 1 }), { message: 'the hub has ended' });
});

test('an awaited condition holds in time, or the error has the expectation', async (t) => {
  let looks = 0;
  await untilSo('three looks', () => ++looks === 3, { deadlineMs: 60_000, everyMs: 1 });
  t.is(looks, 3);
  const late = untilSo('a hub to be there', () => false, { deadlineMs: 5, everyMs: 1 });
  await t.throwsAsync(late, { message: 'expected a hub to be there within 5 ms' });
});
