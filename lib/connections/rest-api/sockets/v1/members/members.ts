// The clients of a group, and how each of them moves from one membership to another; `membership.ts` draws it. This file alone
// assigns memberships and changes them.

import type { Channel } from '../../channel.ts';
import type { Client } from '../client.ts';
import { encode, setFrame } from '../frames.ts';
import type { Outboxes } from '../outboxes/outboxes.ts';
import { type Batch, Packer } from '../outboxes/packer.ts';
import type { Stopped } from '../steps.ts';
import { CatchUp, type Sources } from './catch-up.ts';
import { isFire, send, sendMissed } from './delivery.ts';
import { Losses } from './losses.ts';
import type { Behind, CatchingUp, Extending } from './membership.ts';
import { type Snapshot, withOthers } from './snapshot.ts';

/** What a client brings along from where it was before. */
export interface Handover {
  /** everything: it has it all; counts: what it lacks has been counted; nothing: only snapshots bring it what it lacks. */
  readonly has: 'everything' | 'counts' | 'nothing';
  /** Since when it has not been live; undefined: it was, or had no subscription. */
  readonly sinceMs: number | undefined;
  readonly snapshots: readonly Snapshot[];
  readonly ends: readonly number[];
}

/** Everything that waits has a later revision. */
const all = -1;

export class Members {
  readonly live: Client[] = [];
  /** Those who are not live: fresh, extending, catching up or behind. */
  readonly apart = new Set<Client>();
  readonly losses = new Losses();
  readonly #outboxes: Outboxes;
  readonly #sources: Sources;

  constructor(outboxes: Outboxes, sources: Sources) {
    this.#outboxes = outboxes;
    this.#sources = sources;
  }

  get isEmpty(): boolean {
    return this.live.length === 0 && this.apart.size === 0;
  }

  /** Takes in a client, which is sent the snapshots in its slices. */
  enter(client: Client, { has, sinceMs = performance.now(), snapshots, ends }: Handover): void {
    this.apart.add(client);
    const from = this.#sources.hub.revision;
    const catchUp = new CatchUp(this.#sources, snapshots, ends);
    if (has === 'everything') client.membership = { name: 'extending', from, catchUp };
    else if (has === 'counts') this.#lag(client, { from, catchUp, sinceMs }, from);
    else client.membership = { name: 'catching up', from, catchUp, sinceMs, segment: undefined };
  }

  /** Takes out a client that goes elsewhere. It is sent what waits, as far as there is room; the rest it has missed. */
  take(client: Client): Handover {
    const { membership } = client;
    let has: Handover['has'] = 'everything';
    if (membership.name === 'behind') {
      this.#missWaiting(client, membership);
      has = 'counts';
    } else if (membership.name === 'catching up') {
      this.#gather(client, membership);
      this.#sendWaiting(client, membership.from);
      has = 'nothing';
    } else if (!this.#sendWaiting(client, 'from' in membership ? membership.from : all)) has = 'counts';
    this.leave(client);
    const { remaining = [], ends = [] } = 'catchUp' in membership ? membership.catchUp : {};
    return { has, sinceMs: 'sinceMs' in membership ? membership.sinceMs : undefined, snapshots: remaining, ends };
  }

  /** Takes out a client; it is sent nothing. */
  leave(client: Client): void {
    const { membership } = client;
    if (membership.name === 'live') this.#leaveLive(client, membership.place);
    if ('segment' in membership && membership.segment !== undefined) this.losses.take(membership.segment);
    this.apart.delete(client);
    client.membership = { name: 'idle' };
  }

  /** Takes out a client that is gone, or about to be, and counts the fires that it is not sent any more. */
  lose(client: Client): void {
    const { membership } = client;
    if (membership.name === 'behind' || membership.name === 'catching up') this.#gather(client, membership);
    this.leave(client);
    this.#sources.fanOut.lost.fires += client.missed.fires;
    client.missed.clear();
  }

  /**
   * Works for a client until then; returns whether there is more to do at once. `tellStale` goes on to tell it what is stale and what is
   * fresh again, once it has the values.
   */
  advance(client: Client, endMs: number, tellStale: (client: Client, endMs: number) => Stopped): boolean {
    if (client.membership.name === 'behind') this.#recover(client, client.membership);
    const { membership } = client;
    if (membership.name === 'catching up') {
      this.#gather(client, membership);
      this.#tellMissed(client);
    }
    if (client.isFull || membership.name === 'behind') return false;
    const isOnItsWay = membership.name === 'catching up' || membership.name === 'extending';
    const last = membership.name === 'extending' ? membership.from : Number.POSITIVE_INFINITY; // the outboxes bring the rest
    let stopped = isOnItsWay ? membership.catchUp.run(client, last, endMs) : 'done';
    if (stopped === 'done') stopped = tellStale(client, endMs);
    if (stopped === 'done' && isOnItsWay && !client.mayWantMore) this.#finish(client, membership);
    return stopped === 'more';
  }

  /**
   * A client has no room for what is flushed. It has everything up to `complete`; what it is not told of a flush has to be
   * counted, or noted with `miss`.
   */
  fallBack(client: Client, complete: number): void {
    const { membership } = client;
    const from = 'from' in membership ? membership.from : all;
    if (membership.name === 'live') this.#leaveLive(client, membership.place);
    this.apart.add(client);
    const catchUp = membership.name === 'extending' ? membership.catchUp : new CatchUp(this.#sources, [], []);
    this.#lag(client, { from, catchUp, sinceMs: performance.now() }, Math.max(complete, from));
  }

  /** Notes the changes of batches that a client has missed. Who is catching up is brought values by its snapshots. */
  miss(client: Client, batches: readonly Batch[]): void {
    const onlyFires = client.membership.name === 'catching up';
    for (const { channels } of batches)
      for (const channel of channels) if (!onlyFires || isFire(channel)) client.missed.note(channel, 1);
  }

  /** Counts with others what a client misses from now on. */
  count({ membership }: Client): void {
    if ('segment' in membership) membership.segment ??= this.losses.open();
  }

  /** A client is like the others from when everything has left that waited when it came. */
  settle(client: Client): void {
    const { membership } = client;
    const { sent } = this.#outboxes;
    if (!('from' in membership) || membership.from > sent) return;
    if (membership.name === 'behind') this.count(client);
    if (membership.name !== 'fresh') return;
    this.#goLive(client);
    client.send(setFrame('', sent));
  }

  /** Values come by counts where every change is wanted, otherwise by snapshots of what changes after `complete`. */
  #lag(client: Client, how: Omit<Behind, 'name' | 'segment'>, complete: number): void {
    if (this.#outboxes.isExact) {
      client.membership = { name: 'behind', ...how, segment: undefined };
      return;
    }
    const snapshots = withOthers(how.catchUp.remaining, client.subscriptions, complete);
    const catchUp = new CatchUp(this.#sources, snapshots, how.catchUp.ends);
    client.membership = { name: 'catching up', ...how, catchUp, segment: undefined };
  }

  /** Tells a client that reads again what it has missed. */
  #recover(client: Client, behind: Behind): void {
    this.#missWaiting(client, behind);
    behind.from = this.#sources.hub.revision;
    this.#tellMissed(client);
    if (client.missed.size > 0) this.settle(client);
    else client.membership = { name: 'extending', from: behind.from, catchUp: behind.catchUp };
  }

  /** A client has all but what waits. It is sent that, and told the revision. */
  #finish(client: Client, { from, catchUp }: CatchingUp | Extending): void {
    const { revision } = this.#sources.hub;
    const hasAll = this.#sendWaiting(client, from);
    if (!hasAll) {
      if (client.membership.name === 'catching up') client.membership.from = revision;
      else this.#lag(client, { from: revision, catchUp, sinceMs: performance.now() }, revision);
      return;
    }
    for (const id of catchUp.ends) client.send(encode({ end: id, rev: revision }));
    if (catchUp.ends.length === 0) client.send(setFrame('', revision));
    client.membership = { name: 'fresh', from: revision };
    if (revision <= this.#outboxes.sent) this.#goLive(client);
  }

  /** Sends what waits and a client does not have; what it has no room for it has missed. Returns whether it took all. */
  #sendWaiting(client: Client, from: number): boolean {
    const packer = new Packer();
    this.#outboxes.encode(packer, from, client.membership.name === 'catching up');
    const taken = send(client, packer);
    this.miss(client, packer.batches.slice(taken));
    return taken === packer.batches.length;
  }

  #tellMissed(client: Client): void {
    const { hub, fanOut } = this.#sources;
    const isWanted = ({ parameter }: Channel) =>
      hub.find(parameter.address) === parameter && this.#outboxes.matches(parameter);
    while (client.missed.size > 0 && !client.isFull) sendMissed(client, isWanted, fanOut.lost);
  }

  /** Notes what a client has missed, and what waits as if it had. */
  #missWaiting(client: Client, behind: Behind): void {
    this.#gather(client, behind);
    for (const channel of this.#outboxes.waiting(behind.from)) client.missed.note(channel, 1);
  }

  /** Adds what was counted for a client and others to what it has missed. */
  #gather(client: Client, membership: Behind | CatchingUp): void {
    if (membership.segment === undefined) return;
    for (const [channel, count] of this.losses.take(membership.segment))
      if (membership.name === 'behind' || isFire(channel)) client.missed.note(channel, count);
    membership.segment = undefined;
  }

  #goLive(client: Client): void {
    this.apart.delete(client);
    client.membership = { name: 'live', place: this.live.push(client) - 1 };
  }

  /** The last one takes its place. */
  #leaveLive(client: Client, place: number): void {
    const last = this.live.pop()!;
    if (last === client || last.membership.name !== 'live') return;
    this.live[place] = last;
    last.membership.place = place;
  }
}

/** The socket of a client that is in no group is gone, or about to be. */
export function close(client: Client): void {
  client.membership = { name: 'closed' };
}
