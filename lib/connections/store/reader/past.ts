// What is recorded of one parameter, whatever is still kept of it: its changes, and what held at some time.

import { hourMs, minuteMs } from '../history/tables.ts';
import type { Deadline } from './deadline.ts';
import { Gaps } from './histories/gaps.ts';
import { floorTo } from './histories/steps.ts';
import type { ChangeRow, Mark, PastDatabase, Series, Span, Stored } from './past-database.ts';

/** What all answers to one question share. */
export interface Moment {
  readonly database: PastDatabase;
  readonly mark: Mark;
  /** Up to when what was recorded last holds. */
  readonly until: number;
  readonly gaps: Gaps;
  readonly deadline: Deadline;
}

/** While it is recorded, it is written down at least so often that the hub is there. */
const seenWithinMs = 15_000;

/** What an answer needs to know of the whole database. */
export function momentOf(database: PastDatabase, now: number, deadline: Deadline): Moment {
  const mark = database.mark();
  const until = now - mark.seen < seenWithinMs ? now : mark.seen;
  return { database, mark, until, gaps: new Gaps(database.gaps()), deadline };
}

export interface Held {
  readonly time: number;
  readonly value: Stored;
}

export interface Range {
  readonly from: number;
  readonly to: number;
}

/** The first or the last so many changes of a range, oldest first. */
export function changesIn(
  { database, deadline }: Moment,
  series: Series,
  { from, to }: Range,
  which: 'first' | 'last',
  limit: number,
): ChangeRow[] {
  const hours = database.changedHours(series, from, to);
  if (which === 'last') hours.reverse();
  const parts: ChangeRow[][] = [];
  let left = limit;
  for (const hour of hours) {
    if (left <= 0) break;
    deadline.check();
    const rows = database.changes(series, hour, from, to, which, left);
    left -= rows.length;
    parts.push(rows);
  }
  return (which === 'last' ? parts.reverse() : parts).flat();
}

/** What held right before a time, and since when, as far as is known; undefined: nothing is known. */
export function heldBefore(moment: Moment, series: Series, time: number): Held | undefined {
  const held = lastBefore(moment, series, time);
  if (held === undefined || moment.gaps.wasDown(held.time, time)) return undefined;
  return { value: held.value, time: moment.gaps.outOf(held.time, time) };
}

function lastBefore(moment: Moment, series: Series, time: number): Held | undefined {
  const { database, mark } = moment;
  const minute = database.span('minute', 'last', series, 0, floorTo(minuteMs, time));
  const hour = database.span('hour', 'last', series, 0, floorTo(hourMs, time));
  const span = hour === undefined || (minute !== undefined && minute[0] >= hour[0]) ? minute : hour;
  const thisHour = floorTo(hourMs, time);
  if (span === undefined && isSpanned(database, series)) return lastChange(moment, series, thisHour, time);
  // What came after the last span is not put together yet.
  const since = span === undefined ? 0 : Math.max(span[0], Math.min(mark.hours, thisHour));
  const change = lastChange(moment, series, since, time);
  if (change !== undefined || span === undefined) return change;
  return heldAtEnd(moment, series, span, span === hour ? hourMs : minuteMs);
}

/** Where changes are no longer kept, it held at the end of the span for sure. */
function heldAtEnd(moment: Moment, series: Series, span: Span, lengthMs: number): Held | undefined {
  const [start, , , , last] = span;
  const change = lastChange(moment, series, start, start + lengthMs);
  if (change !== undefined) return change;
  return typeof last === 'number' ? { time: start + lengthMs, value: last } : undefined;
}

function lastChange(moment: Moment, series: Series, from: number, to: number): Held | undefined {
  const [row] = changesIn(moment, series, { from, to }, 'last', 1);
  return row && { time: row[0], value: row[1] };
}

/** Whether minutes or hours are kept of a parameter. */
function isSpanned(database: PastDatabase, series: Series): boolean {
  const always = [0, Number.MAX_SAFE_INTEGER] as const;
  return (
    database.span('hour', 'first', series, ...always) !== undefined ||
    database.span('minute', 'first', series, ...always) !== undefined
  );
}
