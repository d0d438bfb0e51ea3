// The samples that a plot of a dashboard holds. Where none were taken for a while, because the machine slept or nobody saw the page,
// the line has a gap.

import type { Past } from './plot-past.ts';

/** A page that is only busy leaves no gap. */
const leastGapSeconds = 2;

export interface Samples {
  /** Seconds since 1970. */
  readonly times: number[];
  /** One row for each parameter; null: unknown. */
  readonly rows: (number | null)[][];
  /** Takes one value for each row; the oldest ones go. */
  take(time: number, values: readonly (number | null)[]): void;
  /** Puts what is earlier than the samples before them. */
  putBefore(past: Past): void;
}

/** Holds at most `most` samples of so many rows, one after each interval. */
export function createSamples(rowCount: number, most: number, intervalSeconds: number): Samples {
  const times: number[] = [];
  const rows: (number | null)[][] = Array.from({ length: rowCount }, () => []);
  const longest = Math.max(leastGapSeconds, 2 * intervalSeconds);
  const push = (time: number, values: readonly (number | null)[]) => {
    times.push(time);
    for (const [index, row] of rows.entries()) row.push(values[index]!);
  };
  return {
    times,
    rows,
    take(time, values) {
      const last = times.at(-1);
      const nothing = rows.map(() => null);
      if (last !== undefined && time - last > longest) push(last + intervalSeconds, nothing);
      push(time, values);
      while (times.length > most) for (const list of [times, ...rows]) list.shift();
    },
    putBefore(past) {
      const first = times[0] ?? Number.POSITIVE_INFINITY;
      const count = past.times.filter((time) => time < first).length;
      times.unshift(...past.times.slice(0, count));
      for (const [index, row] of rows.entries()) row.unshift(...past.rows[index]!.slice(0, count));
    },
  };
}
