// Aggregates each parameter's changes by minute or hour, weighting each value by its duration. A span without a change needs no row,
// because the value remained the same.

/** A row of `minute` or `hour`. The figures are undefined for strings and triggers, and null if the value was unknown. */
export interface SpanRow {
  readonly parameter: number;
  readonly time: number;
  readonly min: number | null | undefined;
  readonly mean: number | null | undefined;
  readonly max: number | null | undefined;
  readonly last: number | null | undefined;
  readonly count: number;
}

/** The part of its span that a row covers: for how long the value was known, and whether the row reaches the end of the span. */
export interface SpanPart {
  readonly knownMs: number;
  readonly isWhole: boolean;
}

/**
 * The figures of a parameter's current span, in the order in which they are stored. `value` is NaN while the value is unknown. `paused` is
 * the value before a pause, or NaN if there is no pause or a newer value has arrived. `counted` is the time up to which the value has been
 * counted, in milliseconds since 1970. `area` is the sum of all values, each multiplied by its duration in milliseconds, and `knownMs` the
 * total duration for which the value was known.
 */
const figure = {
  parameter: 0,
  start: 1,
  value: 2,
  paused: 3,
  counted: 4,
  min: 5,
  max: 6,
  area: 7,
  knownMs: 8,
  count: 9,
} as const;
const figures = Object.keys(figure).length;
/** The number of spans for which there is room at first. */
const firstRoom = 32;

export class Spans {
  readonly #lengthMs: number;
  readonly #over: (row: SpanRow, part: SpanPart) => void;
  /** The position of each parameter's figures. */
  readonly #open = new Map<number, number>();
  /** The figures of all spans in one buffer: as objects, they would take several times as much memory. */
  #figures = new Float64Array(firstRoom * figures);
  /** The positions of the open spans with at least one change. */
  #changed: number[] = [];

  /** `lengthMs` is the length of a span in milliseconds. `over` is called with each finished span that contains a change. */
  constructor(lengthMs: number, over: (row: SpanRow, part: SpanPart) => void) {
    this.#lengthMs = lengthMs;
    this.#over = over;
  }

  /** Returns whether the parameter has an open span. */
  has(parameter: number): boolean {
    return this.#open.has(parameter);
  }

  /** Sets the value of a parameter from a time on, without counting a change. */
  begin(parameter: number, time: number, value: number): void {
    const span = this.#spanOf(parameter, time);
    const all = this.#figures;
    all[span + figure.counted] = Math.max(all[span + figure.counted]!, time);
    all[span + figure.value] = value;
  }

  /** Counts a change; `value` is NaN if the value is not a number. A late change counts towards the current span. */
  add(parameter: number, time: number, value: number): void {
    const span = this.#spanOf(parameter, time);
    const all = this.#figures;
    this.#count(span, time);
    all[span + figure.value] = value;
    all[span + figure.paused] = Number.NaN;
    this.#include(span, value, value);
    if (all[span + figure.count]!++ === 0) this.#changed.push(span);
  }

  /**
   * Adds the row of a shorter span, such as a minute to an hour. The mean counts for the whole duration of the row, even if the value was
   * known for only part of it.
   */
  addRow({ parameter, time, min, mean, max, last, count }: SpanRow, rowMs: number): void {
    const span = this.#spanOf(parameter, time);
    const all = this.#figures;
    this.#count(span, time);
    if (all[span + figure.count] === 0) this.#changed.push(span);
    all[span + figure.count]! += count;
    all[span + figure.value] = last ?? Number.NaN;
    all[span + figure.counted] = time + rowMs;
    if (mean == null || min == null || max == null) return;
    all[span + figure.area]! += mean * rowMs;
    all[span + figure.knownMs]! += rowMs;
    this.#include(span, min, max);
  }

  /** Ends all spans that are over at a given time and contain a change. */
  endBefore(time: number): void {
    const changed = this.#changed;
    this.#changed = [];
    for (const span of changed)
      if (this.#figures[span + figure.count] === 0) continue;
      else if (this.#endOf(span) <= time) this.#end(span, time);
      else this.#changed.push(span);
  }

  /** Handles a clock jump: reports the unfinished spans, and continues with the current values at the new time. */
  jump(before: number, after: number): void {
    for (const span of this.#open.values()) {
      const end = this.#endOf(span);
      this.#count(span, Math.min(before, end));
      this.#report(span, before >= end);
      this.#empty(span, this.#startOf(after), after);
    }
    this.#changed = [];
  }

  /**
   * Excludes the time between `start` and `end` from all spans. The previous values apply again afterwards, unless `isForgotten` is set.
   */
  interrupt(start: number, end: number, isForgotten: boolean): void {
    if (isForgotten) this.endBefore(start); // for spans that were over by then, the values are known up to the end
    const all = this.#figures;
    for (const span of this.#open.values()) {
      this.#count(span, Math.min(start, this.#endOf(span)));
      if (isForgotten) all[span + figure.value] = all[span + figure.paused] = Number.NaN;
      all[span + figure.counted] = Math.max(all[span + figure.counted]!, end);
    }
  }

  /**
   * Excludes the values of some parameters from `time` on, or includes them again. Their previous values then apply again, unless newer
   * values have arrived.
   */
  pause(parameters: ReadonlySet<number>, time: number, isPaused: boolean): void {
    const all = this.#figures;
    for (const parameter of parameters) {
      const span = this.#open.get(parameter);
      if (span === undefined) continue;
      const [value, paused] = [all[span + figure.value]!, all[span + figure.paused]!];
      if (isPaused && Number.isNaN(paused) && !Number.isNaN(value)) {
        this.#count(span, Math.min(time, this.#endOf(span)));
        all[span + figure.paused] = value;
        all[span + figure.value] = Number.NaN;
      } else if (!isPaused && !Number.isNaN(paused)) {
        all[span + figure.value] = paused;
        all[span + figure.paused] = Number.NaN;
        all[span + figure.counted] = Math.max(all[span + figure.counted]!, time);
      }
    }
  }

  #spanOf(parameter: number, time: number): number {
    const known = this.#open.get(parameter);
    if (known === undefined) return this.#create(parameter, time);
    if (time >= this.#endOf(known)) this.#end(known, time);
    return known;
  }

  #create(parameter: number, time: number): number {
    const span = this.#open.size * figures;
    if (span === this.#figures.length) {
      const larger = new Float64Array(2 * span);
      larger.set(this.#figures);
      this.#figures = larger;
    }
    this.#open.set(parameter, span);
    this.#figures[span + figure.parameter] = parameter;
    this.#figures[span + figure.value] = this.#figures[span + figure.paused] = Number.NaN;
    this.#empty(span, this.#startOf(time), time);
    return span;
  }

  /** Ends a span, and begins the span that contains the given time. */
  #end(span: number, time: number): void {
    this.#count(span, this.#endOf(span));
    this.#report(span, true);
    const start = this.#startOf(time);
    this.#empty(span, start, Math.max(this.#figures[span + figure.counted]!, start));
  }

  /** Reports a span if it contains a change. */
  #report(span: number, isWhole: boolean): void {
    const all = this.#figures;
    if (all[span + figure.count]! > 0)
      this.#over(rowOf(all.subarray(span, span + figures)), { knownMs: all[span + figure.knownMs]!, isWhole });
  }

  /** Begins a span with the current value. */
  #empty(span: number, start: number, counted: number): void {
    const all = this.#figures;
    all[span + figure.start] = start;
    all[span + figure.counted] = counted;
    all[span + figure.min] = Number.POSITIVE_INFINITY;
    all[span + figure.max] = Number.NEGATIVE_INFINITY;
    all[span + figure.area] = all[span + figure.knownMs] = all[span + figure.count] = 0;
  }

  /** Counts the current value of a span up to a time. */
  #count(span: number, time: number): void {
    const all = this.#figures;
    const ms = time - all[span + figure.counted]!;
    if (ms <= 0) return;
    all[span + figure.counted] = time;
    const value = all[span + figure.value]!;
    if (Number.isNaN(value)) return;
    all[span + figure.area]! += value * ms;
    all[span + figure.knownMs]! += ms;
    this.#include(span, value, value);
  }

  #include(span: number, min: number, max: number): void {
    if (min < this.#figures[span + figure.min]!) this.#figures[span + figure.min] = min;
    if (max > this.#figures[span + figure.max]!) this.#figures[span + figure.max] = max;
  }

  #endOf(span: number): number {
    return this.#figures[span + figure.start]! + this.#lengthMs;
  }

  #startOf(time: number): number {
    return Math.floor(time / this.#lengthMs) * this.#lengthMs;
  }
}

function rowOf(span: Float64Array): SpanRow {
  const at = (index: number) => span[index]!;
  const row = { parameter: at(figure.parameter), time: at(figure.start), count: at(figure.count) };
  const [min, max] = [at(figure.min), at(figure.max)];
  if (min > max) return { ...row, min: undefined, mean: undefined, max: undefined, last: undefined };
  const value = Number.isNaN(at(figure.paused)) ? at(figure.value) : at(figure.paused);
  const last = Number.isNaN(value) ? undefined : value;
  const mean = at(figure.knownMs) > 0 ? at(figure.area) / at(figure.knownMs) : last;
  return { ...row, min, mean, max, last };
}
