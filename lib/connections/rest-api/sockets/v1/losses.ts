// The changes that clients miss while they do not read, counted for many clients together (`Losses`) and for one client (`Missed`).

import type { Channel } from '../fan-out.ts';
import { definition, frameLength, isTrigger, itemOf } from './frames.ts';
import type { GroupChannel } from './outbox.ts';

/**
 * The changes that clients missed from the point where one client stopped reading to the point where the next client did, with the number
 * of changes per channel.
 */
export interface Segment {
  readonly counts: Map<GroupChannel, number>;
  readers: number;
}

/**
 * Counts changes that many clients miss together. Such changes are counted once, in segments that begin where a client stopped reading. A
 * client has missed its segment and all following segments.
 */
export class Losses {
  /**
   * The segments, oldest first. The first segment has a reader. The number of segments is bounded by the number of clients that do not
   * read, and their size by the group (`size`).
   */
  readonly #segments: Segment[] = [];

  /** Whether at least one client misses the changes that are counted. */
  get isOpen(): boolean {
    return this.#segments.length > 0;
  }

  /** The number of counts in all segments together. */
  get size(): number {
    return this.#segments.reduce((size, { counts }) => size + counts.size, 0);
  }

  /** Begins to count for a client, and returns its segment. */
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

  /** Counts changes that all clients with a segment miss. */
  count(channels: Iterable<GroupChannel>): void {
    const counts = this.#segments.at(-1)?.counts;
    if (counts !== undefined) for (const channel of channels) counts.set(channel, (counts.get(channel) ?? 0) + 1);
  }

  /** Ends counting for the client of a segment; returns the number of changes that the client has missed, keyed by channel. */
  take(segment: Segment): Map<GroupChannel, number> {
    const place = this.#segments.indexOf(segment);
    const missed = new Map<GroupChannel, number>();
    for (const { counts } of this.#segments.slice(place)) addTo(missed, counts);
    if (--segment.readers === 0) this.#remove(place);
    return missed;
  }

  /** Removes a segment without readers. Its counts are added to the segment before it. */
  #remove(place: number): void {
    const [segment] = this.#segments.splice(place, 1);
    const before = this.#segments[place - 1];
    if (before !== undefined) addTo(before.counts, segment!.counts);
  }
}

function addTo(sums: Map<GroupChannel, number>, counts: ReadonlyMap<GroupChannel, number>): void {
  for (const [channel, count] of counts) sums.set(channel, (sums.get(channel) ?? 0) + count);
}

/** The encoded parts of the frames that report missed changes: definitions, counts such as `"9":3`, and values. */
interface MissedParts {
  readonly definitions: readonly string[];
  readonly lost: readonly string[];
  /** The number of value changes and the number of firings that are lost. */
  readonly lostValues: number;
  readonly lostFires: number;
  readonly items: readonly string[];
}

// Shared by all clients, most of which never miss anything.
const nothing: ReadonlyMap<Channel, number> = new Map();

/**
 * The changes that one client has missed and that have not been reported to the client: the number of lost changes, and the parameters
 * whose newest value the client needs.
 */
export class Missed {
  /**
   * The number of missed changes, keyed by channel. The group bounds the number of counts by closing the clients that have been full for
   * longest.
   */
  #counts: Map<Channel, number> | undefined = undefined;

  get size(): number {
    return this.#counts?.size ?? 0;
  }

  /** The number of firings that the client has missed. */
  get fires(): number {
    let fires = 0;
    for (const [{ parameter }, count] of this.#counts ?? nothing) if (isTrigger(parameter)) fires += count;
    return fires;
  }

  /** Counts missed changes to a parameter. If the client wants only the newest value of the parameter, the count stays at one. */
  note({ channel, outbox }: GroupChannel, count: number): void {
    const isCounted = isTrigger(channel.parameter) || outbox.delivery === 'all';
    this.#counts ??= new Map();
    this.#counts.set(channel, isCounted ? (this.#counts.get(channel) ?? 0) + count : 1);
  }

  clear(): void {
    this.#counts = undefined;
  }

  /**
   * Removes and returns about as many missed changes as fit into a frame. Changes of parameters that are no longer wanted are dropped. With
   * `isDefined`, no definitions are returned.
   */
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
      const countLost = isState ? count - 1 : count; // the newest value is sent as well
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
