// Time as it was recorded: the clock may have jumped, and then a time comes twice, or never. Between two jumps, a segment, time and the
// order of what was recorded are one. Where segments have a time in common, the newest says what was then.

/** Before the first change of this number the clock has jumped. */
export interface RecordedJump {
  readonly sequence: number;
  /** What it would have shown then, and what it showed, in milliseconds since 1970. */
  readonly before: number;
  readonly after: number;
  /** The gaps up to this row had been written by then. */
  readonly gap: number;
  /** 1: it is a start of the hub, with the gap of the next row. */
  readonly start: 0 | 1;
}

export interface Segment {
  /** Its place in the order in which segments were recorded. */
  readonly index: number;
  /** The time from `from` until before `to`. */
  readonly from: number;
  readonly to: number;
  /** The numbers of its changes: from `first` until before `last`. */
  readonly first: number;
  readonly last: number;
}

export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** A part of a segment that says what was then. */
export interface Piece extends Interval {
  readonly segment: Segment;
}

export class Segments {
  readonly #jumps: readonly RecordedJump[];
  readonly #all: readonly Segment[];
  /** Whether no time comes twice: then the order of times is that in which changes were recorded. */
  readonly isOrdered: boolean;

  /** Jumps in the order in which they were; `end`: up to when all is recorded. */
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

  /** The newest. */
  get present(): Segment {
    return this.#all.at(-1)!;
  }

  /** Whether several segments have to do with a time. */
  areSeveralIn({ from, to }: Interval): boolean {
    return this.#all.length > 1 && this.#all.filter((one) => one.from < to && from < one.to).length > 1;
  }

  /** The segment that a change was recorded in. */
  of(sequence: number): Segment {
    return this.#all.findLast(({ first }) => first <= sequence)!;
  }

  /** The one that was recorded before it; undefined: it is the first. */
  before({ index }: Segment): Segment | undefined {
    return this.#all[index - 1];
  }

  /** Who says what was in a range, in the order of time. Of a time that never was nobody does. */
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

  /** The parts of a segment, in the order of time, of which `isShared` ones have a time in common with another segment. */
  partsOf(segment: Segment, range: Interval): readonly (Interval & { readonly isShared: boolean })[] {
    const own = [{ from: Math.max(range.from, segment.from), to: Math.min(range.to, segment.to) }];
    const others = this.#all.filter(({ index }) => index !== segment.index);
    const alone = others.reduce<readonly Interval[]>(without, own);
    const shared = alone.reduce<readonly Interval[]>(without, own);
    return [...alone.map((one) => ({ ...one, isShared: false })), ...shared.map((one) => ({ ...one, isShared: true }))]
      .filter(({ from, to }) => from < to)
      .sort((one, other) => one.from - other.from);
  }

  /** Whether a segment begins with a start of the hub. */
  isStart({ index }: Segment): boolean {
    return this.#jumps[index - 1]?.start === 1;
  }

  /** The place of the segment that a gap is in, by the number of its row; undefined: it is between two of them. */
  indexOfGap(row: number): number | undefined {
    const isBetween = this.#jumps.some(({ gap, start }) => start === 1 && gap === row - 1);
    return isBetween ? undefined : this.#jumps.filter(({ gap }) => gap < row).length;
  }

  /**
   * What is left of a gap whose row has this number: where it is in a segment, those that came later say what was then, and where it is
   * between two of them all others. Where the clock was set back before a start of the hub it is a moment.
   */
  leftOf(gap: Interval, row: number): readonly Interval[] {
    const own = this.indexOfGap(row);
    if (gap.from === gap.to) return this.holdsAt(gap.from, own ?? this.#startAfter(row)) ? [gap] : [];
    return this.#all.filter(({ index }) => index > (own ?? -1)).reduce<readonly Interval[]>(without, [gap]);
  }

  /** Whether no segment that came after one of this place says what was at a time. */
  holdsAt(time: number, place: number): boolean {
    return !this.#all.some(({ index, from, to }) => index > place && from <= time && time < to);
  }

  /** The place of the segment that begins with the start of the hub whose gap has this row. */
  #startAfter(row: number): number {
    return this.#jumps.findLastIndex(({ gap, start }) => start === 1 && gap === row - 1) + 1;
  }
}

function without(intervals: readonly Interval[], { from, to }: Interval): readonly Interval[] {
  return intervals.flatMap((one) => [
    ...(one.from < Math.min(one.to, from) ? [{ from: one.from, to: Math.min(one.to, from) }] : []),
    ...(Math.max(one.from, to) < one.to ? [{ from: Math.max(one.from, to), to: one.to }] : []),
  ]);
}
