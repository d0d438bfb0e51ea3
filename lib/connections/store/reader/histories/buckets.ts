// Aggregates a numeric parameter's values into buckets of equal length: the minimum, the maximum, the time-weighted mean and the number of
// changes. The input consists of individual changes, minutes and hours, in chronological order.
import type { HistoryGap } from '../../../../wire/http/past-shapes.ts';
import { hourMs, minuteMs } from '../../history/history-tables.ts';
import type { Interval } from '../../history/segments.ts';
import type { Series, Span } from '../past-database.ts';
import { changesIn, type Moment, type StateRow, startsIn } from '../past-moment.ts';
import { floorTo, isDown, stepOf } from './gaps.ts';

interface BucketColumns {
  readonly times: number[];
  readonly min: (number | null)[];
  readonly mean: (number | null)[];
  readonly max: (number | null)[];
  readonly counts: number[];
}

export class Buckets implements Sink {
  readonly #start: number;
  readonly #stepMs: number;
  readonly #gaps: readonly HistoryGap[];
  readonly #sum: Float64Array;
  readonly #knownMs: Float64Array;
  readonly #min: Float64Array;
  readonly #max: Float64Array;
  readonly #count: Uint32Array;
  /** The value at the time `#at`; undefined if unknown. */
  #value: number | undefined;
  /** The time up to which everything has been counted, in milliseconds since 1970. */
  #at: number;
  /** The index of the first gap that is not over yet. */
  #gap = 0;

  /**
   * The buckets cover the time from `start`, a multiple of `stepMs`, to `end`. `gaps` are the gaps within this time; `value` is the value
   * at the start.
   */
  constructor(start: number, end: number, stepMs: number, gaps: readonly HistoryGap[], value: number | undefined) {
    const length = Math.max(0, Math.ceil((end - start) / stepMs));
    this.#start = start;
    this.#stepMs = stepMs;
    this.#gaps = gaps;
    this.#value = value;
    this.#at = start;
    this.#sum = new Float64Array(length);
    this.#knownMs = new Float64Array(length);
    this.#min = new Float64Array(length).fill(Infinity);
    this.#max = new Float64Array(length).fill(-Infinity);
    this.#count = new Uint32Array(length);
  }

  change(time: number, value: number): void {
    this.holdUntil(time);
    const index = this.#indexOf(time);
    this.#see(index, value, value);
    this.#count[index]!++;
    this.#value = value;
  }

  state(time: number, value: number | undefined): void {
    this.holdUntil(time);
    this.#value = value;
  }

  span([time, min, mean, max, last, count]: Span, lengthMs: number): void {
    this.holdUntil(time);
    const index = this.#indexOf(time);
    const knownMs = Math.max(1, this.#skipTo(time + lengthMs));
    this.#see(index, min, max);
    this.#sum[index]! += mean * knownMs;
    this.#knownMs[index]! += knownMs;
    this.#count[index]! += count;
    this.#value = last ?? undefined;
  }

  isKnownThrough(from: number, to: number): boolean {
    this.holdUntil(from);
    const gap = this.#gaps[this.#gap];
    return this.#value !== undefined && (gap === undefined || gap.from >= to);
  }

  /** Counts the current value up to a time, except within gaps. */
  holdUntil(time: number): void {
    while (this.#at < time) {
      const gap = this.#gaps[this.#gap];
      if (gap === undefined || gap.from >= time) {
        this.#hold(time);
        return;
      }
      if (gap.from > this.#at) this.#hold(gap.from);
      if (isDown(gap)) this.#value = undefined;
      if (gap.to <= time) this.#gap++;
      this.#at = Math.max(this.#at, Math.min(gap.to, time));
    }
  }

  /** Returns the buckets as columns, starting with the first bucket that has a known value. */
  columns(): BucketColumns {
    const columns: BucketColumns = { times: [], min: [], mean: [], max: [], counts: [] };
    const first = this.#min.findIndex((min) => min !== Infinity);
    for (let index = first; index >= 0 && index < this.#min.length; index++) {
      const isKnown = this.#min[index] !== Infinity;
      const knownMs = this.#knownMs[index]!;
      columns.times.push(this.#start + index * this.#stepMs);
      columns.min.push(isKnown ? this.#min[index]! : null);
      columns.max.push(isKnown ? this.#max[index]! : null);
      columns.mean.push(isKnown ? rounded(knownMs > 0 ? this.#sum[index]! / knownMs : this.#max[index]!) : null);
      columns.counts.push(this.#count[index]!);
    }
    return columns;
  }

  #hold(until: number): void {
    const value = this.#value;
    while (this.#at < until) {
      const index = this.#indexOf(this.#at);
      const end = Math.min(until, this.#start + (index + 1) * this.#stepMs);
      if (value !== undefined) {
        this.#see(index, value, value);
        this.#sum[index]! += value * (end - this.#at);
        this.#knownMs[index]! += end - this.#at;
      }
      this.#at = end;
    }
  }

  /** Advances to a time, and returns how many milliseconds of the elapsed time lie outside gaps. */
  #skipTo(time: number): number {
    let knownMs = 0;
    while (this.#at < time) {
      const gap = this.#gaps[this.#gap];
      const until = gap === undefined ? time : Math.min(time, gap.from);
      if (until > this.#at) knownMs += until - this.#at;
      this.#at = Math.max(this.#at, until);
      if (gap === undefined || gap.from >= time) break;
      if (gap.to <= time) this.#gap++;
      this.#at = Math.max(this.#at, Math.min(gap.to, time));
    }
    return knownMs;
  }

  #see(index: number, min: number, max: number): void {
    if (min < this.#min[index]!) this.#min[index] = min;
    if (max > this.#max[index]!) this.#max[index] = max;
  }

  #indexOf(time: number): number {
    return Math.floor((time - this.#start) / this.#stepMs);
  }
}

/** Rounds a mean to six decimals, unless it is below 1 or very large. */
function rounded(mean: number): number {
  const size = Math.abs(mean);
  return size >= 1 && size < 1e9 ? (Math.sign(mean) * Math.round(size * 1e6)) / 1e6 : mean;
}

// Buckets consist of stored hours and minutes where available, and otherwise of changes.

/** The number of changes above which an answer uses longer buckets, which consist of minutes or hours, if these are available. */
const maxChanges = 200_000;

/** The tables of the history, by increasing length of their rows. */
const tables = [
  { name: 'change', unitMs: 1 },
  { name: 'minute', unitMs: minuteMs },
  { name: 'hour', unitMs: hourMs },
] as const;

type TableName = (typeof tables)[number]['name'];

/** Receives changes and spans in chronological order. */
export interface Sink {
  change(time: number, value: number): void;
  /** Sets the value that applies from a time on, without counting a change; undefined if the value is unknown from then on. */
  state(time: number, value: number | undefined): void;
  span(span: Span, lengthMs: number): void;
  /** Returns whether the value is known from one time to another. */
  isKnownThrough(from: number, to: number): boolean;
}

/**
 * Returns the tables that contain all available data for a range. Data after the mark of a table is always available in a table with
 * shorter spans.
 */
export function completeTables({ database, mark }: Moment, series: Series, { from, to }: Interval): Set<TableName> {
  const start = floorTo(hourMs, from);
  const firsts = new Map<TableName, number | undefined>([
    ['change', database.changedHours(series, start, to + 1, 1)[0]],
    ['minute', database.span('minute', 'first', series, start, to + 1)?.[0]],
    ['hour', database.span('hour', 'first', series, start, to + 1)?.[0]],
  ]);
  const ends: Record<TableName, number> = { change: Infinity, minute: mark.minutes, hour: mark.hours };
  const earliest = Math.min(...[...firsts.values()].map((first) => first ?? Infinity));
  const isComplete = (name: TableName) => {
    const first = firsts.get(name);
    return earliest >= ends[name] || (first !== undefined && floorTo(hourMs, first) <= floorTo(hourMs, earliest));
  };
  return new Set(tables.map(({ name }) => name).filter(isComplete));
}

/** Returns a lower bound for the number of changes in a range, from the rows of whole hours. */
export function countAtLeast({ database }: Moment, series: Series, { from, to }: Interval): number {
  const start = Math.ceil(from / hourMs) * hourMs;
  return countOf(database.spans('hour', series, start, floorTo(hourMs, to)));
}

/**
 * Returns the bucket length for the given number of points, in milliseconds. The buckets are made longer if only longer spans are
 * available, or if there are too many changes.
 */
export function chooseStep(
  moment: Moment,
  series: Series,
  { from, to }: Interval,
  points: number,
  complete: ReadonlySet<TableName>,
): number {
  const finest = tables.find(({ name }) => complete.has(name))?.unitMs ?? 1;
  const step = stepOf(Math.max((to - from) / points, finest));
  const next = tables.find(({ name, unitMs }) => unitMs > step && complete.has(name));
  if (step >= minuteMs || next === undefined) return step;
  const spans = moment.database.spans(next.unitMs === hourMs ? 'hour' : 'minute', series, from, to + 1);
  return countOf(spans) > maxChanges ? next.unitMs : step;
}

/** Passes all data from `from` up to, but not including, `to` to a sink, as the longest spans that fit into a step. */
export function emitHistory(
  moment: Moment,
  series: Series,
  { from, to }: Interval,
  stepMs: number,
  complete: ReadonlySet<TableName>,
  sink: Sink,
): void {
  const { hours, minutes } = moment.mark;
  let at = from;
  for (const [table, unitMs, mark] of [
    ['hour', hourMs, hours],
    ['minute', minuteMs, minutes],
  ] as const) {
    if (stepMs < unitMs || !complete.has(table) || at >= mark) continue;
    const end = Math.min(to, mark);
    moment.database.emitSpans(table, series, at, end, (span) => emitSpan(moment, series, span, unitMs, sink));
    at = Math.max(at, end);
  }
  if (at < to) emitChanges(moment, series, at, to, sink);
}

/**
 * Passes a minute or an hour to a sink. If the value was unknown during a part of this span, passes the minutes or changes within the span
 * instead, if these are available.
 */
function emitSpan(moment: Moment, series: Series, span: Span, unitMs: number, sink: Sink): void {
  const [start, , , , , count] = span;
  if (sink.isKnownThrough(start, start + unitMs)) sink.span(span, unitMs);
  else if (unitMs === hourMs) {
    const minutes = moment.database.spans('minute', series, start, start + unitMs);
    if (countOf(minutes) !== count) sink.span(span, unitMs);
    else for (const minute of minutes) emitSpan(moment, series, minute, minuteMs, sink);
  } else {
    const rows = moment.database.changes(series, start, start, start + unitMs, 'first', count);
    if (rows.length < count) sink.span(span, unitMs);
    else for (const [time, value] of rows) sink.change(time, value as number);
  }
}

function emitChanges(moment: Moment, series: Series, from: number, to: number, sink: Sink): void {
  const { database, deadline, segments } = moment;
  if (!segments.isOrdered) {
    emitPieces(moment, series, { from, to }, sink);
    return;
  }
  for (const hour of database.changedHours(series, from, to)) {
    deadline.check();
    for (const [time, value] of database.changes(series, hour, from, to, 'first', Number.MAX_SAFE_INTEGER))
      sink.change(time, value as number);
  }
}

/** Passes the changes in a range to a sink, although some times occurred twice. For such a time, only the later recording is used. */
function emitPieces(moment: Moment, series: Series, range: Interval, sink: Sink): void {
  const starts = startsIn(moment, series, range);
  const emitHistory = ([time, value]: StateRow) => sink.state(time, value as number | undefined);
  for (const [time, value] of changesIn(moment, series, range, 'first', Number.MAX_SAFE_INTEGER)) {
    for (; starts.length > 0 && starts[0]![0] <= time; starts.shift()) emitHistory(starts[0]!);
    sink.change(time, value as number);
  }
  for (const start of starts) emitHistory(start);
}

function countOf(spans: readonly Span[]): number {
  return spans.reduce((sum, [, , , , , count]) => sum + count, 0);
}
