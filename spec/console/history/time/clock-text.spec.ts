// Times as people read and type them.

import test from 'ava';
import { axisText, fieldText, momentText, readField } from '../../../../lib/console/history/time/clock-text.ts';
import { dayMs, hourMs } from '../../../../lib/console/history/time/timeframe.ts';

const at = (day: number, ...clock: number[]) => new Date(2026, 10, day, ...clock).getTime();
const now = at(22, 9, 30);

for (const [text, expected] of [
  ['2026-11-22 03:04:10', at(22, 3, 4, 10)],
  ['2026-11-22T03:04', at(22, 3, 4)],
  [' 2026-11-2 3:04 ', at(2, 3, 4)],
  ['3:04', at(22, 3, 4)],
  ['9:30', now],
  ['9:31', at(21, 9, 31)],
  ['23:59:59', at(21, 23, 59, 59)],
] as const)
  test(`"${text}" is read`, (t) => {
    t.is(readField(text, now), expected);
  });

for (const text of ['', 'now', '3', '24:00', '3:60', '3:04:60', '2026-11-31 03:04', '2026-13-01 03:04', '2026-11-22'])
  test(`"${text}" is no time`, (t) => {
    t.is(readField(text, now), undefined);
  });

test('the text of a field is read as the same second', (t) => {
  t.is(fieldText(now), '2026-11-22 09:30:00');
  t.is(readField(fieldText(now), now), now);
});

test('an axis shows the part of its times that differs', (t) => {
  t.is(axisText(at(22, 3, 4, 10), 60_000, 10_000), '03:04:10');
  t.is(axisText(at(22, 3), dayMs, hourMs), '03:00');
  t.is(axisText(at(22), dayMs, hourMs), '22 Nov', 'where a day begins');
  t.is(axisText(at(22), 7 * dayMs, dayMs), '22 Nov');
  t.is(momentText(at(22, 3, 4)), '22 Nov, 03:04');
  t.is(momentText(at(22, 3, 4, 10)), '22 Nov, 03:04:10');
});
