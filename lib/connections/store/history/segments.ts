// Recorded time. After a clock jump, a time may occur twice or never. A segment lies between two clock jumps; within a segment, times
// increase in recording order. If segments overlap in time, the newest segment counts.

/** A clock jump between two changes; `sequence` is the number of the first change after the jump. */
export interface RecordedJump {
  readonly sequence: number;
  /** The time that the clock should have shown, and the time that it showed, in milliseconds since 1970. */
  readonly before: number;
  readonly after: number;
  /** The row number of the last gap that was recorded before the jump. */
  readonly gap: number;
  /** 1 if the jump is a start of the hub, in which case the gap in the next row belongs to it. */
  readonly start: 0 | 1;
}

export interface Segment {
  /** The index of the segment in recording order. */
  readonly index: number;
  /** The times of the segment, in milliseconds since 1970: from `from`, up to but not including `to`. */
  readonly from: number;
  readonly to: number;
  /** The numbers of the changes in the segment: from `first`, up to but not including `last`. */
  readonly first: number;
  readonly last: number;
}

export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** A part of a segment that no newer segment overlaps. */
export interface Piece extends Interval {
  readonly segment: Segment;
}

export class Segments {
  readonly #jumps: readonly RecordedJump[];
  readonly #all: readonly Segment[];
  /** Whether the clock was never set back, in which case no time occurs twice and times increase in recording order. */
  readonly isOrdered: boolean;

  /** `jumps` is in recording order; everything up to the time `end` has been recorded. */
  constructor(jumps: readonly RecordedJump[], end = Number.POSITIVE_INFINITY) {
    this.#jumps = jumps;
    this.isOrdered = jumps.every(({ before, after }) => after >= before);
    this.#all = [undefined, ...jumps].map((jump, index) => ({
      index,
      from: jump?.after ?? Number.NEGATIVE_INFINITY,
      to: (jumps[index]?.before ?? end) + 1,
      first: jump?.sequence ?? Number.NEGATIVE_INFINITY,
      last: jumps[index]?.sequence ?? Number.POSITIVE_INFINITY,
    }));
  }

  get jumps(): readonly RecordedJump[] {
    return this.#jumps;
  }

  /** The newest segment, which is still being recorded. */
  get present(): Segment {
    return this.#all.at(-1)!;
  }

  /** Returns whether more than one segment overlaps a range. */
  areSeveralIn({ from, to }: Interval): boolean {
    return this.#all.length > 1 && this.#all.filter((one) => one.from < to && from < one.to).length > 1;
  }

  /** Returns the segment that contains the change with a number. */
  of(sequence: number): Segment {
    return this.#all.findLast(({ first }) => first <= sequence)!;
  }

  /** Returns the segment that was recorded just before another segment; undefined for the first segment. */
  before({ index }: Segment): Segment | undefined {
    return this.#all[index - 1];
  }

  /**
   * Returns the parts of segments that count within a range of times, in chronological order. Times that the clock skipped are not covered.
   */
  within(range: Interval): readonly Piece[] {
    let open: readonly Interval[] = [range];
    const pieces: Piece[] = [];
    for (const segment of this.#all.toReversed()) {
      for (const one of open) {
        const [from, to] = [Math.max(one.from, segment.from), Math.min(one.to, segment.to)];
        if (from < to) pieces.push({ from, to, segment });
      }
      open = without(open, segment);
      if (open.length === 0) break;
    }
    return pieces.sort((one, other) => one.from - other.from);
  }

  /** Returns the parts of a segment within a range of times, in chronological order. A part with `isShared` overlaps another segment. */
  partsOf(segment: Segment, range: Interval): readonly (Interval & { readonly isShared: boolean })[] {
    const own = [{ from: Math.max(range.from, segment.from), to: Math.min(range.to, segment.to) }];
    const others = this.#all.filter(({ index }) => index !== segment.index);
    const alone = others.reduce<readonly Interval[]>(without, own);
    const shared = alone.reduce<readonly Interval[]>(without, own);
    return [...alone.map((one) => ({ ...one, isShared: false })), ...shared.map((one) => ({ ...one, isShared: true }))]
      .filter(({ from, to }) => from < to)
      .sort((one, other) => one.from - other.from);
  }

  /** Returns whether a segment begins with a start of the hub. */
  isStart({ index }: Segment): boolean {
    return this.#jumps[index - 1]?.start === 1;
  }

  /** Returns the index of the segment that contains the gap in a row; undefined if the gap is between two segments. */
  indexOfGap(row: number): number | undefined {
    const isBetween = this.#jumps.some(({ gap, start }) => start === 1 && gap === row - 1);
    return isBetween ? undefined : this.#jumps.filter(({ gap }) => gap < row).length;
  }

  /**
   * Returns the parts of a gap that no recording has replaced; `row` is the row number of the gap. Later segments replace parts of a gap
   * that lies within a segment. All segments replace parts of a gap between two segments. If the clock was set back before a start of the
   * hub, the gap has no length.
   */
  leftOf(gap: Interval, row: number): readonly Interval[] {
    const own = this.indexOfGap(row);
    if (gap.from === gap.to) return this.holdsAt(gap.from, own ?? this.#startAfter(row)) ? [gap] : [];
    return this.#all.filter(({ index }) => index > (own ?? -1)).reduce<readonly Interval[]>(without, [gap]);
  }

  /** Returns whether no segment after the index `place` covers a time. */
  holdsAt(time: number, place: number): boolean {
    return !this.#all.some(({ index, from, to }) => index > place && from <= time && time < to);
  }

  /** Returns the index of the segment that begins with the start of the hub to which the gap in a row belongs. */
  #startAfter(row: number): number {
    return this.#jumps.findLastIndex(({ gap, start }) => start === 1 && gap === row - 1) + 1;
  }
}

/** Returns the parts of intervals that lie outside another interval. */
export function without(intervals: readonly Interval[], { from, to }: Interval): readonly Interval[] {
  return intervals.flatMap((one) => [
    ...(one.from < Math.min(one.to, from) ? [{ from: one.from, to: Math.min(one.to, from) }] : []),
    ...(Math.max(one.from, to) < one.to ? [{ from: Math.max(one.from, to), to: one.to }] : []),
  ]);
}
