// Durations as people write them.

import test from 'ava';
import { readDurationMs, readLongDurationMs } from '../../../lib/model/time/duration.ts';

const rows: [unknown, number][] = [
  [0, 0],
  [1500, 1500],
  ['500ms', 500],
  ['30s', 30_000],
  ['1m30s', 90_000],
  ['1.5h', 5_400_000],
  ['1d2h', 93_600_000],
];
for (const [input, expected] of rows)
  test(`${JSON.stringify(input)} is ${expected} ms`, (t) => t.is(readDurationMs(input), expected));

for (const input of ['', 'soon', '10', '1m 30s', '-1s', null, true, Number.NaN])
  test(`${typeof input === 'string' ? JSON.stringify(input) : String(input)} is no duration`, (t) => {
    t.like(
      t.throws(() => readDurationMs(input)),
      { code: 'not-convertible' },
    );
  });

for (const input of [-1, '30d', Number.POSITIVE_INFINITY])
  test(`${JSON.stringify(input)} is out of range`, (t) => {
    t.like(
      t.throws(() => readDurationMs(input)),
      { code: 'out-of-range' },
    );
  });

test('a year and more is a duration that no timer waits for', (t) => {
  t.is(readLongDurationMs('1y'), 365 * 86_400_000);
  t.is(readLongDurationMs('1y30d'), 395 * 86_400_000);
  t.is(readLongDurationMs('1h'), 3_600_000);
  for (const text of ['', '1', 'forever', '-1d', '1001y', '1w']) t.is(readLongDurationMs(text), undefined, text);
});
