// What a plot draws of a history, and of what the page has seen since.

import test from 'ava';
import {
  columnsOf,
  continueWith,
  curveOf,
  heldAt,
  isMarks,
  shift,
} from '../../../../lib/console/history/plot/curve.ts';
import type { History } from '../../../../lib/wire/http/past-shapes.ts';

const history = (parts: Partial<History>): History => ({
  address: 'desk/level',
  type: 'F',
  from: 1000,
  to: 2000,
  kind: 'raw',
  times: [],
  gaps: [],
  ...parts,
});
const raw = (times: number[], values: (number | null)[], parts: Partial<History> = {}) =>
  curveOf(history({ times, values, ...parts }));

test('the last value holds to the end', (t) => {
  const { times, values, low, high } = raw([900, 1500], [1, 2]);
  t.deepEqual(
    [times, values],
    [
      [900, 1500, 2000],
      [1, 2, 2],
    ],
  );
  t.deepEqual([low, high], [values, values]);
  t.deepEqual(raw([], []).times, []);
});

test('booleans are 0 and 1; a bucket has its minimum and its maximum', (t) => {
  t.deepEqual(curveOf(history({ kind: 'intervals', times: [1000], values: [true] })).values, [1, 1]);
  const buckets = {
    kind: 'buckets',
    stepMs: 500,
    times: [1000, 1500],
    mean: [2, null],
    min: [1, null],
    max: [4, null],
  } as const;
  const { times, values, low, high } = curveOf(history(buckets));
  t.deepEqual(times, [1000, 1499, 1500, 2000]);
  t.deepEqual(
    [values, low, high],
    [
      [2, 2, null, null],
      [1, 1, null, null],
      [4, 4, null, null],
    ],
  );
});

test('within a gap the value is unknown, and after a downtime until the next value', (t) => {
  const gaps = [{ from: 1200, to: 1600, lost: 3, reason: 'the hub was down' }];
  const { times, values } = raw([1000, 1400, 1700], [1, 5, 2], { gaps });
  t.deepEqual(times, [1000, 1199, 1200, 1700, 2000]);
  t.deepEqual(values, [1, 1, null, 2, 2]);
});

test('live values continue the history without a seam', (t) => {
  const past = raw([900, 1500], [1, 2]);
  const early = continueWith(past, { times: [1200, 1500, 2100, 2200], values: [1, 2, 3, 3] });
  t.deepEqual(
    [early.times, early.values],
    [
      [900, 1500, 2100, 2200],
      [1, 2, 3, 3],
    ],
  );
  const late = continueWith(past, { times: [2100, 2200], values: [2, 4] });
  t.deepEqual(
    [late.times, late.values],
    [
      [900, 1500, 2000, 2100, 2200],
      [1, 2, 2, 2, 4],
    ],
  );
  const behind = continueWith(past, { times: [1100, 1510, 1700, 2200], values: [1, 2, 7, 7] });
  t.deepEqual(
    [behind.times, behind.values],
    [
      [900, 1500, 1510, 1700, 2200],
      [1, 2, 2, 7, 7],
    ],
    'what was not written yet when it was asked for is there',
  );
  t.deepEqual(continueWith(raw([], []), { times: [1, 2], values: [5, null] }).values, [5, null], 'without a history');
  t.is(continueWith(past, { times: [], values: [] }), past);
});

test('a page without news draws nothing, until the history has the missing time', (t) => {
  const seen = { times: [1600, 2100, 2300, 2400], values: [2, null, 5, 5] };
  const early = continueWith(raw([900, 1500], [1, 2]), seen);
  t.deepEqual(early.times, [900, 1500, 1600, 2099, 2100, 2300, 2400]);
  t.deepEqual(early.values, [1, 2, 2, 2, null, 5, 5]);
  const later = continueWith(raw([900, 1500, 2200], [1, 2, 5], { to: 2350 }), seen);
  t.deepEqual(
    [later.times, later.values],
    [
      [900, 1500, 2200, 2300, 2400],
      [1, 2, 5, 5, 5],
    ],
  );
  const lasting = continueWith(raw([900, 1500], [1, 2], { to: 2500 }), {
    times: [1600, 2100, 2600],
    values: [2, null, null],
  });
  t.deepEqual(lasting.values, [1, 2, 2, 2, null, null], 'no news of its owner yet');
});

test('several curves share their times, and each holds its value between its own points', (t) => {
  const columns = columnsOf([raw([1000], [1]), shift(raw([1000, 1500], [7, 8], { to: 1600 }), 250)]);
  t.deepEqual(
    [0, 1, 4].map((index) => columns[index]),
    [
      [1000, 1250, 1750, 1850, 2000],
      [1, 1, 1, 1, 1],
      [null, 7, 8, 8, null],
    ],
  );
  t.deepEqual(heldAt(raw([1000], [3]), [999, 1000, 1999, 2001])[0], [null, 3, 3, null]);
});

test('fires and texts are marks', (t) => {
  const fires = history({ kind: 'fires', times: [1100, 1200] });
  t.true(isMarks(fires));
  t.deepEqual(curveOf(fires).values, [1, 1]);
  t.deepEqual(curveOf(history({ kind: 'fires', times: [1000, 1500], counts: [0, 7], stepMs: 500 })).times, [1500]);
  const texts = history({ kind: 'texts', times: [900, 1200, 1300], values: ['a', 'b', null] });
  t.deepEqual(curveOf(texts).times, [1200], 'what held before has not happened in this time');
});
