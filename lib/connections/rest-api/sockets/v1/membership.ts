// How far a client of a group has been sent what it subscribed to. One of these states at a time:
//
//   enter ──▶ catching up ──finish──▶ fresh ──settle──▶ live
//                  ▲                    │                 │
//                  ├──── fall back ◀────┴─── no room ─────┤ (newest values are wanted)
//   extending ◀─recover─ behind ◀─── fall back ───────────┘ (every change is wanted)
//
// Three more arrows: extending ──finish──▶ fresh, or a fall back where there is no room. A client that subscribes to other things leaves
// its group from wherever it is, and enters another one: extending if it had everything, behind or catching up if it had not. Whether a
// socket is full (`Client.isFull`) is apart from all this: a live client may be full until something is flushed, and one that is catching
// up may be full or not.

import type { Channel } from '../fan-out.ts';
import type { Client } from './client.ts';
import { CatchUp, type Snapshot, type Sources, type Stopped, withOthers } from './client-catch-up.ts';
import { cut, defFrame, definition, encode, firedFrame, isTrigger, lostFrame, setFrame } from './frames.ts';
import type { Losses, Segment } from './losses.ts';
import { type Batch, type GroupChannel, type Outboxes, Packer } from './outbox.ts';

/** What a client brings along from where it was before. */
export interface Handover {
  /** everything: it has it all; counts: what it lacks has been counted; nothing: only snapshots bring it what it lacks. */
  readonly has: 'everything' | 'counts' | 'nothing';
  /** Since when it has not been live; undefined: it was, or had no subscription. */
  readonly sinceMs: number | undefined;
  readonly snapshots: readonly Snapshot[];
  readonly ends: readonly number[];
}

/** Where a group has a member: among those that are live, among those that are not, or nowhere. */
export type Standing = 'live' | 'apart' | 'left';

/** What the members of a group share. */
export interface Members extends Sources {
  readonly outboxes: Outboxes;
  readonly losses: Losses;
  /** A member is about to be there. */
  move(member: Membership, to: Standing): void;
}

/** It is sent what the group flushes, and has everything that has left. */
interface Live {
  readonly name: 'live';
}

/** It has everything up to `from`. Changes of before still wait in the group; it is sent the others alone, without revisions. */
interface Fresh {
  readonly name: 'fresh';
  readonly from: number;
}

/** Snapshots bring it the values of all its subscriptions. Of what the group flushes it is sent the fires. */
interface CatchingUp {
  readonly name: 'catching up';
  /** What waits in the group with a revision up to this one is not for it. */
  from: number;
  readonly catchUp: CatchUp;
  /** Since when it has not been live, in milliseconds of a monotonic clock. */
  readonly sinceMs: number;
  /** Counts the fires that it misses while it is full. */
  segment: Segment | undefined;
}

/** Snapshots bring it what it subscribed to anew, up to `from`. What changes later comes with what the group flushes, without revisions. */
interface Extending {
  readonly name: 'extending';
  readonly from: number;
  readonly catchUp: CatchUp;
}

/** It does not read. What it misses is counted, as it wants to know of every change; then it is told, and extends. */
interface Behind {
  readonly name: 'behind';
  from: number;
  readonly catchUp: CatchUp;
  readonly sinceMs: number;
  /** Counts what it misses along with others; undefined: what waits is not all for it, and is counted for it by itself. */
  segment: Segment | undefined;
}

/** It is no member any more. */
interface Left {
  readonly name: 'left';
}

type State = CatchingUp | Extending | Behind | Fresh | Live | Left;

/** Everything that waits has a later revision. */
const all = -1;

export class Membership {
  readonly client: Client;
  readonly #members: Members;
  #state: State;

  /** Takes in a client, which is sent the snapshots in its slices. */
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

  /** Since when it has not been sent all as it comes, in milliseconds of a monotonic clock; undefined: it is. */
  get sinceMs(): number | undefined {
    return 'sinceMs' in this.#state ? this.#state.sinceMs : undefined;
  }

  /** Whether it is yet to be sent values that have changed. */
  get lacksValues(): boolean {
    return this.#state.name === 'catching up' || this.#state.name === 'behind';
  }

  /** Whether it has the definitions of all that its subscriptions match. */
  get isDefined(): boolean {
    return !this.client.hasResumed && !this.#isBeingDefined;
  }

  /** Whether what it misses is counted with others. */
  get isCounted(): boolean {
    return 'segment' in this.#state && this.#state.segment !== undefined;
  }

  /**
   * Of what waits it gets what has a later revision than this; undefined: it only gets fires, or has missed all. What must not come twice
   * (`isExact`) is encoded for a member by itself while something waits that is not for it: `before` is the revision up to which all had left.
   */
  startOf(before: number, isExact: boolean): number | undefined {
    const state = this.#state;
    if (isExact && 'from' in state && state.from > before) return state.from;
    return state.name === 'fresh' || state.name === 'extending' ? all : undefined;
  }

  /** Takes out a client that goes elsewhere. It is sent what waits, as far as there is room; the rest it has missed. */
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

  /** Takes out a client that is gone, or about to be, and counts the fires that it is not sent any more. */
  lose(): void {
    const state = this.#state;
    if (state.name === 'behind' || state.name === 'catching up') this.#gather(state);
    this.#leave();
    this.#members.fanOut.lost.fires += this.client.missed.fires;
    this.client.missed.clear();
  }

  /**
   * Works for the client until then; returns whether there is more to do at once. `tellStale` goes on to tell it what is stale and what is
   * fresh again, once it has the values.
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
    const last = state.name === 'extending' ? state.from : Number.POSITIVE_INFINITY; // the outboxes bring the rest
    let stopped = isOnItsWay ? state.catchUp.run(client, last, endMs) : 'done';
    if (stopped === 'done') stopped = reportStale(this, endMs);
    if (stopped === 'done' && isOnItsWay && !client.mayWantMore) this.#finish(state);
    return stopped === 'more';
  }

  /** Sends batches, with the definitions that the client lacks, until it is full; returns how many it took. */
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

  /** Sends what was encoded for it apart from those that are live; what it has no room for it has missed. */
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
   * There is no room for what is flushed. The client has everything up to `complete`; what it is not told of a flush has to be
   * counted, or noted with `miss`.
   */
  fallBack(complete: number): void {
    const state = this.#state;
    const from = 'from' in state ? state.from : all;
    this.#members.move(this, 'apart');
    const catchUp = state.name === 'extending' ? state.catchUp : new CatchUp(this.#members, [], []);
    this.#state = this.#lagging({ from, catchUp, sinceMs: performance.now() }, Math.max(complete, from));
  }

  /** Notes the changes of batches that the client has missed. Who is catching up is brought values by its snapshots. */
  miss(batches: readonly Batch[]): void {
    const onlyFires = this.#state.name === 'catching up';
    for (const { channels } of batches)
      for (const channel of channels) if (!onlyFires || isFire(channel)) this.client.missed.note(channel, 1);
  }

  /** Counts with others what the client misses from now on. */
  count(): void {
    if ('segment' in this.#state) this.#state.segment ??= this.#members.losses.open();
  }

  /** It is like the others from when everything has left that waited when it came. */
  settle(): void {
    const state = this.#state;
    const { sent } = this.#members.outboxes;
    if (!('from' in state) || state.from > sent) return;
    if (state.name === 'behind') this.count();
    if (state.name !== 'fresh') return;
    this.#goLive();
    this.client.send(setFrame('', sent));
  }

  /** Whether definitions of what it hears of may still be on their way. */
  get #isBeingDefined(): boolean {
    const state = this.#state;
    return state.name === 'catching up' || ('catchUp' in state && !state.catchUp.isEmpty);
  }

  /** Values come by counts where every change is wanted, otherwise by snapshots of what changes after `complete`. */
  #lagging(how: Pick<Behind, 'from' | 'catchUp' | 'sinceMs'>, complete: number): Behind | CatchingUp {
    if (this.#members.outboxes.isExact) return { name: 'behind', ...how, segment: undefined };
    const snapshots = withOthers(how.catchUp.remaining, this.client.subscriptions, complete);
    const catchUp = new CatchUp(this.#members, snapshots, how.catchUp.ends);
    return { name: 'catching up', ...how, catchUp, segment: undefined };
  }

  /** Tells a client that reads again what it has missed. */
  #recover(behind: Behind): void {
    this.#missWaiting(behind);
    behind.from = this.#members.hub.revision;
    this.#sendMissed();
    if (this.client.missed.size > 0) this.settle();
    else this.#state = { name: 'extending', from: behind.from, catchUp: behind.catchUp };
  }

  /** The client has all but what waits. It is sent that, and told the revision. */
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

  /** Sends what waits and the client does not have; what it has no room for it has missed. Returns whether it took all. */
  #sendWaiting(from: number): boolean {
    const packer = new Packer();
    this.#members.outboxes.encode(packer, from, this.#state.name === 'catching up');
    const taken = this.send(packer);
    this.miss(packer.batches.slice(taken));
    return taken === packer.batches.length;
  }

  /** Sends a frame of each kind of what the client has missed and still wants, as long as there is room. */
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

  /** Notes what the client has missed, and what waits as if it had. */
  #missWaiting(behind: Behind): void {
    this.#gather(behind);
    for (const channel of this.#members.outboxes.waiting(behind.from)) this.client.missed.note(channel, 1);
  }

  /** Adds what was counted for the client and others to what it has missed. */
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

/** The fires of batches with their definitions, for those who are catching up. */
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
