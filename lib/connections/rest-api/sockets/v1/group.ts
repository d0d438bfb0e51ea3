// Clients with the same subscriptions. A change is kept and encoded once for all clients in the group, in the outbox of the matching
// subscription with the most frequent delivery. The same bytes are sent to all live members. A member whose socket is full falls back, and
// no other member waits for it.

import type { Parameter } from '../../../../model/parameter.ts';
import { limits } from '../../limits/client-limits.ts';
import type { Channel, Subscriber } from '../fan-out.ts';
import type { Client, LateClients } from './client.ts';
import type { Sources } from './client-catch-up.ts';
import { frameLength } from './frames.ts';
import { Losses } from './losses.ts';
import { fireFrames, type Handover, isFire, type Members, Membership, type Standing } from './membership.ts';
import { type Batch, GroupChannel, type Outbox, Outboxes, Packer, type Ticker } from './outbox.ts';
import type { Subscription } from './subscription.ts';

/**
 * The maximum number of counts of missed changes in a group. Beyond this number, the group closes the clients that have been full for
 * longest.
 */
const maxMissed = limits.missedChanges.default;

/**
 * The maximum time per flush for sending long strings to live members, in milliseconds. Beyond this time, the other live members get the
 * frames in a later round.
 */
const mostAtOnceMs = 4;

/** Closes a client that reads too slowly, and counts a hit for the limit that the client exceeded. */
export type GiveUp = (client: Client, limit: 'stallMs' | 'unsentFrames' | 'missedChanges') => void;

/** The objects that all groups of a server share. */
export interface GroupContext extends Sources {
  readonly tickerOf: (rate: number) => Ticker;
  /** Notifies clients of added and removed parameters. Call this before any other frame about these parameters is sent. */
  sendStructure(): void;
  readonly giveUp: GiveUp;
  readonly late: LateClients;
}

/** Members that are not live, and that get or miss the same part of a flush. */
interface Variant {
  /** The members get the waiting changes after this revision; undefined if they get only fires, or miss the whole flush. */
  readonly from: number | undefined;
  readonly packer: Packer;
  readonly members: Membership[];
}

/** The members that miss batches of a flush, each with the index of the first batch that it misses. */
type Missing = [member: Membership, first: number][];

export class Group implements Subscriber {
  /** The key of the group, which is equal for clients with the same subscriptions. */
  readonly key: string;
  readonly #outboxes: Outboxes;
  readonly #live = new Set<Membership>();
  /** The members that are not live: fresh, extending, catching up or behind. */
  readonly #apart = new Set<Membership>();
  readonly #losses = new Losses();
  readonly #shared: Members;
  readonly #context: GroupContext;

  constructor(key: string, subscriptions: Iterable<Subscription>, context: GroupContext) {
    this.key = key;
    this.#context = context;
    const { hub, fanOut, tickerOf } = context;
    const outboxes = new Outboxes(subscriptions, { hub, tickerOf, flush: (outbox) => this.#flush([outbox]) });
    this.#outboxes = outboxes;
    this.#shared = { hub, fanOut, outboxes, losses: this.#losses, move: (member, to) => this.#move(member, to) };
  }

  matches(parameter: Parameter): boolean {
    return this.#outboxes.matches(parameter);
  }

  observe(channel: Channel): GroupChannel {
    return new GroupChannel(this, channel, this.#outboxes.of(channel.parameter));
  }

  get isEmpty(): boolean {
    return this.#live.size === 0 && this.#apart.size === 0;
  }

  members(): Membership[] {
    return [...this.#live, ...this.#apart];
  }

  enter(client: Client, handover: Handover): Membership {
    return new Membership(client, this.#shared, handover);
  }

  /** Sends all changes that are waiting in the group. */
  flush(): void {
    this.#flush(this.#outboxes.due);
  }

  /** Sends a frame about added or removed parameters to all members; full clients get the frame later. */
  sendToAll(frame: string): void {
    for (const { client } of this.members())
      if (!client.sendOrKeep(frame)) this.#context.giveUp(client, 'unsentFrames');
  }

  #move(member: Membership, to: Standing): void {
    if (to !== 'live') this.#live.delete(member);
    if (to !== 'apart') this.#apart.delete(member);
    if (to === 'live') this.#live.add(member);
    if (to === 'apart') this.#apart.add(member);
  }

  #flush(outboxes: readonly Outbox[]): void {
    this.#context.sendStructure();
    const due = outboxes.filter(({ oldest }) => oldest !== undefined);
    if (due.length === 0) return;
    const before = this.#outboxes.sent;
    const shared = new Packer();
    const isExact = due.some((outbox) => outbox.isExact);
    const variants = this.#variants(shared, before, isExact);
    for (const [index, outbox] of due.entries()) {
      const span = {
        before: this.#outboxes.sentWith(due.slice(0, index)),
        after: this.#outboxes.sentWith(due.slice(0, index + 1)),
      };
      outbox.encode(shared, span, -1);
      for (const { from, packer } of variants) if (from !== undefined) outbox.encode(packer, undefined, from);
    }
    for (const outbox of due) outbox.clear();
    this.#deliver(shared, variants, before);
    this.#bound();
  }

  /**
   * Groups the members that are not live by what they get of a flush. Members whose losses are counted together with those of other members
   * get nothing.
   */
  #variants(shared: Packer, before: number, isExact: boolean): Variant[] {
    const variants = new Map<number | undefined, Variant>();
    for (const member of this.#apart) {
      if (member.isCounted) continue;
      const from = member.startOf(before, isExact);
      let variant = variants.get(from);
      if (variant === undefined) {
        variant = { from, packer: from === undefined ? shared : new Packer(), members: [] };
        variants.set(from, variant);
      }
      variant.members.push(member);
    }
    return [...variants.values()];
  }

  /** Sends each member its part of a flush, and counts the changes that members miss. */
  #deliver(shared: Packer, variants: readonly Variant[], before: number): void {
    const { batches } = shared;
    const missing: Missing = [];
    for (const { from, members } of variants) if (from === undefined) sendFires(members, batches, missing);
    const untilMs = isLong(batches) ? performance.now() + mostAtOnceMs : undefined;
    for (const member of this.#live) {
      if (untilMs !== undefined && performance.now() >= untilMs) this.#context.late.add(member.client);
      const taken = member.send(shared);
      if (taken === batches.length) continue;
      member.fallBack(before);
      missing.push([member, taken]);
    }
    this.#countMissing(batches, missing);
    for (const { from, packer, members } of variants)
      for (const member of members) {
        if (from !== undefined) member.sendOwn(packer, before);
        member.settle();
      }
  }

  /** Counts the changes that members miss: all changes if any subscription of the group wants every change, otherwise only fires. */
  #countMissing(batches: readonly Batch[], missing: Missing): void {
    if (missing.length === 0 && !this.#losses.isOpen) return;
    const { isExact } = this.#outboxes;
    for (const [index, { channels }] of batches.entries()) {
      for (const [member, first] of missing) if (first === index) member.count();
      this.#losses.count(isExact ? channels : channels.filter(isFire));
    }
  }

  /** Closes the clients that have been full for longest, until the number of counts of missed changes is within `maxMissed`. */
  #bound(): void {
    if (this.#apart.size === 0) return;
    const losses = this.#losses;
    const waiting = [...this.#apart].map(({ client }) => client).filter(({ isFull }) => isFull);
    let size = waiting.reduce((sum, { missed }) => sum + missed.size, losses.size);
    if (size <= maxMissed) return;
    waiting.sort((one, other) => one.fullSinceMs! - other.fullSinceMs!);
    for (const client of waiting) {
      const counted = losses.size;
      const own = client.missed.size;
      this.#context.giveUp(client, 'missedChanges');
      size -= own + counted - losses.size;
      if (size <= maxMissed) break;
    }
  }
}

/**
 * Sends the firings in batches to members that are catching up, or adds members that are full to `missing`. Members that are behind miss
 * everything.
 */
function sendFires(members: readonly Membership[], batches: readonly Batch[], missing: Missing): void {
  const frames = fireFrames(batches);
  for (const member of members) {
    if (member.name === 'behind') member.miss(batches);
    else if (frames.length > 0 && member.client.isFull) missing.push([member, 0]);
    else if (frames.length > 0) member.client.sendAll(frames);
  }
}

/**
 * Returns whether batches contain long strings. Sending long strings to clients that do not read takes ten times as long, because the
 * operating system keeps a copy for each client.
 */
function isLong(batches: readonly Batch[]): boolean {
  return batches.some(({ bytes }) => bytes > 2 * frameLength);
}
