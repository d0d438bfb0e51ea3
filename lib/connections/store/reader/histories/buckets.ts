// Puts what a number was together to buckets of equal length: the least, the greatest, the mean weighed by time, and how many changes
// there were. It is told single changes, and minutes and hours that are put together already, in the order of time.

import type { HistoryGap } from '../../../../wire/http/past/history.ts';
import type { Span } from '../past-database.ts';
import { isDown } from './gaps.ts';
import type { Sink } from './sources.ts';

export interface BucketColumns {
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
  /** What holds; undefined: it is unknown. */
  #value: number | undefined;
  /** Up to then everything is counted. */
  #at: number;
  /** The first gap that is not over. */
  #gap = 0;

  /** From `start`, a multiple of the step, to `end`; `gaps` are those of this time, `value` is what holds at the start. */
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

  /** Nothing changes until a time. */
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

  /** From the first bucket on of which something is known. */
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

  /** Goes on to a time, and returns how much of that is outside of gaps. */
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

/** A mean has more digits than anybody wants: six after the point are enough, unless the number is small. */
function rounded(mean: number): number {
  const size = Math.abs(mean);
  return size >= 1 && size < 1e9 ? (Math.sign(mean) * Math.round(size * 1e6)) / 1e6 : mean;
}
