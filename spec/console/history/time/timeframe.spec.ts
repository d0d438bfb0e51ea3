// Which time people look at, how they move it, and how the address of the page says it.

import test from 'ava';
import {
  dayMs,
  hourMs,
  lastNight,
  pan,
  paramsOf,
  rangeOf,
  type Timeframe,
  timeframeOf,
  yesterday,
  zoom,
} from '../../../../lib/console/history/time/timeframe.ts';

const now = new Date(2026, 10, 22, 9, 30).getTime();
const hour: Timeframe = { lastMs: hourMs };
const at = (...parts: [day: number, hours: number]) => new Date(2026, 10, ...parts).getTime();

test('a period that follows the clock ends now', (t) => {
  t.deepEqual(rangeOf(hour, now), { from: now - hourMs, to: now });
  t.deepEqual(rangeOf({ from: 1, to: 2 }, now), { from: 1, to: 2 });
});

test('moved back it stands still; moved to the present it follows the clock again', (t) => {
  const back = pan(hour, now, -hourMs);
  t.deepEqual(back, { from: now - 2 * hourMs, to: now - hourMs });
  t.deepEqual(pan(back, now + 5000, hourMs + 5000), hour);
  t.deepEqual(pan(hour, now, hourMs), hour, 'there is nothing later than now');
});

test('zoomed, the time below the pointer stays where it is', (t) => {
  const closer = rangeOf(zoom({ from: 0, to: 1000_000 }, now, 0.25, 2), now);
  t.deepEqual(closer, { from: 125_000, to: 625_000 });
  t.is(closer.from + 0.25 * (closer.to - closer.from), 250_000);
  t.deepEqual(zoom(hour, now, 1, 2), { lastMs: hourMs / 2 }, 'about the present it goes on with the clock');
  t.deepEqual(zoom(hour, now, 0.5, 0.5), { lastMs: 2 * hourMs }, 'and so does what would reach beyond it');
});

test('nobody zooms closer than a second, or further than ten years', (t) => {
  t.deepEqual(zoom(hour, now, 1, 1e9), { lastMs: 1000 });
  t.deepEqual(zoom(hour, now, 1, 1e-9), { lastMs: 3660 * dayMs });
});

test('last night is the most recent one that has begun', (t) => {
  t.deepEqual(lastNight(now), { from: at(21, 22), to: at(22, 6) });
  t.deepEqual(lastNight(at(22, 3)), { from: at(21, 22), to: at(22, 6) }, 'also while it lasts');
  t.deepEqual(lastNight(at(22, 23)), { from: at(21, 22), to: at(22, 6) }, 'also in the next evening');
  t.deepEqual(yesterday(now), { from: at(21, 0), to: at(22, 0) });
});

for (const [frame, from, to] of [
  [{ lastMs: hourMs }, '-1h', undefined],
  [{ lastMs: 30 * dayMs }, '-30d', undefined],
  [{ lastMs: 5 * 60_000 }, '-5m', undefined],
  [{ lastMs: 90_500 }, '-91s', undefined],
  [{ from: 0, to: 1500 }, '1970-01-01T00:00:00.000Z', '1970-01-01T00:00:01.500Z'],
] as const)
  test(`the address of the page says ${from} ${to ?? ''}`, (t) => {
    t.deepEqual(paramsOf(frame), { from, to });
    const read = timeframeOf({ from, ...(to !== undefined && { to }) })!;
    t.deepEqual(paramsOf(read), { from, to });
  });

for (const [from, to] of [
  ['', ''],
  ['-1h', '2026-11-22'],
  ['-1x', ''],
  ['yesterday', 'today'],
  ['2026-11-22', ''],
  ['2026-11-22', '2026-11-21'],
  ['0001-01-01', '2026-11-21'],
] as const)
  test(`the address of the page says nothing with from=${from} to=${to}`, (t) => {
    t.is(timeframeOf({ from, to }), undefined);
  });
