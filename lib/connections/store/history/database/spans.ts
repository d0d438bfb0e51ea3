// Puts the changes of each parameter together, minute by minute or hour by hour: a value counts for as long as it held. A span
// without a change needs no row, since the value held.

/** A row of `minute` or `hour`; the figures of texts and triggers are undefined. */
export interface SpanRow {
  readonly parameter: number;
  readonly time: number;
  readonly min: number | null | undefined;
  readonly mean: number | null | undefined;
  readonly max: number | null | undefined;
  readonly last: number | null | undefined;
  readonly count: number;
}

/** How much of its span a row tells: for how long the value was known, and whether up to its end. */
export interface SpanPart {
  readonly knownMs: number;
  readonly isWhole: boolean;
}

/** What is known of a parameter in the span that is not over. `value` is NaN while it is unknown. */
interface OpenSpan {
  readonly parameter: number;
  /** When the span began. */
  start: number;
  value: number;
  /** Up to when the value is counted. */
  counted: number;
  min: number;
  max: number;
  /** The sum of all values, each times the milliseconds for which it held, and how many those are. */
  area: number;
  knownMs: number;
  count: number;
}

export class Spans {
  readonly #lengthMs: number;
  readonly #over: (row: SpanRow, part: SpanPart) => void;
  readonly #open = new Map<number, OpenSpan>();
  /** Those with a change in a span that is not over. */
  #changed: OpenSpan[] = [];

  /** `over` hears of each span that is over, and had a change. */
  constructor(lengthMs: number, over: (row: SpanRow, part: SpanPart) => void) {
    this.#lengthMs = lengthMs;
    this.#over = over;
  }

  /** Whether something is known of the parameter. */
  has(parameter: number): boolean {
    return this.#open.has(parameter);
  }

  /** Says what a parameter was at a time, when nothing is known of it. */
  begin(parameter: number, time: number, value: number): void {
    const span = this.#spanOf(parameter, time);
    span.counted = Math.max(span.counted, time);
    span.value = value;
  }

  /** Counts a change; NaN: the value is no number. One that is late counts for the span that is open. */
  add(parameter: number, time: number, value: number): void {
    const span = this.#spanOf(parameter, time);
    this.#count(span, time);
    span.value = value;
    if (value < span.min) span.min = value;
    if (value > span.max) span.max = value;
    if (span.count++ === 0) this.#changed.push(span);
  }

  /** Counts a row of shorter spans as so many changes. Its mean counts for all of it, though it may have been known for a part only. */
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

  /** Ends all spans that are over at that time. */
  endBefore(time: number): void {
    const changed = this.#changed;
    this.#changed = [];
    for (const span of changed)
      if (span.count > 0 && span.start + this.#lengthMs <= time) this.#end(span, time);
      else if (span.count > 0) this.#changed.push(span);
  }

  /** The clock has jumped: what holds goes on at the new time, and what was counted up to then is told. */
  jump(before: number, after: number): void {
    for (const span of this.#open.values()) {
      const end = span.start + this.#lengthMs;
      this.#count(span, Math.min(before, end));
      if (span.count > 0) this.#over(rowOf(span), { knownMs: span.knownMs, isWhole: before >= end });
      Object.assign(span, emptySpan, { start: this.#startOf(after), value: span.value, counted: after });
    }
    this.#changed = [];
  }

  /** Nothing counts from `start` to `end`; what a parameter was before holds afterwards, unless all is forgotten. */
  interrupt(start: number, end: number, isForgotten: boolean): void {
    if (isForgotten) this.endBefore(start); // what was over by then is known to its end
    for (const span of this.#open.values()) {
      this.#count(span, Math.min(start, span.start + this.#lengthMs));
      if (isForgotten) span.value = Number.NaN;
      span.counted = Math.max(span.counted, end);
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

  /** Ends a span, and begins the one of a later time. */
  #end(span: OpenSpan, time: number): void {
    const end = span.start + this.#lengthMs;
    this.#count(span, end);
    if (span.count > 0) this.#over(rowOf(span), { knownMs: span.knownMs, isWhole: true });
    const start = this.#startOf(time);
    const counted = Math.max(span.counted, start);
    Object.assign(span, emptySpan, { start, value: span.value, counted });
  }

  /** Counts the value up to a time. */
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
  min: Number.POSITIVE_INFINITY,
  max: Number.NEGATIVE_INFINITY,
  area: 0,
  knownMs: 0,
  count: 0,
};

function rowOf({ parameter, start, value, min, max, area, knownMs, count }: OpenSpan): SpanRow {
  if (min > max)
    return { parameter, time: start, min: undefined, mean: undefined, max: undefined, last: undefined, count };
  const last = Number.isNaN(value) ? undefined : value;
  const mean = knownMs > 0 ? area / knownMs : last;
  return { parameter, time: start, min, mean, max, last, count };
}
