// The curve for a history and for the values that the page has received since. Each point holds until the next point.

import type { History, HistoryGap } from '../../../wire/http/past-shapes.ts';

/** A curve: points in chronological order, with times in milliseconds since 1970; null if a value is unknown. */
export interface Curve {
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
  /** The minimum in the point's bucket, or the value if the point is not a bucket. */
  readonly low: readonly (number | null)[];
  /** The maximum in the point's bucket, or the value if the point is not a bucket. */
  readonly high: readonly (number | null)[];
}

/** Values that the page itself has received, with their times in milliseconds since 1970; null if a value is unknown or stale. */
export interface Seen {
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
}

export const nothing: Curve = { times: [], values: [], low: [], high: [] };

/** Returns whether a history is drawn as marks, which is the case for firings and strings. The height of a mark is the number of events. */
export function isMarks({ kind }: History): boolean {
  return kind === 'fires' || kind === 'texts';
}

/** Returns the curve for a history. Values in gaps are unknown, and the last value holds until the end. */
export function curveOf(history: History): Curve {
  if (isMarks(history)) return marksOf(history);
  const middle = history.mean ?? (history.values ?? []).map(numberOf);
  const low = history.min ?? middle;
  const high = history.max ?? middle;
  const points = history.times.map(
    (time, index): Point => [time, middle[index] ?? null, low[index] ?? null, high[index] ?? null],
  );
  return toCurve(withEnd(withGaps(points, history.gaps), history.to));
}

/**
 * Appends the values that the page received after the last change in the history. That change holds until the first of these values.
 * Periods in which the page received nothing do not interrupt the curve where the history contains recorded values.
 */
export function continueWith(past: Curve, { times, values }: Seen): Curve {
  if (times.length === 0) return past;
  const end = past.times.at(-1) ?? Number.NEGATIVE_INFINITY;
  const lastChange = past.times.at(-2) ?? Number.NEGATIVE_INFINITY; // the end of the history follows this change
  const kept = pointsOf(past).filter(([time]) => time <= lastChange || time < times[0]!);
  const news = times.map((time, index): Point => [time, values[index]!, values[index]!, values[index]!]);
  const isReported = (index: number) =>
    news[index]![1] === null && (news[index + 1]?.[0] ?? Number.POSITIVE_INFINITY) <= end;
  return toCurve(withHeld([...kept, ...news.filter(([time], index) => time > lastChange && !isReported(index))]));
}

/** Aligns several curves to the same times. Returns one column of times, then three columns for each curve: value, low, high. */
export function columnsOf(curves: readonly Curve[]): (number | null)[][] {
  const times = [...new Set(curves.flatMap((curve) => curve.times))].sort((one, other) => one - other);
  return [times, ...curves.flatMap((curve) => heldAt(curve, times))];
}

export function shift(curve: Curve, ms: number): Curve {
  return { ...curve, times: curve.times.map((time) => time + ms) };
}

/**
 * Returns the value, low and high of a curve at each of the times, as three columns. The values are unknown before the first and after the
 * last point of the curve.
 */
export function heldAt(curve: Curve, times: readonly number[]): (number | null)[][] {
  const rows: (number | null)[][] = [[], [], []];
  let index = -1;
  const end = curve.times.at(-1) ?? Number.NEGATIVE_INFINITY;
  for (const time of times) {
    while (index + 1 < curve.times.length && curve.times[index + 1]! <= time) index++;
    const isIn = index >= 0 && time <= end;
    for (const [column, values] of [curve.values, curve.low, curve.high].entries())
      rows[column]!.push(isIn ? values[index]! : null);
  }
  return rows;
}

type Point = readonly [time: number, value: number | null, low: number | null, high: number | null];

function pointsOf({ times, values, low, high }: Curve): Point[] {
  return times.map((time, index) => [time, values[index]!, low[index]!, high[index]!]);
}

function toCurve(points: readonly Point[]): Curve {
  return {
    times: points.map(([time]) => time),
    values: points.map(([, value]) => value),
    low: points.map(([, , low]) => low),
    high: points.map(([, , , high]) => high),
  };
}

function withGaps(points: readonly Point[], gaps: readonly HistoryGap[]): Point[] {
  const within = ([time]: Point) => gaps.some(({ from, to }) => time > from && time < to);
  const breaks = gaps.map(({ from }): Point => [from, null, null, null]);
  const all = [...points.filter((point) => !within(point)), ...breaks];
  return all.sort(([one], [other]) => one - other);
}

/** Repeats each value just before an unknown value, because the plot draws a value up to the next value, but not up to an unknown value. */
function withHeld(points: readonly Point[]): Point[] {
  const held: Point[] = [];
  for (const point of points) {
    const before = held.at(-1);
    if (before && before[1] !== null && point[1] === null && point[0] - 1 > before[0])
      held.push([point[0] - 1, before[1], before[2], before[3]]);
    held.push(point);
  }
  return held;
}

function withEnd(points: readonly Point[], to: number): Point[] {
  const held = withHeld(points);
  const last = held.at(-1);
  if (last && last[0] < to) held.push([to, last[1], last[2], last[3]]);
  return held;
}

/** Returns the curve of a history that is drawn as marks: one mark for each firing or string, or for each bucket that is not empty. */
function marksOf({ times, counts, values, from }: History): Curve {
  const points = times.flatMap((time, index): Point[] => {
    const count = counts?.[index] ?? (time < from || values?.[index] === null ? 0 : 1);
    return count > 0 ? [[time, count, count, count]] : [];
  });
  return toCurve(points);
}

function numberOf(value: unknown): number | null {
  return value === null || typeof value === 'string' ? null : Number(value);
}
