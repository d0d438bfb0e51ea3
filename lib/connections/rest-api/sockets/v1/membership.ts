// The progress of a group member in its subscriptions. A member is in one of these states:
//
//   enter ──▶ catching up ──finish──▶ fresh ──settle──▶ live
//                  ▲                    │                 │
//                  ├──── fall back ◀────┴─── no room ─────┤ (newest values are wanted)
//   extending ◀─recover─ behind ◀─── fall back ───────────┘ (every change is wanted)
//
// Three more transitions: extending ──finish──▶ fresh, and a fall back from extending if there is no room. A client that changes its
// subscriptions leaves its group from any state and enters another group: as extending if it had everything, otherwise as behind or
// catching up. Whether a socket is full (`Client.isFull`) does not depend on the state: a live client may be full until the next flush,
// and a client that is catching up may or may not be full.

import type { Channel } from '../fan-out.ts';
import type { Client } from './client.ts';
import { CatchUp, type Snapshot, type Sources, type Stopped, withOthers } from './client-catch-up.ts';
import { cut, defFrame, definition, encode, firedFrame, isTrigger, lostFrame, setFrame } from './frames.ts';
import type { Losses, Segment } from './losses.ts';
import { type Batch, type GroupChannel, type Outboxes, Packer } from './outbox.ts';

/** The state that a client brings along when it moves to another group. */
export interface Handover {
  /**
   * `everything`: the client lacks nothing; `counts`: the client's missed changes have been counted; `nothing`: only snapshots supply the
   * client's missed values.
   */
  readonly has: 'everything' | 'counts' | 'nothing';
  /**
   * The time at which the client stopped being live, in milliseconds on the monotonic clock; undefined if the client was live or had no
   * subscription.
   */
  readonly sinceMs: number | undefined;
  readonly snapshots: readonly Snapshot[];
  readonly ends: readonly number[];
}

/** The list in which a group keeps a member: the live members, the other members, or neither. */
export type Standing = 'live' | 'apart' | 'left';

/** The objects that all members of a group share. */
export interface Members extends Sources {
  readonly outboxes: Outboxes;
  readonly losses: Losses;
  /** Moves a member to another list of the group. */
  move(member: Membership, to: Standing): void;
}

/** The state of a member that receives the flushes of the group, and has received all earlier flushes. */
interface Live {
  readonly name: 'live';
}

/**
 * The state of a member that has everything up to the revision `from`. Older changes may still wait in the group; the member receives only
 * later changes, without revisions.
 */
interface Fresh {
  readonly name: 'fresh';
  readonly from: number;
}

/**
 * The state of a member that gets the values for all of its subscriptions from snapshots. From the group's flushes, the member gets only
 * the firings.
 */
interface CatchingUp {
  readonly name: 'catching up';
  /** The member does not get waiting changes up to this revision. */
  from: number;
  readonly catchUp: CatchUp;
  /** The time at which the member stopped being live, in milliseconds on the monotonic clock. */
  readonly sinceMs: number;
  /** Counts the firings that the member misses while its socket is full; undefined if the member misses none. */
  segment: Segment | undefined;
}

/**
 * The state of a member that gets the values for its new subscriptions from snapshots, up to the revision `from`. The member gets later
 * changes with the group's flushes, without revisions.
 */
interface Extending {
  readonly name: 'extending';
  readonly from: number;
  readonly catchUp: CatchUp;
}

/**
 * The state of a member that does not read, and wants every change. The missed changes are counted, and are reported when the member reads
 * again; its state then becomes `Extending`.
 */
interface Behind {
  readonly name: 'behind';
  from: number;
  readonly catchUp: CatchUp;
  readonly sinceMs: number;
  /**
   * Counts the member's missed changes together with the missed changes of other members. Undefined if some of the waiting changes are not
   * for this member; its missed changes are then counted separately.
   */
  segment: Segment | undefined;
}

/** The state of a member that has left the group. */
interface Left {
  readonly name: 'left';
}

type State = CatchingUp | Extending | Behind | Fresh | Live | Left;

/** A revision before all waiting changes. */
const all = -1;

export class Membership {
  readonly client: Client;
  readonly #members: Members;
  #state: State;

  /** Adds a client to the group. The client gets the snapshots in its own slices. */
  constructor(client: Client, members: Members, { has, sinceMs = performance.now(), snapshots, ends }: Handover) {
    this.client = client;
    this.#members = members;
    members.move(this, 'apart');
    const from = members.hub.revision;
    const catchUp = new CatchUp(members, snapshots, ends);
    if (has === 'everything') this.#state = { name: 'extending', from, catchUp };
    else if (has === 'counts') this.#state = this.#lagging({ from, catchUp, sinceMs }, from);
    else this.#state = { name: 'catching up', from, catchUp, sinceMs, segment: undefined };
  }

  get name(): State['name'] {
    return this.#state.name;
  }

  /**
   * The time at which the member began to catch up or fell behind, in milliseconds on the monotonic clock; undefined in all other states.
   */
  get sinceMs(): number | undefined {
    return 'sinceMs' in this.#state ? this.#state.sinceMs : undefined;
  }

  /** Whether the member lacks newer values that snapshots or missed changes will supply. */
  get lacksValues(): boolean {
    return this.#state.name === 'catching up' || this.#state.name === 'behind';
  }

  /** Whether the member has the definitions of all parameters that its subscriptions match. */
  get isDefined(): boolean {
    return !this.client.hasResumed && !this.#isBeingDefined;
  }

  /** Whether the member's missed changes are counted together with the missed changes of other members. */
  get isCounted(): boolean {
    return 'segment' in this.#state && this.#state.segment !== undefined;
  }

  /**
   * Returns the revision after which the member gets waiting changes; undefined if the member gets only fires, or misses everything.
   * `before` is the revision up to which everything has been sent. Changes that must not be sent twice (`isExact`) are encoded for this
   * member alone as long as waiting changes are not for this member.
   */
  startOf(before: number, isExact: boolean): number | undefined {
    const state = this.#state;
    if (isExact && 'from' in state && state.from > before) return state.from;
    return state.name === 'fresh' || state.name === 'extending' ? all : undefined;
  }

  /**
   * Removes a client that moves to another group, and returns what it brings along. The client gets waiting changes while its socket has
   * space, and misses the rest.
   */
  take(): Handover {
    const state = this.#state;
    let has: Handover['has'] = 'everything';
    if (state.name === 'behind') {
      this.#missWaiting(state);
      has = 'counts';
    } else if (state.name === 'catching up') {
      this.#gather(state);
      this.#sendWaiting(state.from);
      has = 'nothing';
    } else if (!this.#sendWaiting('from' in state ? state.from : all)) has = 'counts';
    this.#leave();
    const { remaining = [], ends = [] } = 'catchUp' in state ? state.catchUp : {};
    return { has, sinceMs: 'sinceMs' in state ? state.sinceMs : undefined, snapshots: remaining, ends };
  }

  /** Removes a client that has disconnected or is about to disconnect, and counts the firings that it will not get as lost. */
  lose(): void {
    const state = this.#state;
    if (state.name === 'behind' || state.name === 'catching up') this.#gather(state);
    this.#leave();
    this.#members.fanOut.lost.fires += this.client.missed.fires;
    this.client.missed.clear();
  }

  /**
   * Works for the client until `endMs`; returns whether the work can continue immediately. Once the client has the values, `reportStale`
   * reports which values are stale and which are fresh again.
   */
  advance(endMs: number, reportStale: (member: Membership, endMs: number) => Stopped): boolean {
    const { client } = this;
    if (this.#state.name === 'behind') this.#recover(this.#state);
    const state = this.#state;
    if (state.name === 'catching up') {
      this.#gather(state);
      this.#sendMissed();
    }
    if (client.isFull || state.name === 'behind') return false;
    const isOnItsWay = state.name === 'catching up' || state.name === 'extending';
    const last = state.name === 'extending' ? state.from : Number.POSITIVE_INFINITY; // the outboxes supply the rest
    let stopped = isOnItsWay ? state.catchUp.run(client, last, endMs) : 'done';
    if (stopped === 'done') stopped = reportStale(this, endMs);
    if (stopped === 'done' && isOnItsWay && !client.mayWantMore) this.#finish(state);
    return stopped === 'more';
  }

  /** Sends batches, with the definitions that the client lacks, until the socket is full; returns the number of batches sent. */
  send({ batches, leastPrevious }: Packer): number {
    const { client } = this;
    const lacksAll = this.#isBeingDefined;
    const lacksSome = lacksAll || client.mayLack(leastPrevious);
    let next = 0;
    for (; next < batches.length && !client.isFull; next++) {
      const { frames, channels } = batches[next]!;
      if (lacksSome)
        for (const definitions of cut(definitionsOf(lacksAll ? channels : channels.filter((one) => client.lacks(one)))))
          client.send(defFrame(definitions));
      client.sendAll(frames);
    }
    return next;
  }

  /** Sends a member that is not live its own frames of a flush. The client misses frames that do not fit. */
  sendOwn(packer: Packer, before: number): void {
    const { name } = this.#state;
    if (name === 'fresh' || name === 'extending') {
      const taken = this.send(packer);
      if (taken === packer.batches.length) return;
      this.fallBack(before);
      this.miss(packer.batches.slice(taken));
    } else if (name === 'catching up' && !this.client.isFull) this.client.sendAll(fireFrames(packer.batches));
    else this.miss(packer.batches);
  }

  /**
   * Leaves the live, fresh or extending state because a flush does not fit. The client has everything up to the revision `complete`; the
   * caller has to count the rest of the flush, or note it with `miss`.
   */
  fallBack(complete: number): void {
    const state = this.#state;
    const from = 'from' in state ? state.from : all;
    this.#members.move(this, 'apart');
    const catchUp = state.name === 'extending' ? state.catchUp : new CatchUp(this.#members, [], []);
    this.#state = this.#lagging({ from, catchUp, sinceMs: performance.now() }, Math.max(complete, from));
  }

  /** Notes the changes in batches as missed. If the client is catching up, only firings are noted, because snapshots supply the values. */
  miss(batches: readonly Batch[]): void {
    const onlyFires = this.#state.name === 'catching up';
    for (const { channels } of batches)
      for (const channel of channels) if (!onlyFires || isFire(channel)) this.client.missed.note(channel, 1);
  }

  /** Begins to count the client's missed changes together with the missed changes of other members. */
  count(): void {
    if ('segment' in this.#state) this.#state.segment ??= this.#members.losses.open();
  }

  /**
   * Once all changes that were waiting when the client entered have been sent, makes a fresh client live, or counts the losses of a client
   * that is behind together with those of other members.
   */
  settle(): void {
    const state = this.#state;
    const { sent } = this.#members.outboxes;
    if (!('from' in state) || state.from > sent) return;
    if (state.name === 'behind') this.count();
    if (state.name !== 'fresh') return;
    this.#goLive();
    this.client.send(setFrame('', sent));
  }

  /** Whether some definitions of the member's parameters may not have been sent yet. */
  get #isBeingDefined(): boolean {
    const state = this.#state;
    return state.name === 'catching up' || ('catchUp' in state && !state.catchUp.isEmpty);
  }

  /**
   * Returns the state of a client that cannot keep up. If the group wants every change, the missed changes are counted; otherwise,
   * snapshots supply the changes after the revision `complete`.
   */
  #lagging(how: Pick<Behind, 'from' | 'catchUp' | 'sinceMs'>, complete: number): Behind | CatchingUp {
    if (this.#members.outboxes.isExact) return { name: 'behind', ...how, segment: undefined };
    const snapshots = withOthers(how.catchUp.remaining, this.client.subscriptions, complete);
    const catchUp = new CatchUp(this.#members, snapshots, how.catchUp.ends);
    return { name: 'catching up', ...how, catchUp, segment: undefined };
  }

  /** Reports the missed changes to a client that has begun to read again. */
  #recover(behind: Behind): void {
    this.#missWaiting(behind);
    behind.from = this.#members.hub.revision;
    this.#sendMissed();
    if (this.client.missed.size > 0) this.settle();
    else this.#state = { name: 'extending', from: behind.from, catchUp: behind.catchUp };
  }

  /** Sends the waiting changes, which are all that the client still lacks, and then the revision. */
  #finish({ from, catchUp }: CatchingUp | Extending): void {
    const { client } = this;
    const { revision } = this.#members.hub;
    if (!this.#sendWaiting(from)) {
      if (this.#state.name === 'catching up') this.#state.from = revision;
      else this.#state = this.#lagging({ from: revision, catchUp, sinceMs: performance.now() }, revision);
      return;
    }
    for (const id of catchUp.ends) client.send(encode({ end: id, rev: revision }));
    if (catchUp.ends.length === 0) client.send(setFrame('', revision));
    this.#state = { name: 'fresh', from: revision };
    if (revision <= this.#members.outboxes.sent) this.#goLive();
  }

  /**
   * Sends the waiting changes after the revision `from`, and notes changes that do not fit as missed. Returns whether all changes were
   * sent.
   */
  #sendWaiting(from: number): boolean {
    const packer = new Packer();
    this.#members.outboxes.encode(packer, from, this.#state.name === 'catching up');
    const taken = this.send(packer);
    this.miss(packer.batches.slice(taken));
    return taken === packer.batches.length;
  }

  /** Sends the missed changes that the client still wants, one frame of each kind at a time, while the socket has space. */
  #sendMissed(): void {
    const { client } = this;
    const { hub, fanOut, outboxes } = this.#members;
    const isWanted = ({ parameter }: Channel) =>
      hub.find(parameter.address) === parameter && outboxes.matches(parameter);
    while (client.missed.size > 0 && !client.isFull) {
      const { definitions, lost, lostValues, lostFires, items } = client.missed.take(isWanted, this.isDefined);
      fanOut.lost.values += lostValues;
      fanOut.lost.fires += lostFires;
      if (definitions.length > 0) client.send(defFrame(definitions.join()));
      if (lost.length > 0) client.send(lostFrame(lost.join()));
      if (items.length > 0) client.send(setFrame(items.join(), undefined));
    }
  }

  /** Notes everything that the client has missed, including all waiting changes. */
  #missWaiting(behind: Behind): void {
    this.#gather(behind);
    for (const channel of this.#members.outboxes.waiting(behind.from)) this.client.missed.note(channel, 1);
  }

  /** Moves the changes that were counted for the client together with other members to the client's own missed changes. */
  #gather(state: Behind | CatchingUp): void {
    if (state.segment === undefined) return;
    for (const [channel, count] of this.#members.losses.take(state.segment))
      if (state.name === 'behind' || isFire(channel)) this.client.missed.note(channel, count);
    state.segment = undefined;
  }

  #goLive(): void {
    this.#members.move(this, 'live');
    this.#state = { name: 'live' };
  }

  #leave(): void {
    const state = this.#state;
    if ('segment' in state && state.segment !== undefined) this.#members.losses.take(state.segment);
    this.#members.move(this, 'left');
    this.#state = { name: 'left' };
  }
}

/** Returns the frames for clients that are catching up: the definitions of the triggers that fired in batches, and the firings. */
export function fireFrames(batches: readonly Batch[]): Uint8Array[] {
  const fires = batches.flatMap(({ channels }) => channels.filter(isFire));
  const definitions = [...cut(definitionsOf(fires))].map(defFrame);
  const ids = [...cut(fires.map(({ channel }) => String(channel.id)))].map((some) => firedFrame(some, undefined));
  return [...definitions, ...ids].map((frame) => Buffer.from(frame));
}

export function isFire({ channel }: GroupChannel): boolean {
  return isTrigger(channel.parameter);
}

function definitionsOf(channels: readonly GroupChannel[]): string[] {
  return [...new Set(channels.map(({ channel }) => channel))].map(definition);
}
