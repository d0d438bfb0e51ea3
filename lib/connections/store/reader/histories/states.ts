// The history as it was: each value, and from when on it held.

import type { Value, ValueType } from '../../../../model/value.ts';
import type { HistoryGap } from '../../../../wire/http/past/history.ts';
import { type Held, heldBefore, type Moment, type StateRow, statesIn } from '../past.ts';
import { type Series, type Stored, toValue } from '../past-database.ts';
import type { Course, HistoryRange } from '../range.ts';
import { isDown } from './gaps.ts';

/** Numbers and booleans; undefined: there are too many of them. */
export function stateCourse(moment: Moment, series: Series, range: HistoryRange): Course | undefined {
  const { from, to, points } = range;
  const rows = statesIn(moment, series, { from, to: to + 1 }, 'first', points + 1);
  if (rows.length > points) return undefined;
  const states = statesOf(heldBefore(moment, series, from), rows, moment.gaps.within(from, to), range, series.type);
  return { kind: series.type === 'B' ? 'intervals' : 'raw', ...states };
}

/** The newest texts. */
export function textCourse(moment: Moment, series: Series, range: HistoryRange): Course {
  const { from, to, points } = range;
  const rows = statesIn(moment, series, { from, to: to + 1 }, 'last', points + 1);
  const hasMore = rows.length > points;
  const told = hasMore ? rows.slice(1) : rows;
  const start = hasMore ? told[0]![0] : from;
  const held = hasMore ? undefined : heldBefore(moment, series, from);
  const states = statesOf(held, told, moment.gaps.within(start, to), { from: start, to }, series.type);
  return { kind: 'texts', ...states, ...(hasMore && { more: true }) };
}

/** What held when, with null from the beginning of each gap to the end of it, or until something is known again. */
function statesOf(
  held: Held | undefined,
  rows: readonly StateRow[],
  gaps: readonly HistoryGap[],
  { from }: { from: number; to: number },
  type: ValueType,
): { times: number[]; values: (Value | null)[] } {
  const times: number[] = [];
  const values: (Value | null)[] = [];
  let known: Stored | undefined = held?.value;
  const put = (time: number, value: Stored | null) => {
    times.push(time);
    values.push(value === null ? null : toValue(type, value));
  };
  if (held !== undefined && held.time !== rows[0]?.[0]) put(held.time, held.value); // it may have ended with a span, where a change comes
  let next = 0;
  const putBefore = (end: number) => {
    const before = next;
    for (; next < rows.length && rows[next]![0] < end; next++) {
      const [time, value] = rows[next]!;
      if (value !== undefined || known !== undefined) put(time, value ?? null);
      known = value;
    }
    return next > before;
  };
  for (const gap of gaps) {
    putBefore(gap.from);
    if (gap.from === gap.to && !isDown(gap)) continue;
    const before = known;
    if (before !== undefined) put(gap.from, null);
    known = undefined;
    if (putBefore(gap.to)) continue;
    if (isDown(gap) || before === undefined) continue;
    known = before;
    if (rows[next]?.[0] !== gap.to) put(gap.to, before);
  }
  putBefore(Number.POSITIVE_INFINITY);
  const first = Math.max(
    0,
    times.findLastIndex((time) => time < from),
  );
  return { times: times.slice(first), values: values.slice(first) };
}
