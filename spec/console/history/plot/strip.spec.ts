// Changes are counted by round times of the day.

import test from 'ava';
import { slotsOf } from '../../../../lib/console/history/plot/strip.ts';
import { dayMs, hourMs, minuteMs } from '../../../../lib/console/history/time/timeframe.ts';
import type { History } from '../../../../lib/wire/http/past-shapes.ts';

const now = new Date(2026, 10, 22, 9, 30).getTime();
const last = (ms: number) => ({ from: now - ms, to: now });
const history = (parts: Partial<History>): History => ({
  address: 'desk/lamp',
  type: 'B',
  ...last(dayMs),
  kind: 'intervals',
  times: [],
  gaps: [],
  ...parts,
});

for (const [spanMs, most, stepMs, count] of [
  [dayMs, 31, hourMs, 25],
  [dayMs, 10, 3 * hourMs, 9],
  [hourMs, 31, 5 * minuteMs, 12],
  [10 * minuteMs, 31, 30_000, 20],
  [7 * dayMs, 31, 6 * hourMs, 29],
  [30 * dayMs, 32, dayMs, 31],
  [30 * dayMs, 0, 30 * dayMs, 2],
] as const)
  test(`${spanMs / minuteMs} minutes in at most ${most} parts`, (t) => {
    const slots = slotsOf(last(spanMs), undefined, most);
    t.is(slots.length, count);
    t.is(slots[1]!.to - slots[1]!.from, stepMs);
    t.true(slots[0]!.from <= now - spanMs && slots.at(-1)!.to >= now);
    if (stepMs <= hourMs) t.is(slots[0]!.from % stepMs, 0);
    else t.is(new Date(slots[0]!.from).getMinutes(), 0);
  });

test('changes are counted where they happened; an earlier value is not a change', (t) => {
  const night = new Date(2026, 10, 22, 3).getTime();
  const times = [now - 2 * dayMs, night, night + 4 * minuteMs, night + hourMs - 1, night + hourMs];
  const values = [true, false, true, null, false];
  const slots = slotsOf(last(dayMs), history({ times, values }), 31);
  t.deepEqual(
    slots.find(({ from }) => from === night),
    { from: night, to: night + hourMs, count: 2, place: 3 },
  );
  t.is(
    slots.reduce((sum, { count }) => sum + count, 0),
    3,
    'and neither is what became unknown',
  );
  const fires = history({ kind: 'fires', times: [night, night + hourMs], counts: [7, 2] });
  t.deepEqual(
    slotsOf(last(dayMs), fires, 31).flatMap(({ count }) => count || []),
    [7, 2],
  );
});
