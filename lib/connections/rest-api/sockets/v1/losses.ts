// The changes that clients miss while they do not read: counted for many at once (`Losses`), and for one client (`Missed`).

import type { Channel } from '../fan-out.ts';
import { definition, frameLength, isTrigger, itemOf } from './frames.ts';
import type { GroupChannel } from './outbox.ts';

/** What was missed from where a client stopped up to where the next one did. */
export interface Segment {
  readonly counts: Map<GroupChannel, number>;
  readers: number;
}

/**
 * Many may miss the same at once. What is missed is counted once, in segments that begin where somebody stopped; a client has missed its
 * segment and all that follow.
 */
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

/** Parts of a frame each: definitions, counts as `"9":3`, values. */
interface MissedParts {
  readonly definitions: readonly string[];
  readonly lost: readonly string[];
  /** How many changes of values, and fires of triggers, that are. */
  readonly lostValues: number;
  readonly lostFires: number;
  readonly items: readonly string[];
}

// Most clients never miss anything.
const nothing: ReadonlyMap<Channel, number> = new Map();

/** What one client has missed and was not told yet. It is told how many changes were lost, and the newest value of each parameter. */
export class Missed {
  /** Bounded by the members of its group, which give up whoever holds most. */
  #counts: Map<Channel, number> | undefined = undefined;

  get size(): number {
    return this.#counts?.size ?? 0;
  }

  /** How many fires of triggers that are. */
  get fires(): number {
    let fires = 0;
    for (const [{ parameter }, count] of this.#counts ?? nothing) if (isTrigger(parameter)) fires += count;
    return fires;
  }

  /** Counts changes. Of a parameter of which a client wants the newest value alone, one is enough. */
  note({ channel, outbox }: GroupChannel, count: number): void {
    const isCounted = isTrigger(channel.parameter) || outbox.delivery === 'all';
    this.#counts ??= new Map();
    this.#counts.set(channel, isCounted ? (this.#counts.get(channel) ?? 0) + count : 1);
  }

  clear(): void {
    this.#counts = undefined;
  }

  /** Takes about as much as fits into a frame; parameters that are not `wanted` any more are forgotten. */
  take(isWanted: (channel: Channel) => boolean, isDefined: boolean): MissedParts {
    const parts = {
      definitions: [] as string[],
      lost: [] as string[],
      lostValues: 0,
      lostFires: 0,
      items: [] as string[],
    };
    let length = 0;
    for (const [channel, count] of this.#counts ?? nothing) {
      this.#counts!.delete(channel);
      if (!isWanted(channel)) continue;
      const { id, parameter } = channel;
      const isState = !isTrigger(parameter);
      const countLost = isState ? count - 1 : count; // the newest value follows
      if (countLost > 0) parts.lost.push(`"${id}":${countLost}`);
      parts[isState ? 'lostValues' : 'lostFires'] += countLost;
      if (isState) parts.items.push(itemOf(channel, parameter.value!, parameter.lastChange!.revision));
      if (!isDefined) parts.definitions.push(definition(channel));
      length += 20 + (parts.items.at(-1)?.length ?? 0) + (parts.definitions.at(-1)?.length ?? 0);
      if (length >= frameLength) break;
    }
    if (this.size === 0) this.clear();
    return parts;
  }
}
