// All that a client subscribed to, shared by the clients that subscribed to the same. A change is kept and encoded once, in the
// lane of the liveliest subscription that matches; a flush sends the same bytes to every live client. Who is full leaves at the
// frame that finds no room, and nobody waits.

import type { HubPort } from '../../connection.ts';
import type { Audience, Feed } from '../feed.ts';
import type { Client } from './client.ts';
import { cut, defFrame, definition, firedFrame, isTrigger, lostFrame, Packer, type Parcel } from './frames.ts';
import { AllLane, type Lane, LatestLane } from './lane.ts';
import { Losses } from './losses.ts';
import { Slot } from './slot.ts';
import type { Subscription } from './subscription.ts';
import type { Ticker } from './ticker.ts';

/** How many counts of missed changes a view keeps; beyond, whoever has been full longest is given up. */
const maxLosses = 100_000;
/** Those that have caught up are live with the next flush, which does not wait longer than this allows. */
const joinsPerSecond = 30;

/** What views have in common. */
export interface ViewContext {
  readonly hub: HubPort;
  readonly tickerOf: (rate: number) => Ticker;
  /** Tells of parameters that have come and gone, before anything else is told of them. */
  tellStructure(): void;
  /** Ends a client that reads too slowly. */
  giveUp(client: Client): void;
}

export class View implements Audience {
  /** Equal for what clients share. */
  readonly key: string;
  /** Whether some subscription wants every change. */
  readonly isExact: boolean;
  readonly live: Client[] = [];
  readonly behind = new Set<Client>();
  readonly #joining = new Set<Client>();
  readonly #losses = new Losses();
  readonly #lanes: Lane[] = [];
  readonly #subscriptions: readonly Subscription[];
  readonly #context: ViewContext;
  readonly #joins: Ticker;
  #isJoinRequested = false;
  /** Everything up to this revision has been sent to live clients. */
  #sent: number;

  constructor(key: string, context: ViewContext, subscriptions: Iterable<Subscription>) {
    this.key = key;
    this.#context = context;
    this.#subscriptions = [...subscriptions].sort(byLiveliness);
    this.#joins = context.tickerOf(joinsPerSecond);
    this.#sent = context.hub.revision;
    for (const subscription of this.#subscriptions)
      if (this.#laneOf(subscription) === undefined) this.#lanes.push(this.#createLane(subscription));
    this.isExact = this.#lanes.some(({ delivery }) => delivery === 'all');
  }

  readonly matches = (address: string): boolean => this.#subscriptions.some(({ matches }) => matches(address));

  listenTo(feed: Feed): Slot {
    const { address } = feed.parameter;
    const subscription = this.#subscriptions.find(({ matches }) => matches(address))!;
    return new Slot(this, feed, this.#laneOf(subscription)!);
  }

  /** Sends all that waits, and lets those join who have caught up. */
  flush(): void {
    this.#flush(this.#lanes);
  }

  /** Makes a client live with the next flush; it has nothing more to catch up with. */
  join(client: Client): void {
    this.#joining.add(client);
    if (this.live.length === 0 || this.#lanes.every(({ oldest }) => oldest === undefined)) this.flush();
    else if (!this.#isJoinRequested) {
      this.#isJoinRequested = true;
      this.#joins.request({
        flush: () => {
          this.#isJoinRequested = false;
          if (this.#joining.size > 0) this.flush();
        },
      });
    }
  }

  leave(client: Client): void {
    this.#leaveLive(client);
    this.behind.delete(client);
    this.#joining.delete(client);
    if (client.segment === undefined) return;
    this.#losses.take(client.segment);
    client.segment = undefined;
  }

  /** Tells a client what it has missed; returns of what it needs the newest value. */
  tellLosses(client: Client): Slot[] {
    const missed = this.#losses.take(client.segment!);
    const { missesOnlyFires } = client;
    client.segment = undefined;
    const owed: Slot[] = [];
    const lost: string[] = [];
    for (const [slot, count] of missed) {
      const { id, parameter } = slot.feed;
      const isState = !isTrigger(parameter);
      if (isState && missesOnlyFires) continue;
      const isCounted = !isState || slot.lane.delivery === 'all';
      const countLost = isState ? count - 1 : count; // the newest value is still to come
      if (isCounted && countLost > 0) lost.push(`"${id}":${countLost}`);
      if (isState && this.#context.hub.find(parameter.address) === parameter) owed.push(slot);
    }
    for (const counts of cut(lost)) client.send(lostFrame(counts));
    return owed;
  }

  /** Begins to count what a client that is behind misses from here on. */
  countLosses(client: Client, onlyFires: boolean): void {
    client.segment = this.#losses.open();
    client.missesOnlyFires = onlyFires;
  }

  /** Sends a frame to all clients that are not full. */
  sendToAll(frame: string): void {
    for (const client of [...this.live, ...this.behind]) if (!client.isFull) client.send(frame);
  }

  #createLane({ rate, delivery }: Subscription): Lane {
    const LaneClass = delivery === 'all' ? AllLane : LatestLane;
    const lane: Lane = new LaneClass(rate, this.#context.tickerOf(rate), () => this.#flush([lane]));
    return lane;
  }

  #laneOf({ rate, delivery }: Subscription): Lane | undefined {
    return this.#lanes.find((lane) => lane.rate === rate && lane.delivery === delivery);
  }

  #flush(lanes: readonly Lane[]): void {
    this.#context.tellStructure();
    const before = this.#sent;
    const packer = new Packer();
    for (const lane of this.#joining.size > 0 ? this.#lanes : lanes)
      if (lane.oldest !== undefined) lane.take(packer, { before, after: this.#reach(lane) });
    this.#sent = this.#reach(undefined);
    if (packer.parcels.length > 0) this.#deliver(packer.parcels, before);
    for (const client of this.#joining) this.#admit(client);
  }

  /** The revision up to which live clients have everything, once a lane has been sent. */
  #reach(flushed: Lane | undefined): number {
    let reached = this.#context.hub.revision;
    for (const lane of this.#lanes)
      if (lane !== flushed && lane.oldest !== undefined) reached = Math.min(reached, lane.oldest - 1);
    return reached;
  }

  #deliver(parcels: readonly Parcel[], before: number): void {
    /** Who misses parcels, from which on. */
    const missing: [client: Client, first: number][] = [];
    if (this.behind.size > 0) missing.push(...this.#sendFires(parcels));
    const { live } = this;
    for (let place = live.length - 1; place >= 0; place--) {
      const client = live[place]!;
      if (client.definedAfter >= 0 && !client.isFull) sendMissingDefinitions(client, parcels);
      let next = 0;
      for (; next < parcels.length && !client.isFull; next++) client.sendAll(parcels[next]!.frames);
      if (next === parcels.length) continue;
      this.#leaveLive(client);
      this.behind.add(client);
      client.seen = before;
      client.missesOnlyFires = false;
      missing.push([client, next]);
    }
    if (missing.length > 0 || this.#losses.isOpen) this.#countLosses(parcels, missing);
  }

  /** Sends fires to those who are being caught up; returns who cannot take them. */
  #sendFires(parcels: readonly Parcel[]): [Client, number][] {
    const fires = parcels.flatMap(({ slots }) => slots).filter(({ feed }) => isTrigger(feed.parameter));
    if (fires.length === 0) return [];
    const definitions = [...cut([...new Set(fires)].map(({ feed }) => definition(feed)))].map(defFrame);
    const ids = [...cut(fires.map(({ feed }) => String(feed.id)))].map((some) => firedFrame(some, undefined));
    const frames = [...definitions, ...ids].map((frame) => Buffer.from(frame));
    const missing: [Client, number][] = [];
    for (const client of this.behind) {
      if (client.segment !== undefined) continue;
      if (!client.isFull) client.sendAll(frames);
      else {
        client.missesOnlyFires = true;
        missing.push([client, 0]);
      }
    }
    return missing;
  }

  #countLosses(parcels: readonly Parcel[], missing: readonly [Client, number][]): void {
    for (const [index, { slots }] of parcels.entries()) {
      for (const [client, first] of missing) if (first === index) client.segment = this.#losses.open();
      this.#losses.count(this.isExact ? slots : slots.filter(({ feed }) => isTrigger(feed.parameter)));
    }
    while (this.#losses.size > maxLosses) {
      const waiting = [...this.behind].filter(({ segment, isFull }) => segment !== undefined && isFull);
      const [longest] = waiting.sort((one, other) => one.fullSinceMs! - other.fullSinceMs!);
      if (longest === undefined) break;
      this.#context.giveUp(longest);
      this.leave(longest);
    }
  }

  /** Makes a client live that has all up to this flush; one that turns out to be full goes on later. */
  #admit(client: Client): void {
    this.#joining.delete(client);
    if (client.catchUp?.run() !== 'done') return;
    if (client.segment !== undefined) {
      const owed = this.tellLosses(client);
      client.catchUp.owe(owed);
      if (client.catchUp.run() !== 'done') {
        this.countLosses(client, false);
        return;
      }
    }
    client.catchUp.end(this.#sent);
    client.catchUp = undefined;
    this.behind.delete(client);
    client.place = this.live.push(client) - 1;
  }

  #leaveLive(client: Client): void {
    if (client.place < 0) return;
    const last = this.live.pop()!;
    if (last !== client) {
      this.live[client.place] = last;
      last.place = client.place;
    }
    client.place = -1;
  }
}

/** A client that has resumed knows the definitions of what has changed since, and is sent others when they are needed. */
function sendMissingDefinitions(client: Client, parcels: readonly Parcel[]): void {
  const lacking = new Set<Slot>();
  for (const { slots } of parcels)
    for (const slot of slots) if (slot.previousRevision <= client.definedAfter) lacking.add(slot);
  for (const definitions of cut([...lacking].map(({ feed }) => definition(feed)))) client.send(defFrame(definitions));
}

/** `all` before `latest`, then the higher rate; 0 is the highest. */
function byLiveliness(one: Subscription, other: Subscription): number {
  if (one.delivery !== other.delivery) return one.delivery === 'all' ? -1 : 1;
  return (other.rate || Number.POSITIVE_INFINITY) - (one.rate || Number.POSITIVE_INFINITY) || 0;
}
