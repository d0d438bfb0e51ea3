// Counts the changes that clients miss while they do not read. Many may miss the same at once: what is missed is counted once,
// in segments that begin where somebody stopped; a client has missed its segment and all that follow.

import type { GroupChannel } from '../outboxes/group-channel.ts';

/** What was missed from where a client stopped up to where the next one did. */
export interface Segment {
  readonly counts: Map<GroupChannel, number>;
  readers: number;
}

export class Losses {
  /** Oldest first; the first has a reader. Bounded by the number of clients that do not read, and see `size`. */
  readonly #segments: Segment[] = [];

  /** Whether there is anybody who misses what is counted. */
  get isOpen(): boolean {
    return this.#segments.length > 0;
  }

  /** How many counts are held. */
  get size(): number {
    return this.#segments.reduce((size, { counts }) => size + counts.size, 0);
  }

  /** Begins to count for a client. */
  open(): Segment {
    const last = this.#segments.at(-1);
    if (last?.counts.size === 0) {
      last.readers++;
      return last;
    }
    const segment = { counts: new Map(), readers: 1 };
    this.#segments.push(segment);
    return segment;
  }

  /** Counts changes that those who do not read miss. */
  count(channels: Iterable<GroupChannel>): void {
    const counts = this.#segments.at(-1)?.counts;
    if (counts !== undefined) for (const channel of channels) counts.set(channel, (counts.get(channel) ?? 0) + 1);
  }

  /** Ends the counting for a client and returns what it has missed. */
  take(segment: Segment): Map<GroupChannel, number> {
    const place = this.#segments.indexOf(segment);
    const missed = new Map<GroupChannel, number>();
    for (const { counts } of this.#segments.slice(place)) addTo(missed, counts);
    if (--segment.readers === 0) this.#remove(place);
    return missed;
  }

  /** Takes out a segment that nobody begins with; its counts still belong to those before it. */
  #remove(place: number): void {
    const [segment] = this.#segments.splice(place, 1);
    const before = this.#segments[place - 1];
    if (before !== undefined) addTo(before.counts, segment!.counts);
  }
}

function addTo(sums: Map<GroupChannel, number>, counts: ReadonlyMap<GroupChannel, number>): void {
  for (const [channel, count] of counts) sums.set(channel, (sums.get(channel) ?? 0) + count);
}
