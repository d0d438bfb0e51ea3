import test from 'ava';
import { compareWindows, countOf, reachesHub } from './windows.ts';

test('in each pair of windows one load reaches the hub, first or second by turns', (t) => {
  const windows = Array.from({ length: countOf({ pairs: 2, ms: 1 }) }, (_, window) => reachesHub(window));
  t.deepEqual(windows, [false, true, true, false, false, true, true, false]);
});

test('the median of the ratios of the pairs decides, without those at the beginning', (t) => {
  const early = [900, 1, 1, 900];
  const p99s = [...early, 10, 11, 24, 20, 1, 500];
  t.deepEqual(compareWindows(p99s), { beside: 10, reached: 24, ratio: 1.2 });
});
