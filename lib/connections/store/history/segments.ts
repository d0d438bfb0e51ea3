// Recorded time: after a clock jump, a time occurs twice or never. A segment lies between two jumps; within it, times increase in recording
// order. If segments overlap in time, the newest one counts.

/** A clock jump before the change with the number `sequence`. */
export interface RecordedJump {
  readonly sequence: number;
  /** The expected and the actual reading of the clock, in milliseconds since 1970. */
  readonly before: number;
  readonly after: number;
  /** The gaps up to this row were written before the jump. */
  readonly gap: number;
  /** 1: a start of the hub, with the gap of the next row. */
  readonly start: 0 | 1;
}

export interface Segment {
  /** The index in recording order. */
  readonly index: number;
  /** The time from `from`, up to but not including `to`. */
  readonly from: number;
  readonly to: number;
  /** The numbers of its changes: from `first`, up to but not including `last`. */
  readonly first: number;
  readonly last: number;
}

export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** A part of a segment that is valid for its time. */
export interface Piece extends Interval {
  readonly segment: Segment;
}

export class Segments {
  readonly #jumps: readonly RecordedJump[];
  readonly #all: readonly Segment[];
  /** Whether no time occurs twice, so times increase in recording order. */
  readonly isOrdered: boolean;

  /** `jumps` in recording order; `end`: the time up to which everything is recorded. */
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

  /** The newest segment. */
  get present(): Segment {
    return this.#all.at(-1)!;
  }

  /** Returns whether several segments overlap a range. */
  areSeveralIn({ from, to }: Interval): boolean {
    return this.#all.length > 1 && this.#all.filter((one) => one.from < to && from < one.to).length > 1;
  }

  /** Returns the segment of a change. */
  of(sequence: number): Segment {
    return this.#all.findLast(({ first }) => first <= sequence)!;
  }

  /** Returns the segment recorded before this one; undefined if it is the first. */
  before({ index }: Segment): Segment | undefined {
    return this.#all[index - 1];
  }

  /** Returns the valid pieces of a range, in order of time. Skipped times have no piece. */
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

  /** Returns the parts of a segment, in order of time. Parts with `isShared` overlap another segment. */
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

  /** Returns the index of the segment that contains a gap, by its row number; undefined if it is between two segments. */
  indexOfGap(row: number): number | undefined {
    const isBetween = this.#jumps.some(({ gap, start }) => start === 1 && gap === row - 1);
    return isBetween ? undefined : this.#jumps.filter(({ gap }) => gap < row).length;
  }

  /**
   * Returns the rest of a gap, by its row number. Later segments replace parts of a gap within a segment, and all segments replace
   * parts of a gap between two. If the clock was set back before a start of the hub, the gap has no length.
   */
  leftOf(gap: Interval, row: number): readonly Interval[] {
    const own = this.indexOfGap(row);
    if (gap.from === gap.to) return this.holdsAt(gap.from, own ?? this.#startAfter(row)) ? [gap] : [];
    return this.#all.filter(({ index }) => index > (own ?? -1)).reduce<readonly Interval[]>(without, [gap]);
  }

  /** Returns whether no segment after the given index covers a time. */
  holdsAt(time: number, place: number): boolean {
    return !this.#all.some(({ index, from, to }) => index > place && from <= time && time < to);
  }

  /** Returns the index of the segment that begins with the start of the hub whose gap has this row. */
  #startAfter(row: number): number {
    return this.#jumps.findLastIndex(({ gap, start }) => start === 1 && gap === row - 1) + 1;
  }
}

/** Returns the remaining parts of intervals. */
export function without(intervals: readonly Interval[], { from, to }: Interval): readonly Interval[] {
  return intervals.flatMap((one) => [
    ...(one.from < Math.min(one.to, from) ? [{ from: one.from, to: Math.min(one.to, from) }] : []),
    ...(Math.max(one.from, to) < one.to ? [{ from: Math.max(one.from, to), to: one.to }] : []),
  ]);
}
