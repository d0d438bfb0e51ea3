// The history of a trigger: when it fired, or how often in each bucket.

import { changesIn, type Moment } from '../past.ts';
import type { Series, Span } from '../past-database.ts';
import type { Course, HistoryRange } from '../range.ts';
import { chooseStep, completeTables, countAtLeast, type Sink, tell } from './sources.ts';
import { floorTo } from './steps.ts';

export function fireCourse(moment: Moment, series: Series, range: HistoryRange): Course {
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
  tell(moment, series, { from, to }, stepMs, complete, counts);
  return { kind: 'fires', stepMs, ...counts.columns() };
}

/** Buckets without a fire are left out. */
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
