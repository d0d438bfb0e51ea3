// What a plot of a dashboard holds: samples at their times, a gap where none were taken, and what was before.

import test from 'ava';
import { createSamples } from '../../../../lib/console/dashboard/readings/samples.ts';

test('missing samples of more than two intervals leave a gap, a busy page leaves none', (t) => {
  const { times, rows, take } = createSamples(2, 100, 0.1);
  for (const [time, one, other] of [
    [10, 1, 5],
    [10.1, 2, 6],
    [11.5, 3, 7],
    [20, 4, null],
  ] as const)
    take(time, [one, other]);
  t.deepEqual(times, [10, 10.1, 11.5, 11.6, 20]);
  t.deepEqual(rows, [
    [1, 2, 3, null, 4],
    [5, 6, 7, null, null],
  ]);
});

test('a long interval is not a gap', (t) => {
  const { times, take } = createSamples(1, 100, 6);
  for (const time of [10, 16, 28, 41]) take(time, [1]);
  t.deepEqual(times, [10, 16, 28, 34, 41]);
});

test('the oldest samples are dropped, and earlier ones precede them', (t) => {
  const { times, rows, take, putBefore } = createSamples(1, 3, 1);
  take(10, [1]);
  putBefore({ times: [8, 9, 10], rows: [[7, 8, 9]] });
  t.deepEqual([times, rows], [[8, 9, 10], [[7, 8, 1]]]);
  take(11, [2]);
  t.deepEqual([times, rows], [[9, 10, 11], [[8, 1, 2]]]);
});
