// The samples for a plot on a dashboard. If no samples were taken for a while, because the machine was asleep or the page was hidden, the
// line has a gap.

import { pathOf } from '../../../model/address.ts';
import type { History } from '../../../wire/http/past-shapes.ts';
import { curveOf, heldAt, isMarks, shift } from '../../history/plot/curve.ts';
import { getJson } from '../../hub/page-request.ts';

/** The minimum length of a gap, in seconds. Shorter pauses, such as those of a busy page, leave no gap. */
const leastGapSeconds = 2;

interface Samples {
  /** The times of the samples, in seconds since 1970. */
  readonly times: number[];
  /** The values, one row per parameter; null if a value is unknown. */
  readonly rows: (number | null)[][];
  /** Adds one sample, with one value for each row, and drops the oldest sample if there are too many. */
  take(time: number, values: readonly (number | null)[]): void;
  /** Inserts samples from the history before all samples that were taken. */
  putBefore(past: Past): void;
}

/** Creates an empty set of samples with `rowCount` rows and at most `most` values per row, one for each interval. */
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

// The history before the plot was opened, in the form of the samples that the plot would have taken.

interface Past {
  /** The times of the samples, in seconds since 1970, according to the page's clock. */
  readonly times: number[];
  /** The values, one row per address; null if a value is unknown. */
  readonly rows: (number | null)[][];
}

/** Requests the history of the given parameters over the last `seconds`, as samples. A history that is not available counts as unknown. */
export async function askPast(addresses: readonly string[], seconds: number, samples: number): Promise<Past> {
  const askedAt = Date.now();
  const histories = await Promise.all(addresses.map((address) => ask(address, seconds, samples)));
  return pastOf(histories, seconds, samples, (askedAt + Date.now()) / 2);
}

/** Converts histories to samples up to `now`, the time on the page's clock when the hub responded, in milliseconds since 1970. */
export function pastOf(
  histories: readonly (History | undefined)[],
  seconds: number,
  samples: number,
  now: number,
): Past {
  const stepMs = (seconds * 1000) / samples;
  const times = Array.from({ length: samples }, (_, index) => now - (samples - index) * stepMs);
  const rows = histories.map((history) => {
    if (!history || isMarks(history)) return times.map(() => null);
    return heldAt(shift(curveOf(history), now - history.to), times)[0]!;
  });
  return { times: times.map((time) => time / 1000), rows };
}

function ask(address: string, seconds: number, points: number): Promise<History | undefined> {
  const query = new URLSearchParams({ from: `-${seconds}s`, points: String(points) });
  return getJson<History>(`/hub/history/${pathOf(address)}?${query}`).catch(() => undefined);
}
