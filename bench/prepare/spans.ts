// Puts changes together to minutes and hours.

import type { Value, ValueType } from '../../lib/model/value.ts';

export type SpanRow = readonly [
  time: number,
  min: number | null,
  mean: number | null,
  max: number | null,
  last: number | null,
  count: number,
];

export class Spans {
  readonly #spanMs: number;
  readonly #isNumber: boolean;
  readonly #write: (row: SpanRow) => void;
  #start = Number.NaN;
  #at = 0;
  #value: number | undefined;
  #sum = 0;
  #knownMs = 0;
  #min = Infinity;
  #max = -Infinity;
  #count = 0;

  constructor(spanMs: number, type: ValueType, write: (row: SpanRow) => void) {
    this.#spanMs = spanMs;
    this.#isNumber = type !== 'S' && type !== 'T';
    this.#write = write;
  }

  change(time: number, value: Value): void {
    this.endBefore(time);
    if (Number.isNaN(this.#start)) this.#begin(Math.floor(time / this.#spanMs) * this.#spanMs);
    this.#hold(time);
    this.#count++;
    if (this.#isNumber) this.#see(Number(value));
  }

  /** Nothing is known from `start` to `end`. */
  gap(start: number, end: number): void {
    this.endBefore(start);
    this.#hold(start);
    this.#at = end;
  }

  /** Writes the span that is under way if it is over at `time`. */
  endBefore(time: number): void {
    const end = this.#start + this.#spanMs;
    if (!(time >= end)) return;
    this.#hold(end);
    if (this.#count > 0)
      this.#write(
        this.#isNumber
          ? [this.#start, this.#min, this.#sum / this.#knownMs, this.#max, this.#value!, this.#count]
          : [this.#start, null, null, null, null, this.#count],
      );
    const at = this.#at;
    this.#begin(Math.floor(time / this.#spanMs) * this.#spanMs);
    this.#at = Math.max(at, this.#start);
  }

  #begin(start: number): void {
    this.#start = start;
    this.#at = start;
    this.#sum = 0;
    this.#knownMs = 0;
    this.#min = Infinity;
    this.#max = -Infinity;
    this.#count = 0;
    if (this.#value !== undefined) this.#see(this.#value);
  }

  #hold(until: number): void {
    if (this.#value !== undefined && until > this.#at) {
      this.#sum += this.#value * (until - this.#at);
      this.#knownMs += until - this.#at;
    }
    this.#at = Math.max(this.#at, until);
  }

  #see(value: number): void {
    this.#value = value;
    this.#min = Math.min(this.#min, value);
    this.#max = Math.max(this.#max, value);
  }
}
