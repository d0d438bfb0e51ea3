// Gaps are periods without a recording. After the hub was down, a value is unknown until the next recorded change. After any other gap, the
// previous value applies again, unless a newer value was recorded.
import { describeJump } from '../../../../model/time/wall-clock.ts';
import type { HistoryGap } from '../../../../wire/http/past-shapes.ts';
import { awayReason, downReason, noContact } from '../../history/history-tables.ts';
import { type Interval, type Segment, type Segments, without } from '../../history/segments.ts';

/** A gap, with the number of its row. */
export type RecordedGap = HistoryGap & { readonly row: number };

/** A period in which the values of a connection were stale. If `to` is 0, the values are still stale. */
export type RecordedAbsence = HistoryGap & { readonly sequence: number };

export class Gaps {
  readonly #list: readonly HistoryGap[];
  /** The periods in which the hub was down, with the index of the segment that contains the period, if any. */
  readonly #downs: readonly (Interval & { readonly index: number | undefined })[];
  readonly #segments: Segments;
  readonly #recorded: readonly RecordedGap[];
  /** The gaps and absences of each connection, keyed by Connection ID. */
  readonly #ofConnections = new Map<string, Gaps>();

  /**
   * `list` is sorted from old to new. The constructor adds gaps that the clock caused, where it was set back and where it skipped time, and
   * the absences of a connection.
   */
  constructor(list: readonly RecordedGap[], segments: Segments, absences: readonly HistoryGap[] = []) {
    this.#segments = segments;
    this.#recorded = list;
    this.#downs = list.filter(isDown).map(({ from, to, row }) => ({ from, to, index: segments.indexOfGap(row) }));
    const gaps =
      segments.jumps.length === 0
        ? list.map(({ row, ...gap }) => gap)
        : [...list.flatMap((gap) => leftOf(gap, segments)), ...setBacks(segments), ...neverIn(segments)].sort(byTime);
    this.#list = absences.length === 0 ? gaps : [...gaps, ...absences].sort(byTime);
  }

  /**
   * Returns these gaps, plus the parts of a connection's absences that lie outside them. `read` returns the absences; an ongoing absence
   * ends at `until`.
   */
  ofConnection(id: string, read: (id: string) => readonly RecordedAbsence[], until: number): Gaps {
    let found = this.#ofConnections.get(id);
    if (found === undefined) {
      const absences = read(id).flatMap((one) => this.#restOf(one, until));
      found = absences.length === 0 ? this : new Gaps(this.#recorded, this.#segments, absences);
      this.#ofConnections.set(id, found);
    }
    return found;
  }

  #restOf({ sequence, ...absence }: RecordedAbsence, until: number): HistoryGap[] {
    const { from } = absence;
    const whole = { from, to: Math.max(from, absence.to === 0 ? until : absence.to) };
    const own = this.#segments.isOrdered
      ? [whole]
      : this.#segments.within(whole).filter(({ segment }) => segment.index === this.#segments.of(sequence).index);
    const rest = this.#list
      .filter((gap) => gap.from < gap.to && gap.to > whole.from && gap.from < whole.to)
      .reduce<readonly Interval[]>(without, own);
    return rest.filter((one) => one.from < one.to).map((one) => ({ ...absence, from: one.from, to: one.to }));
  }

  /** Returns the gaps that overlap a range of times. */
  within(from: number, to: number): HistoryGap[] {
    return this.#list.filter((gap) => gap.to > from && gap.from < to);
  }

  /** Moves a time out of the gap that contains it: to the end of the gap or, if the gap ends after `until`, to its start. */
  outOf(time: number, until: number): number {
    const gap = this.#list.find(({ from, to }) => from <= time && time < to);
    return gap === undefined ? time : gap.to <= until ? gap.to : gap.from;
  }

  /** Returns whether the hub was down between two times. With a segment, only gaps within this segment count. */
  wasDown(since: number, until: number, segment?: Pick<Segment, 'index'>): boolean {
    const isMeant = (index: number | undefined) => segment === undefined || segment.index === index;
    return this.#downs.some(({ from, to, index }) => from >= since && to > since && from < until && isMeant(index));
  }
}

export function isDown({ reason }: HistoryGap): boolean {
  return reason === downReason;
}

/** Returns whether a gap is a period in which the values of a connection were stale. */
export function isAway({ reason }: HistoryGap): boolean {
  return reason === awayReason || reason.startsWith(noContact);
}

function byTime(one: HistoryGap, other: HistoryGap): number {
  return one.from - other.from || one.to - other.to;
}

/** Returns the parts of a gap that remain after the clock was set back into the gap, because some of its time was recorded later. */
function leftOf({ row, ...gap }: RecordedGap, segments: Segments): HistoryGap[] {
  return segments
    .leftOf(gap, row)
    .map(({ from, to }, index) => ({ ...gap, from, to, lost: index === 0 ? gap.lost : 0 }));
}

/**
 * Returns a gap of length 0 wherever the clock was set back. No data is missing there, but readers should see that the clock was set back.
 */
function setBacks(segments: Segments): HistoryGap[] {
  return segments.jumps
    .filter(({ before, after }, index) => after < before && segments.holdsAt(after, index + 1))
    .map((jump) => ({ from: jump.after, to: jump.after, lost: 0, reason: describeJump(jump) }));
}

/**
 * Returns the periods that the clock skipped: the time between two consecutive pieces, if the second piece was recorded later. If the
 * second piece was recorded earlier, the clock was set back in between and skipped nothing.
 */
function neverIn(segments: Segments): HistoryGap[] {
  const pieces = segments.within({ from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY });
  return pieces.slice(1).flatMap(({ from, segment }, index) => {
    const before = pieces[index]!;
    const isLeftOut = before.to < from && before.segment.index < segment.index && !segments.isStart(segment);
    return isLeftOut ? [{ from: before.to, to: from, lost: 0, reason: reasonOf(before.to, segments) }] : [];
  });
}

/** Returns the reason for a period that the clock skipped, which describes the clock jump. */
function reasonOf(time: number, { jumps }: Segments): string {
  const jump = jumps.findLast(({ before, after }) => before < after && before <= time && time < after);
  return jump === undefined ? 'the clock was set' : describeJump(jump);
}

// Bucket lengths are everyday units of time, so that each bucket consists of whole minutes or hours.

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/**
 * The possible lengths of buckets, in milliseconds. Each divides the next unit: seconds divide a minute, minutes an hour, and hours a day.
 */
const steps = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((n) => n * second),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * minute),
  ...[1, 2, 3, 6, 12].map((n) => n * hour),
  ...[1, 2, 7, 14, 28].map((n) => n * day),
];

/** Returns the shortest bucket length that is at least `leastMs`. */
export function stepOf(leastMs: number): number {
  const step = steps.find((one) => one >= leastMs);
  if (step !== undefined) return step;
  let longest = steps.at(-1)!;
  while (longest < leastMs) longest *= 2;
  return longest;
}

/** Returns the start of the bucket that contains a time. */
export function floorTo(step: number, time: number): number {
  return Math.floor(time / step) * step;
}
