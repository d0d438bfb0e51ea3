// The setting `onLoss`: when the values of a peer that is offline become unknown.

import test from 'ava';
import { VirtualAction, VirtualTimeScheduler } from 'rxjs';
import { Loss } from '../../lib/connections/loss.ts';

/** Runs calls at their times, in milliseconds; resolves to the times at which the values were forgotten. */
function forgotten(
  onLoss: 'stale' | 'unknown' | { hold: number },
  calls: readonly (readonly [ms: number, 'begin' | 'end'])[],
) {
  const scheduler = new VirtualTimeScheduler(VirtualAction, 100_000);
  const times: number[] = [];
  const loss = new Loss({ onLoss }, scheduler, () => times.push(scheduler.frame));
  for (const [ms, call] of calls) scheduler.schedule(() => loss[call](), ms);
  scheduler.flush();
  return times;
}

test('the time counts from the loss: attempts that fail do not extend it', (t) => {
  const attempts = Array.from({ length: 20 }, (_, index) => [1000 + index * 4000, 'begin'] as const);
  t.deepEqual(forgotten({ hold: 20_000 }, attempts), [21_000]);
  t.deepEqual(forgotten('unknown', attempts), [1000]);
  t.deepEqual(forgotten('stale', attempts), []);
});

test('a peer that returns in time keeps its values, and each loss counts by itself', (t) => {
  const calls = [
    [0, 'begin'],
    [4000, 'end'],
    [6000, 'begin'],
    [20_000, 'end'],
    [30_000, 'begin'],
    [31_000, 'end'],
  ] as const;
  t.deepEqual(forgotten({ hold: 5000 }, calls), [11_000]);
  t.deepEqual(forgotten('unknown', calls), [0, 6000, 30_000]);
});
