// The recorded changes of one parameter, and its value at a given time, from the data that is still available.
import { HubError } from '../../../model/error.ts';
import { globToRegExp } from '../../../model/glob.ts';
import type { History } from '../../../wire/http/past-shapes.ts';
import type { Sight } from '../../persistence.ts';
import type { Stored } from '../history/blocks.ts';
import { hourMs, minuteMs } from '../history/history-tables.ts';
import { type Interval, type Piece, type Segment, Segments } from '../history/segments.ts';
import { floorTo, Gaps } from './histories/gaps.ts';
import {
  allNumbers,
  type ChangeRow,
  type Mark,
  type Numbers,
  type PastDatabase,
  type Series,
  type Span,
} from './past-database.ts';

/** The state of the database at the time of a query, which all parts of the answer share. */
export interface Moment {
  readonly database: PastDatabase;
  readonly mark: Mark;
  /** The time up to which the last recorded value applies, in milliseconds since 1970. */
  readonly until: number;
  /** The segments of the recording, which lie between clock jumps. */
  readonly segments: Segments;
  readonly gaps: Gaps;
  readonly deadline: Deadline;
}

/** The maximum age of the mark while a store is running, in milliseconds. */
const seenWithinMs = 15_000;

/** Reads the state of the database for an answer; `now` is the current time. */
export function momentOf(database: PastDatabase, now: number, deadline: Deadline): Moment {
  const mark = database.mark();
  const until = now - mark.seen < seenWithinMs ? now : mark.seen;
  const segments = new Segments(database.jumps(), Math.max(until, mark.seen));
  return { database, mark, until, segments, gaps: new Gaps(database.gaps(), segments), deadline };
}

export interface Held {
  readonly time: number;
  readonly value: Stored;
}

/** Returns the first or the last `limit` changes within a range of times, oldest first. */
export function changesIn(
  moment: Moment,
  series: Series,
  range: Interval,
  which: 'first' | 'last',
  limit: number,
): ChangeRow[] {
  const pieces = [...piecesOf(moment, range)];
  if (which === 'last') pieces.reverse();
  const parts: ChangeRow[][] = [];
  let left = limit;
  for (const piece of pieces) {
    if (left <= 0) break;
    const rows = changesOf(moment, series, piece, which, left);
    left -= rows.length;
    parts.push(rows);
  }
  return (which === 'last' ? parts.reverse() : parts).flat();
}

/** A value, and the time from which it applies; undefined if the value is unknown from that time on. */
export type StateRow = readonly [time: number, value: Stored | undefined];

/**
 * Returns the same as `changesIn`, plus the value after each clock jump, because this value may differ from the value before it in the
 * result.
 */
export function statesIn(
  moment: Moment,
  series: Series,
  range: Interval,
  which: 'first' | 'last',
  limit: number,
): StateRow[] {
  const rows: StateRow[] = changesIn(moment, series, range, which, limit).map(([time, value]) => [time, value]);
  const starts = startsIn(moment, series, range).filter(([time]) => !rows.some((row) => row[0] === time));
  if (starts.length === 0) return rows;
  const all = [...rows, ...starts].sort((one, other) => one[0] - other[0]);
  return which === 'first' ? all.slice(0, limit) : all.slice(-limit);
}

/** Returns the times within a range to which the clock jumped, each with the value at that time. */
export function startsIn(moment: Moment, series: Series, range: Interval): StateRow[] {
  return piecesOf(moment, range)
    .filter(({ from }) => from > range.from)
    .map(({ from, segment }) => [from, heldIn(moment, series, segment, from)?.value]);
}

/** Returns the pieces of segments that cover a range. Without clock jumps, returns a single piece with all changes. */
function piecesOf({ segments }: Moment, range: Interval): readonly (Piece & { readonly numbers: Numbers })[] {
  if (segments.isOrdered) return [{ ...range, segment: segments.present, numbers: allNumbers }];
  return segments.within(range).map((piece) => ({ ...piece, numbers: piece.segment }));
}

function changesOf(
  { database, deadline }: Moment,
  series: Series,
  { from, to, numbers }: Interval & { readonly numbers: Numbers },
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
    const rows = database.changes(series, hour, from, to, which, left, numbers);
    left -= rows.length;
    parts.push(rows);
  }
  return (which === 'last' ? parts.reverse() : parts).flat();
}

/** Returns the value just before a time, and the time from which the value applied; undefined if the value is unknown. */
export function heldBefore(moment: Moment, series: Series, time: number): Held | undefined {
  const { segments } = moment;
  if (segments.isOrdered) return heldIn(moment, series, segments.present, time);
  const piece = segments.within({ from: Number.NEGATIVE_INFINITY, to: time }).at(-1);
  return piece && heldIn(moment, series, piece.segment, piece.to);
}

/**
 * Returns the value just before a time within a segment. If the segment has no change before that time, returns the value at the end of the
 * previous segment.
 */
export function heldIn(moment: Moment, series: Series, segment: Segment, time: number): Held | undefined {
  const { segments, gaps, deadline } = moment;
  if (segments.isOrdered) {
    const held = lastWithin(moment, series, { from: Number.NEGATIVE_INFINITY, to: time }, allNumbers);
    if (held === undefined || gaps.wasDown(held.time, time)) return undefined;
    return { value: held.value, time: gaps.outOf(held.time, time) };
  }
  let until = time;
  for (let one: Segment | undefined = segment; one !== undefined; one = segments.before(one)) {
    deadline.check();
    until = Math.min(until, one.to);
    const held = lastIn(moment, series, one, until);
    if (gaps.wasDown(held?.time ?? one.from, until, one)) return undefined;
    if (held !== undefined && one === segment) return { value: held.value, time: gaps.outOf(held.time, until) };
    if (held !== undefined) return { value: held.value, time: segment.from };
    if (segments.isStart(one)) return undefined;
    until = Number.POSITIVE_INFINITY;
  }
  return undefined;
}

/**
 * Returns the last value in a segment before a time. Where a time occurred twice, only individual changes are used, because the minutes and
 * hours contain both recordings.
 */
function lastIn(moment: Moment, series: Series, segment: Segment, until: number): Held | undefined {
  const parts = moment.segments.partsOf(segment, { from: Number.NEGATIVE_INFINITY, to: until });
  for (const part of parts.toReversed()) {
    const held = part.isShared ? lastChange(moment, series, part, segment) : lastWithin(moment, series, part, segment);
    if (held !== undefined) return held;
  }
  return undefined;
}

function lastWithin(moment: Moment, series: Series, { from, to }: Interval, numbers: Numbers): Held | undefined {
  const { database, mark } = moment;
  const least = Math.max(from, Number.MIN_SAFE_INTEGER);
  const minute = database.span('minute', 'last', series, least, floorTo(minuteMs, to));
  const hour = database.span('hour', 'last', series, least, floorTo(hourMs, to));
  const span = hour === undefined || (minute !== undefined && minute[0] >= hour[0]) ? minute : hour;
  const thisHour = Math.max(from, floorTo(hourMs, to));
  if (span === undefined && from === Number.NEGATIVE_INFINITY && isSpanned(database, series))
    return lastChange(moment, series, { from: thisHour, to }, numbers);
  // Changes after the last span have not been aggregated yet.
  const since = span === undefined ? from : Math.max(span[0], Math.min(mark.hours, thisHour));
  const change = lastChange(moment, series, { from: since, to }, numbers);
  if (change !== undefined || span === undefined) return change;
  return heldAtEnd(moment, series, span, span === hour ? hourMs : minuteMs, numbers);
}

/** Returns the value at the end of a span: the value of its last change, or `last` if its changes have been deleted. */
function heldAtEnd(moment: Moment, series: Series, span: Span, lengthMs: number, numbers: Numbers): Held | undefined {
  const [start, , , , last] = span;
  const change = lastChange(moment, series, { from: start, to: start + lengthMs }, numbers);
  if (change !== undefined) return change;
  return typeof last === 'number' ? { time: start + lengthMs, value: last } : undefined;
}

function lastChange(moment: Moment, series: Series, range: Interval, numbers: Numbers): Held | undefined {
  const [row] = changesOf(moment, series, { ...range, numbers }, 'last', 1);
  return row && { time: row[0], value: row[1] };
}

/** Returns whether there are minutes or hours for a parameter. */
function isSpanned(database: PastDatabase, series: Series): boolean {
  const always = [0, Number.MAX_SAFE_INTEGER] as const;
  return (
    database.span('hour', 'first', series, ...always) !== undefined ||
    database.span('minute', 'first', series, ...always) !== undefined
  );
}

/** The range of a history query; both ends are included. */
export interface HistoryRange extends Interval {
  /** The maximum number of points in the answer, in addition to the value at the start. */
  readonly points: number;
}

/** The points of a history, without the address, the range and the gaps. */
export type Course = Omit<History, 'address' | 'type' | 'from' | 'to' | 'gaps'>;

/** Returns whether the reader may see a recorded address. */
export type Sees = (address: string) => boolean;

/** Creates the function that checks which addresses a reader may see. Without `sight`, the reader may see all addresses. */
export function createSight(sight: Sight | undefined): Sees {
  if (sight === undefined) return () => true;
  const [read, deny] = [sight.read, sight.deny].map((globs) => globs.map(globToRegExp)) as [RegExp[], RegExp[]];
  const known = new Map<string, boolean>();
  return (address) => {
    let isSeen = known.get(address);
    if (isSeen === undefined) {
      isSeen = read.some((one) => one.test(address)) && !deny.some((one) => one.test(address));
      known.set(address, isSeen);
    }
    return isSeen;
  };
}

/** The time limit for a query. Without a limit, other queries would wait too long for the thread. */
export class Deadline {
  readonly #endMs: number;

  constructor(limitMs: number) {
    this.#endMs = performance.now() + limitMs;
  }

  get isOver(): boolean {
    return this.leftMs <= 0;
  }

  get leftMs(): number {
    return this.#endMs - performance.now();
  }

  /** Checks whether there is time left. Errors: `unavailable` if time has run out. */
  check(): void {
    if (this.isOver)
      throw new HubError('unavailable', 'the query takes too long: request a shorter time range or fewer points');
  }
}
