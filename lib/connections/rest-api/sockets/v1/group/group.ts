// All that a client subscribed to, shared by the clients that subscribed to the same. A change is kept and encoded once, in the
// lane of the liveliest subscription that matches; a flush sends the same bytes to every live client. Who is full leaves at the
// frame that finds no room, and nobody waits.

import type { Parameter } from '../../../../../model/parameter.ts';
import type { Channel, Subscriber } from '../../channel.ts';
import type { Client } from '../client.ts';
import { defFrame, definition, frameLength, isTrigger, lostFrame, Packer, setFrame } from '../frames.ts';
import { CatchUp, picturesSince, type Sources } from '../members/catch-up.ts';
import { fireFrames, miss, note, send } from '../members/delivery.ts';
import { Losses } from '../members/losses.ts';
import { byLiveliness, type Subscription } from '../subscription.ts';
import { itemOf, Slot } from './group-channel.ts';
import { AllLane, type Lane, LatestLane } from './outbox.ts';
import type { Ticker } from './ticker.ts';

/** How many counts of missed changes a view keeps; beyond, whoever has been full longest is given up. */
const maxLosses = 100_000;
/** How many frames about parameters that came and went wait for a client that does not read; beyond, it is given up. */
const maxUnsent = 64;

/** What views have in common. */
export interface ViewContext extends Sources {
  readonly tickerOf: (rate: number) => Ticker;
  /** Tells of parameters that have come and gone, before anything else is told of them. */
  tellStructure(): void;
  /** Ends a client that reads too slowly. */
  giveUp(client: Client): void;
}

export class View implements Subscriber {
  /** Equal for what clients share. */
  readonly key: string;
  /** Whether some subscription wants every change: then what a client misses is counted, or else only the fires. */
  readonly isExact: boolean;
  readonly live: Client[] = [];
  readonly behind = new Set<Client>();
  /** Those of both for whom not all is that waits: it is encoded for them by themselves, until that has been sent. */
  readonly #fresh = new Set<Client>();
  readonly #losses = new Losses();
  readonly #lanes: Lane[] = [];
  readonly #subscriptions: readonly Subscription[];
  readonly #context: ViewContext;

  constructor(key: string, context: ViewContext, subscriptions: Iterable<Subscription>) {
    this.key = key;
    this.#context = context;
    this.#subscriptions = [...subscriptions].sort(byLiveliness);
    for (const subscription of this.#subscriptions)
      if (this.#laneOf(subscription) === undefined) this.#lanes.push(this.#createLane(subscription));
    this.isExact = this.#lanes.some(({ delivery }) => delivery === 'all');
  }

  matches(parameter: Parameter): boolean {
    return this.#subscriptions.some(({ selection }) => selection.has(parameter));
  }

  /** Everything up to this revision has been sent to live clients. */
  get sent(): number {
    return this.#reach([]);
  }

  observe(channel: Channel): Slot {
    const subscription = this.#subscriptions.find(({ selection }) => selection.has(channel.parameter))!;
    return new Slot(this, channel, this.#laneOf(subscription)!);
  }

  /** Sends all that waits. */
  flush(): void {
    this.#flush(this.#lanes);
  }

  /** Takes in a client that has been sent all that waits for it elsewhere; `isLive`: up to this moment, but for its pictures. */
  enter(client: Client, isLive: boolean): void {
    client.joinedAt = this.#context.hub.revision;
    if (isLive) client.place = this.live.push(client) - 1;
    else {
      this.behind.add(client);
      client.behindSinceMs ??= performance.now();
      client.missesOnlyFires ||= !this.isExact;
    }
    this.#settleIn(client);
  }

  /** Makes a client live that has the newest value of all but what waits; sends it what waits and it does not have. */
  goLive(client: Client): void {
    this.#sendWaiting(client, client.place < 0);
    client.joinedAt = this.#context.hub.revision;
    client.missesOnlyFires = false;
    if (client.place < 0) {
      this.#release(client);
      this.behind.delete(client);
      client.behindSinceMs = undefined;
      client.place = this.live.push(client) - 1;
    }
    this.#settleIn(client);
    const hasEnds = (client.catchUp?.ends.length ?? 0) > 0; // they tell the revision
    if (client.missed.size === 0 && !hasEnds) client.send(setFrame('', this.#context.hub.revision));
  }

  /** Takes out a client that goes elsewhere: it is sent what waits, or has missed it. */
  take(client: Client): void {
    this.#gather(client);
    if (client.place >= 0) this.#sendWaiting(client, false);
    else if (client.missesOnlyFires) this.#sendWaiting(client, true);
    else for (const lane of this.#lanes) for (const slot of lane.waiting(client.joinedAt)) note(client, slot, 1);
    this.leave(client);
  }

  /** Takes out a client; it is sent nothing. */
  leave(client: Client): void {
    this.#leaveLive(client);
    this.#release(client);
    this.behind.delete(client);
    this.#fresh.delete(client);
  }

  /** Tells a client what it has missed and sends it the newest values of that, until it is full; it is live then, or waits for a picture. */
  settle(client: Client): void {
    this.#gather(client);
    if (!client.missesOnlyFires) {
      for (const lane of this.#lanes) for (const slot of lane.waiting(client.joinedAt)) note(client, slot, 1);
      client.joinedAt = this.#context.hub.revision;
      this.#settleIn(client);
    }
    while (client.missed.size > 0 && !client.isFull) this.#sendMissed(client);
    if (client.missed.size === 0 && !client.missesOnlyFires && client.place < 0) this.goLive(client);
  }

  /** Sends a frame about parameters that came or went to all clients; those that are full get it later. */
  sendToAll(frame: string): void {
    for (const client of [...this.live, ...this.behind]) {
      if (!client.isFull && client.unsent.length === 0) client.send(frame);
      else if (client.unsent.length === maxUnsent) this.#context.giveUp(client);
      else client.unsent = [...client.unsent, frame];
    }
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
    const due = lanes.filter(({ oldest }) => oldest !== undefined);
    if (due.length === 0) return;
    const before = this.sent;
    const shared = new Packer();
    const fresh = [...this.#fresh];
    const own = new Map(fresh.map(({ joinedAt }) => [joinedAt, new Packer()]));
    let after = before;
    for (const [index, lane] of due.entries()) {
      after = this.#reach(due.slice(0, index + 1));
      const span = { before, after };
      lane.encode(shared, span, -1);
      for (const [joinedAt, packer] of own) lane.encode(packer, span, joinedAt);
    }
    if (after > before) for (const packer of own.values()) packer.put(setFrame('', after), []);
    for (const lane of due) lane.clear();
    this.#deliver(shared, before);
    for (const client of fresh) this.#deliverTo(client, own.get(client.joinedAt)!, before);
    this.#bound();
  }

  /** The revision up to which live clients have everything, once these lanes have been sent. */
  #reach(flushed: readonly Lane[]): number {
    let reached = this.#context.hub.revision;
    for (const lane of this.#lanes)
      if (lane.oldest !== undefined && !flushed.includes(lane)) reached = Math.min(reached, lane.oldest - 1);
    return reached;
  }

  /** Sends to all who are not fresh. */
  #deliver(packer: Packer, before: number): void {
    const { parcels } = packer;
    /** Who misses parcels, from which on. */
    const missing: [client: Client, first: number][] = [];
    if (this.behind.size > 0) {
      const frames = fireFrames(parcels);
      for (const client of this.behind) {
        if (client.segment !== undefined || frames.length === 0 || this.#fresh.has(client)) continue;
        if (client.isFull) missing.push([client, 0]);
        else client.sendAll(frames);
      }
    }
    const { live } = this;
    for (let place = live.length - 1; place >= 0; place--) {
      const client = live[place]!;
      if (client.joinedAt > before) continue;
      const next = send(client, packer);
      if (next === parcels.length) continue;
      this.#fallBehind(client, before);
      missing.push([client, next]);
    }
    if (missing.length === 0 && !this.#losses.isOpen) return;
    for (const [index, { slots }] of parcels.entries()) {
      for (const [client, first] of missing) if (first === index) client.segment = this.#losses.open();
      this.#losses.count(this.isExact ? slots : slots.filter(({ channel }) => isTrigger(channel.parameter)));
    }
  }

  /** Sends to a client that is fresh. */
  #deliverTo(client: Client, packer: Packer, before: number): void {
    if (client.view !== this) return;
    const { parcels } = packer;
    if (client.place >= 0) {
      const next = send(client, packer);
      if (next < parcels.length) {
        this.#fallBehind(client, before);
        miss(client, parcels.slice(next));
      }
    } else if (client.missesOnlyFires && !client.isFull) client.sendAll(fireFrames(parcels));
    else miss(client, parcels);
    this.#settleIn(client);
  }

  /** Encodes for a client by itself as long as something waits that it must not be sent. */
  #settleIn(client: Client): void {
    if (client.joinedAt > this.sent && this.#lanes.some(({ isExact }) => isExact)) {
      this.#fresh.add(client);
      return;
    }
    client.joinedAt = Math.min(client.joinedAt, this.sent); // newest values may come twice
    this.#fresh.delete(client);
    if (client.place < 0 && !client.missesOnlyFires) client.segment ??= this.#losses.open();
  }

  /** Sends a client what waits and it does not have; what it has no room for it has missed. */
  #sendWaiting(client: Client, onlyFires: boolean): void {
    const packer = new Packer();
    const before = this.sent;
    const due = this.#lanes.filter(({ oldest }) => oldest !== undefined);
    for (const lane of due) {
      const isAll = !onlyFires && client.missed.size === 0 && lane === due.at(-1);
      const after = isAll ? this.#context.hub.revision : before;
      lane.encode(packer, { before, after }, client.joinedAt, onlyFires);
    }
    miss(client, packer.parcels.slice(send(client, packer)));
  }

  /** Sends a client a frame of what it has missed. */
  #sendMissed(client: Client): void {
    const definitions: string[] = [];
    const lost: string[] = [];
    const items: string[] = [];
    let length = 0;
    for (const [channel, count] of client.missed) {
      client.forgive(channel);
      const { id, parameter } = channel;
      if (this.#context.hub.find(parameter.address) !== parameter || !this.matches(parameter)) continue;
      const isState = !isTrigger(parameter);
      const countLost = isState ? count - 1 : count; // the newest value follows
      if (countLost > 0) lost.push(`"${id}":${countLost}`);
      if (isState) items.push(itemOf(channel, parameter.value!, parameter.lastChange!.revision));
      if (client.definedAfter >= 0 || client.catchUp !== undefined) definitions.push(definition(channel));
      length += 20 + (items.at(-1)?.length ?? 0) + (definitions.at(-1)?.length ?? 0);
      if (length >= frameLength) break;
    }
    if (definitions.length > 0) client.send(defFrame(definitions.join()));
    if (lost.length > 0) client.send(lostFrame(lost.join()));
    if (items.length > 0) client.send(setFrame(items.join(), Math.min(client.seen, this.sent)));
  }

  /** Gives up those who have been full longest, until what is counted for all is within its bound. */
  #bound(): void {
    if (!this.#losses.isOpen && this.#fresh.size === 0) return;
    const waiting = [...this.behind].filter(({ isFull }) => isFull);
    let size = waiting.reduce((sum, { missed }) => sum + missed.size, this.#losses.size);
    if (size <= maxLosses) return;
    waiting.sort((one, other) => one.fullSinceMs! - other.fullSinceMs!);
    for (const client of waiting) {
      const losses = this.#losses.size;
      this.#context.giveUp(client);
      size -= client.missed.size + losses - this.#losses.size;
      if (size <= maxLosses) break;
    }
  }

  #fallBehind(client: Client, before: number): void {
    this.#leaveLive(client);
    this.behind.add(client);
    client.behindSinceMs = performance.now();
    client.seen = Math.max(before, client.joinedAt);
    if (this.isExact) return;
    client.missesOnlyFires = true;
    const pictures = picturesSince(client, client.catchUp?.remaining ?? []);
    client.catchUp = new CatchUp(this.#context, client, pictures, client.catchUp?.ends ?? []);
  }

  /** Adds what was counted for a client and others to what it has missed. */
  #gather(client: Client): void {
    if (client.segment === undefined) return;
    for (const [slot, count] of this.#losses.take(client.segment)) note(client, slot, count);
    client.segment = undefined;
  }

  #release(client: Client): void {
    if (client.segment !== undefined) this.#losses.take(client.segment);
    client.segment = undefined;
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
