// When nothing was recorded. After the hub was down nothing is known until something is recorded; after any other gap that holds
// which was recorded before, unless there is something newer.
import { describeJump } from '../../../../model/time/wall-clock.ts';
import type { HistoryGap } from '../../../../wire/http/past-shapes.ts';
import { downReason } from '../../history/history-tables.ts';
import type { Interval, Segment, Segments } from '../../history/segments.ts';

/** A gap with the number of its row. */
export type RecordedGap = HistoryGap & { readonly row: number };

export class Gaps {
  readonly #list: readonly HistoryGap[];
  /** The times when the hub was down, each with the place of the segment that it is in. */
  readonly #downs: readonly (Interval & { readonly index: number | undefined })[];

  /** Oldest first. Those of the clock are added: where it was set back, and the times that never were as it was set ahead. */
  constructor(list: readonly RecordedGap[], segments: Segments) {
    this.#downs = list.filter(isDown).map(({ from, to, row }) => ({ from, to, index: segments.indexOfGap(row) }));
    this.#list =
      segments.jumps.length === 0
        ? list.map(({ row, ...gap }) => gap)
        : [...list.flatMap((gap) => leftOf(gap, segments)), ...setBacks(segments), ...neverIn(segments)].sort(byTime);
  }

  /** Those that overlap a range. */
  within(from: number, to: number): HistoryGap[] {
    return this.#list.filter((gap) => gap.to > from && gap.from < to);
  }

  /** A time is moved out of the gap that it is in: to its end, or where that comes after `until`, to its beginning. */
  outOf(time: number, until: number): number {
    const gap = this.#list.find(({ from, to }) => from <= time && time < to);
    return gap === undefined ? time : gap.to <= until ? gap.to : gap.from;
  }

  /** Whether the hub was down after a time, and before another one; both are of the segment, where one is given. */
  wasDown(since: number, until: number, segment?: Pick<Segment, 'index'>): boolean {
    const isMeant = (index: number | undefined) => segment === undefined || segment.index === index;
    return this.#downs.some(({ from, to, index }) => from >= since && to > since && from < until && isMeant(index));
  }
}

export function isDown({ reason }: HistoryGap): boolean {
  return reason === downReason;
}

function byTime(one: HistoryGap, other: HistoryGap): number {
  return one.from - other.from || one.to - other.to;
}

/** What is left of a gap where the clock was set back later: of that time something was recorded. */
function leftOf({ row, ...gap }: RecordedGap, segments: Segments): HistoryGap[] {
  return segments
    .leftOf(gap, row)
    .map(({ from, to }, index) => ({ ...gap, from, to, lost: index === 0 ? gap.lost : 0 }));
}

/** A clock that was set back left nothing out, yet whoever looks at that time is told. */
function setBacks(segments: Segments): HistoryGap[] {
  return segments.jumps
    .filter(({ before, after }, index) => after < before && segments.holdsAt(after, index + 1))
    .map((jump) => ({ from: jump.after, to: jump.after, lost: 0, reason: describeJump(jump) }));
}

/** Between what was recorded and what was recorded after it. Where something older follows, time has not come to it yet. */
function neverIn(segments: Segments): HistoryGap[] {
  const pieces = segments.within({ from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY });
  return pieces.slice(1).flatMap(({ from, segment }, index) => {
    const before = pieces[index]!;
    const isLeftOut = before.to < from && before.segment.index < segment.index && !segments.isStart(segment);
    return isLeftOut ? [{ from: before.to, to: from, lost: 0, reason: reasonOf(before.to, segments) }] : [];
  });
}

/** The jump that has left out a time. */
function reasonOf(time: number, { jumps }: Segments): string {
  const jump = jumps.findLast(({ before, after }) => before < after && before <= time && time < after);
  return jump === undefined ? 'the clock was set' : describeJump(jump);
}

// How long buckets are: as people count time, so that a bucket is made of whole minutes or whole hours.

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Each of them has whole ones of a unit: a minute has whole seconds of them, an hour whole minutes, a day whole hours. */
const steps = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((n) => n * second),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * minute),
  ...[1, 2, 3, 6, 12].map((n) => n * hour),
  ...[1, 2, 7, 14, 28].map((n) => n * day),
];

/** The shortest step that is at least so long. */
export function stepOf(leastMs: number): number {
  const step = steps.find((one) => one >= leastMs);
  if (step !== undefined) return step;
  let longest = steps.at(-1)!;
  while (longest < leastMs) longest *= 2;
  return longest;
}

/** The beginning of the step that a time is in. */
export function floorTo(step: number, time: number): number {
  return Math.floor(time / step) * step;
}
