// The changes that clients miss while they do not read, counted for many clients together (`Losses`) and for one client (`Missed`).

import type { Channel } from '../fan-out.ts';
import { definition, frameLength, isTrigger, itemOf } from './frames.ts';
import type { GroupChannel } from './outbox.ts';

/** The changes between the points at which one client and the next client stopped reading. */
export interface Segment {
  readonly counts: Map<GroupChannel, number>;
  readers: number;
}

/**
 * Many clients may miss the same changes. Such changes are counted once, in segments that begin where a client stopped reading. A client
 * has missed its segment and all following segments.
 */
export class Losses {
  /**
   * The segments, oldest first. The first segment has a reader. Their number is bounded by the number of clients that do not read, and the
   * size of the segments by the group (`size`).
   */
  readonly #segments: Segment[] = [];

  /** Whether any client misses the counted changes. */
  get isOpen(): boolean {
    return this.#segments.length > 0;
  }

  /** The number of counts in all segments. */
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

  /** Counts changes that all current readers miss. */
  count(channels: Iterable<GroupChannel>): void {
    const counts = this.#segments.at(-1)?.counts;
    if (counts !== undefined) for (const channel of channels) counts.set(channel, (counts.get(channel) ?? 0) + 1);
  }

  /** Stops counting for a client; returns the changes that the client has missed. */
  take(segment: Segment): Map<GroupChannel, number> {
    const place = this.#segments.indexOf(segment);
    const missed = new Map<GroupChannel, number>();
    for (const { counts } of this.#segments.slice(place)) addTo(missed, counts);
    if (--segment.readers === 0) this.#remove(place);
    return missed;
  }

  /** Removes a segment without readers; its counts still apply to earlier segments. */
  #remove(place: number): void {
    const [segment] = this.#segments.splice(place, 1);
    const before = this.#segments[place - 1];
    if (before !== undefined) addTo(before.counts, segment!.counts);
  }
}

function addTo(sums: Map<GroupChannel, number>, counts: ReadonlyMap<GroupChannel, number>): void {
  for (const [channel, count] of counts) sums.set(channel, (sums.get(channel) ?? 0) + count);
}

/** Parts of frames: definitions, counts such as `"9":3`, and values. */
interface MissedParts {
  readonly definitions: readonly string[];
  readonly lost: readonly string[];
  /** The numbers of lost value changes and of lost fires. */
  readonly lostValues: number;
  readonly lostFires: number;
  readonly items: readonly string[];
}

// Most clients never miss anything.
const nothing: ReadonlyMap<Channel, number> = new Map();

/**
 * The changes that one client has missed and that have not been reported yet: the number of lost changes, and the parameters whose newest
 * value it needs.
 */
export class Missed {
  /**
   * The number of lost changes by channel. The group bounds the number of counts by closing the clients that have been full for longest.
   */
  #counts: Map<Channel, number> | undefined = undefined;

  get size(): number {
    return this.#counts?.size ?? 0;
  }

  /** The number of fires that the client has missed. */
  get fires(): number {
    let fires = 0;
    for (const [{ parameter }, count] of this.#counts ?? nothing) if (isTrigger(parameter)) fires += count;
    return fires;
  }

  /** Counts changes. If the client wants only the newest value of a parameter, the count stays at one. */
  note({ channel, outbox }: GroupChannel, count: number): void {
    const isCounted = isTrigger(channel.parameter) || outbox.delivery === 'all';
    this.#counts ??= new Map();
    this.#counts.set(channel, isCounted ? (this.#counts.get(channel) ?? 0) + count : 1);
  }

  clear(): void {
    this.#counts = undefined;
  }

  /** Takes out about as much as fits into a frame, and forgets parameters that are no longer wanted. */
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
