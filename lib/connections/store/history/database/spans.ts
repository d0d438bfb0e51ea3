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

/** The current span of a parameter. `value` is NaN while the value is unknown. */
interface OpenSpan {
  readonly parameter: number;
  start: number;
  value: number;
  /** The value before a pause; undefined if there is no pause or a newer value has arrived. */
  paused: number | undefined;
  /** The time up to which the value has been counted, in milliseconds since 1970. */
  counted: number;
  min: number;
  max: number;
  /** The sum of all values, each multiplied by its duration in milliseconds, and the total duration for which the value was known. */
  area: number;
  knownMs: number;
  count: number;
}

export class Spans {
  readonly #lengthMs: number;
  readonly #over: (row: SpanRow, part: SpanPart) => void;
  readonly #open = new Map<number, OpenSpan>();
  /** The open spans with at least one change. */
  #changed: OpenSpan[] = [];

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
    span.counted = Math.max(span.counted, time);
    span.value = value;
  }

  /** Counts a change; `value` is NaN if the value is not a number. A late change counts towards the current span. */
  add(parameter: number, time: number, value: number): void {
    const span = this.#spanOf(parameter, time);
    this.#count(span, time);
    span.value = value;
    span.paused = undefined;
    if (value < span.min) span.min = value;
    if (value > span.max) span.max = value;
    if (span.count++ === 0) this.#changed.push(span);
  }

  /**
   * Adds the row of a shorter span, such as a minute to an hour. The mean counts for the whole duration of the row, even if the value was
   * known for only part of it.
   */
  addRow({ parameter, time, min, mean, max, last, count }: SpanRow, rowMs: number): void {
    const span = this.#spanOf(parameter, time);
    this.#count(span, time);
    if (span.count === 0) this.#changed.push(span);
    span.count += count;
    span.value = last ?? Number.NaN;
    span.counted = time + rowMs;
    if (mean == null || min == null || max == null) return;
    span.area += mean * rowMs;
    span.knownMs += rowMs;
    span.min = Math.min(span.min, min);
    span.max = Math.max(span.max, max);
  }

  /** Ends all spans that are over at a time and contain a change. */
  endBefore(time: number): void {
    const changed = this.#changed;
    this.#changed = [];
    for (const span of changed)
      if (span.count > 0 && span.start + this.#lengthMs <= time) this.#end(span, time);
      else if (span.count > 0) this.#changed.push(span);
  }

  /** Handles a clock jump: reports the unfinished spans, and continues with the current values at the new time. */
  jump(before: number, after: number): void {
    for (const span of this.#open.values()) {
      const end = span.start + this.#lengthMs;
      this.#count(span, Math.min(before, end));
      if (span.count > 0) this.#over(rowOf(span), { knownMs: span.knownMs, isWhole: before >= end });
      const { value, paused } = span;
      Object.assign(span, emptySpan, { start: this.#startOf(after), value, paused, counted: after });
    }
    this.#changed = [];
  }

  /**
   * Excludes the time between `start` and `end` from all spans. The previous values apply again afterwards, unless `isForgotten` is set.
   */
  interrupt(start: number, end: number, isForgotten: boolean): void {
    if (isForgotten) this.endBefore(start); // for spans that were over by then, the values are known up to the end
    for (const span of this.#open.values()) {
      this.#count(span, Math.min(start, span.start + this.#lengthMs));
      if (isForgotten) {
        span.value = Number.NaN;
        span.paused = undefined;
      }
      span.counted = Math.max(span.counted, end);
    }
  }

  /**
   * Excludes the values of some parameters from `time` on, or includes them again. Their previous values then apply again, unless newer
   * values have arrived.
   */
  pause(parameters: ReadonlySet<number>, time: number, isPaused: boolean): void {
    for (const parameter of parameters) {
      const span = this.#open.get(parameter);
      if (span === undefined) continue;
      if (isPaused && span.paused === undefined && !Number.isNaN(span.value)) {
        this.#count(span, Math.min(time, span.start + this.#lengthMs));
        span.paused = span.value;
        span.value = Number.NaN;
      } else if (!isPaused && span.paused !== undefined) {
        span.value = span.paused;
        span.paused = undefined;
        span.counted = Math.max(span.counted, time);
      }
    }
  }

  forget(parameter: number): void {
    this.#open.delete(parameter);
  }

  #spanOf(parameter: number, time: number): OpenSpan {
    let span = this.#open.get(parameter);
    if (span === undefined) {
      span = { parameter, ...emptySpan, start: this.#startOf(time), counted: time };
      this.#open.set(parameter, span);
    } else if (time >= span.start + this.#lengthMs) this.#end(span, time);
    return span;
  }

  /** Ends a span, and begins the span that contains the given time. */
  #end(span: OpenSpan, time: number): void {
    const end = span.start + this.#lengthMs;
    this.#count(span, end);
    if (span.count > 0) this.#over(rowOf(span), { knownMs: span.knownMs, isWhole: true });
    const start = this.#startOf(time);
    const counted = Math.max(span.counted, start);
    Object.assign(span, emptySpan, { start, value: span.value, paused: span.paused, counted });
  }

  /** Counts the current value of a span up to a time. */
  #count(span: OpenSpan, time: number): void {
    const ms = time - span.counted;
    if (ms <= 0) return;
    span.counted = time;
    const { value } = span;
    if (Number.isNaN(value)) return;
    span.area += value * ms;
    span.knownMs += ms;
    if (value < span.min) span.min = value;
    if (value > span.max) span.max = value;
  }

  #startOf(time: number): number {
    return Math.floor(time / this.#lengthMs) * this.#lengthMs;
  }
}

const emptySpan = {
  value: Number.NaN,
  paused: undefined,
  min: Number.POSITIVE_INFINITY,
  max: Number.NEGATIVE_INFINITY,
  area: 0,
  knownMs: 0,
  count: 0,
};

function rowOf({ parameter, start, paused, value: present, min, max, area, knownMs, count }: OpenSpan): SpanRow {
  const value = paused ?? present;
  if (min > max)
    return { parameter, time: start, min: undefined, mean: undefined, max: undefined, last: undefined, count };
  const last = Number.isNaN(value) ? undefined : value;
  const mean = knownMs > 0 ? area / knownMs : last;
  return { parameter, time: start, min, mean, max, last, count };
}
