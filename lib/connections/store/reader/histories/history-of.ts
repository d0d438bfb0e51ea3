// The history of one parameter of any type.
import { connectionIdOf } from '../../../../model/address.ts';
import type { Value, ValueType } from '../../../../model/value.ts';
import type { History, HistoryGap } from '../../../../wire/http/past-shapes.ts';
import type { AskedParameter } from '../../../persistence.ts';
import type { Stored } from '../../history/blocks.ts';
import { type Series, type Span, toValue } from '../past-database.ts';
import {
  type Course,
  changesIn,
  type Held,
  type HistoryRange,
  heldBefore,
  type Moment,
  type StateRow,
  statesIn,
} from '../past-moment.ts';
import { Buckets, chooseStep, completeTables, countAtLeast, emitHistory, type Sink } from './buckets.ts';
import { floorTo, isAway, isDown } from './gaps.ts';

type CourseOf = (moment: Moment, series: Series, range: HistoryRange) => Course;

const courses: Readonly<Record<ValueType, CourseOf>> = {
  B: numberCourse,
  I: numberCourse,
  F: numberCourse,
  S: textCourse,
  T: fireCourse,
};

/** The courses of a parameter that has no records, keyed by type. */
const empty: Readonly<Record<ValueType, Course>> = {
  B: { kind: 'intervals', times: [], values: [] },
  I: { kind: 'raw', times: [], values: [] },
  F: { kind: 'raw', times: [], values: [] },
  S: { kind: 'texts', times: [], values: [] },
  T: { kind: 'fires', times: [] },
};

/**
 * Returns the history of a parameter; undefined if the parameter is unknown or hidden. Errors: any SQLite error; `unavailable` if the query
 * takes too long.
 */
export function historyOf(moment: Moment, parameter: AskedParameter, range: HistoryRange): History | undefined {
  const { address } = parameter;
  if (parameter.isHidden) return undefined;
  const series = moment.database.find(address, parameter.type);
  const type = series?.type ?? parameter.type;
  if (type === undefined) return undefined;
  const { from, to } = range;
  const { database, until } = moment;
  const gaps = moment.gaps.ofConnection(connectionIdOf(address), (id) => database.absences(id), until);
  const course = series === undefined ? empty[type] : courses[type]({ ...moment, gaps }, series, range);
  return { address, type, from, to, ...course, gaps: gaps.within(from, to) };
}

// The history of a number or a boolean: individual values if there are few enough points, otherwise buckets.

function numberCourse(moment: Moment, series: Series, range: HistoryRange): Course {
  const complete = completeTables(moment, series, range);
  const isFew = complete.has('change') && countAtLeast(moment, series, range) <= range.points;
  const states = isFew ? stateCourse(moment, series, range) : undefined;
  if (states !== undefined) return states;
  const stepMs = chooseStep(moment, series, range, range.points, complete);
  const from = floorTo(stepMs, range.from);
  const to = Math.min(floorTo(stepMs, range.to) + stepMs, Math.max(from, moment.until));
  const gaps = moment.gaps.within(from, to);
  const held = heldBefore(moment, series, from)?.value as number | undefined;
  const buckets = new Buckets(from, to, stepMs, gaps, held);
  emitHistory(moment, series, { from, to }, stepMs, complete, buckets);
  buckets.holdUntil(to);
  return { kind: 'buckets', stepMs, ...buckets.columns() };
}

// The history of a trigger: the times at which it fired, or the number of times in each bucket.

function fireCourse(moment: Moment, series: Series, range: HistoryRange): Course {
  const complete = completeTables(moment, series, range);
  if (complete.has('change') && countAtLeast(moment, series, range) <= range.points) {
    const { from, to, points } = range;
    const rows = changesIn(moment, series, { from, to: to + 1 }, 'first', points + 1);
    if (rows.length <= points) return { kind: 'fires', times: rows.map(([time]) => time) };
  }
  const stepMs = chooseStep(moment, series, range, range.points, complete);
  const from = floorTo(stepMs, range.from);
  const to = floorTo(stepMs, range.to) + stepMs;
  const counts = new Counts(from, stepMs);
  emitHistory(moment, series, { from, to }, stepMs, complete, counts);
  return { kind: 'fires', stepMs, ...counts.columns() };
}

/** Counts how often a trigger fired in each bucket. Buckets without a firing are omitted. */
class Counts implements Sink {
  readonly #start: number;
  readonly #stepMs: number;
  readonly #counts = new Map<number, number>();

  constructor(start: number, stepMs: number) {
    this.#start = start;
    this.#stepMs = stepMs;
  }

  change(time: number): void {
    this.#add(time, 1);
  }

  state(): void {}

  span([time, , , , , count]: Span): void {
    this.#add(time, count);
  }

  isKnownThrough(): boolean {
    return true;
  }

  columns(): { times: number[]; counts: number[] } {
    return { times: [...this.#counts.keys()], counts: [...this.#counts.values()] };
  }

  #add(time: number, count: number): void {
    const start = this.#start + Math.floor((time - this.#start) / this.#stepMs) * this.#stepMs;
    this.#counts.set(start, (this.#counts.get(start) ?? 0) + count);
  }
}

// The exact history: each value with the time from which it applied.

/** Returns each value of a number or a boolean within a range; undefined if there are too many values. */
function stateCourse(moment: Moment, series: Series, range: HistoryRange): Course | undefined {
  const { from, to, points } = range;
  const rows = statesIn(moment, series, { from, to: to + 1 }, 'first', points + 1);
  if (rows.length > points) return undefined;
  const states = statesOf(heldBefore(moment, series, from), rows, moment.gaps.within(from, to), range, series.type);
  return { kind: series.type === 'B' ? 'intervals' : 'raw', ...states };
}

/** Returns the newest values of a string within a range. */
function textCourse(moment: Moment, series: Series, range: HistoryRange): Course {
  const { from, to, points } = range;
  const rows = statesIn(moment, series, { from, to: to + 1 }, 'last', points + 1);
  const hasMore = rows.length > points;
  const shown = hasMore ? rows.slice(1) : rows;
  const start = hasMore ? shown[0]![0] : from;
  const held = hasMore ? undefined : heldBefore(moment, series, from);
  const states = statesOf(held, shown, moment.gaps.within(start, to), { from: start, to }, series.type);
  return { kind: 'texts', ...states, ...(hasMore && { more: true }) };
}

/**
 * Returns values and the times from which they applied, with null from the start of each gap to its end or until a value is known again.
 * Values that a device reports before its values count as fresh also apply afterwards.
 */
function statesOf(
  held: Held | undefined,
  rows: readonly StateRow[],
  gaps: readonly HistoryGap[],
  { from, to }: { from: number; to: number },
  type: ValueType,
): { times: number[]; values: (Value | null)[] } {
  const times: number[] = [];
  const values: (Value | null)[] = [];
  let known: Stored | undefined = held?.value;
  const put = (time: number, value: Stored | null) => {
    times.push(time);
    values.push(value === null ? null : toValue(type, value));
  };
  if (held !== undefined && held.time !== rows[0]?.[0]) put(held.time, held.value); // the end of a span may coincide with the first change
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
  for (const [index, gap] of gaps.entries()) {
    putBefore(gap.from);
    if (gap.from === gap.to && !isDown(gap)) continue;
    const before = known;
    if (before !== undefined && values.at(-1) !== null) put(gap.from, null);
    known = undefined;
    const isChanged = putBefore(gap.to);
    if (isDown(gap) || (isChanged ? !isAway(gap) : before === undefined)) continue;
    if (!isChanged) known = before;
    if (isAway(gap) && (gap.to > to || gaps[index + 1]?.from === gap.to)) continue; // the end is outside the range or in the next gap
    if (known !== undefined && rows[next]?.[0] !== gap.to) put(gap.to, known);
  }
  putBefore(Number.POSITIVE_INFINITY);
  const first = Math.max(
    0,
    times.findLastIndex((time) => time < from),
  );
  return { times: times.slice(first), values: values.slice(first) };
}
