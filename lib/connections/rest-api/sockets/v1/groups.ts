// The groups of a server, and how clients move between them. What a client subscribes to anew it is sent whole; of what it had
// before it misses nothing.

import type { HubPort } from '../../../hub-port.ts';
import type { LostFires } from '../../../mirroring.ts';
import type { FairQueue, Task } from '../../pacing/fair-queue.ts';
import type { Channel, FanOut, Subscriber } from '../fan-out.ts';
import { type Client, LateClients } from './client.ts';
import { cut, defFrame, definition, lostFrame } from './frames.ts';
import { type GiveUp, Group, type GroupContext } from './group.ts';
import type { Handover, Membership } from './membership.ts';
import { createTickers } from './outbox.ts';
import { Staleness } from './staleness.ts';
import type { Subscription } from './subscription.ts';

/**
 * A client that has just come is told no end, and so no revision, until it answers a ping: by then all has arrived that it sent in one
 * go, and the revision must hold for that as well. It waits for no longer than this.
 */
const moreMayComeMs = 250;

const newcomer: Handover = { has: 'nothing', sinceMs: undefined, snapshots: [], ends: [] };

interface GroupsOptions {
  readonly queue: FairQueue;
  /** Ends a client that reads too slowly. */
  readonly giveUp: GiveUp;
  /** How long at most an end waits for the first subscriptions of a client. */
  readonly newMs?: number;
}

/** A client in its group; while it is not live it has slices. */
interface Place {
  readonly group: Group;
  readonly membership: Membership;
  readonly task: Task;
}

export class Groups {
  /** Parameters that come and go. */
  readonly structure: Structure;
  /** Parameters of hubs of which nothing is heard. */
  readonly staleness: Staleness;
  readonly #fanOut: FanOut;
  readonly #context: GroupContext;
  readonly #newMs: number;
  readonly #queue: FairQueue;
  /** By key; bounded by the number of clients. */
  readonly #groups = new Map<string, Group>();
  readonly #placeOf = new Map<Client, Place>();

  constructor(hub: HubPort, fanOut: FanOut, { queue, giveUp, newMs = moreMayComeMs }: GroupsOptions) {
    this.#newMs = newMs;
    this.#queue = queue;
    this.#fanOut = fanOut;
    this.structure = new Structure(hub, this.#groups);
    this.staleness = new Staleness(hub, fanOut, this.#groups);
    const sendStructure = () => this.structure.notify();
    this.#context = {
      hub,
      fanOut,
      tickerOf: createTickers((work) => queue.atEnd(work)),
      giveUp,
      sendStructure,
      late: new LateClients(queue),
    };
  }

  /**
   * Adds a subscription of a client, or replaces the one of its number, says so with `answer`, and has the client sent what is
   * new to it: all, or what changed after a revision; undefined: what it lacks of the one that is replaced, which had the same
   * patterns.
   */
  subscribe(client: Client, subscription: Subscription, from: number | undefined, answer: string): void {
    const { id } = subscription;
    this.#move(client, [...without(client, id), subscription], answer, ({ snapshots, ends, ...handover }) => {
      const others = snapshots.filter((snapshot) => snapshot.subscription.id !== id);
      const replaced = snapshots.filter((snapshot) => snapshot.subscription.id === id);
      const own =
        from === undefined
          ? replaced.map((snapshot) => ({ ...snapshot, subscription }))
          : [{ subscription, from, isNew: from === 0 }];
      return { ...handover, snapshots: [...others, ...own], ends: [...new Set([...ends, id])] };
    });
  }

  /** Ends a subscription of a client, and says so with `answer`. */
  unsubscribe(client: Client, id: number, answer: string): void {
    this.#move(client, without(client, id), answer, ({ snapshots, ends, ...handover }) => ({
      ...handover,
      snapshots: snapshots.filter(({ subscription }) => subscription.id !== id),
      ends: ends.filter((end) => end !== id),
    }));
  }

  /** Of a client that has subscriptions. */
  membershipOf(client: Client): Membership | undefined {
    return this.#placeOf.get(client)?.membership;
  }

  /** Forgets a client whose socket is gone, or about to be. */
  remove(client: Client): void {
    const place = this.#placeOf.get(client);
    place?.membership.lose();
    if (place !== undefined) this.#part(client, place);
    this.staleness.remove(client);
    client.leave();
  }

  /** Goes on with a client whose first subscriptions are known. */
  settle(client: Client): void {
    if (client.settle()) this.resume(client);
  }

  /** Goes on with a client that reads again. */
  resume(client: Client): void {
    const place = this.#placeOf.get(client);
    if (place === undefined) return;
    client.sendKept(); // before a flush brings values of what it defines
    this.#queue.do(place.task);
  }

  /** Tells clients that triggers of another hub have fired, which nobody here has heard: `{"lost":{"9":3}}`. */
  reportLost(fires: LostFires): void {
    const found = new Map<Subscriber, { channel: Channel; count: number }[]>();
    for (const [parameter, count] of fires)
      for (const { subscriber } of this.#fanOut.observersOf(parameter)) {
        const lost = found.get(subscriber) ?? [];
        found.set(subscriber, lost);
        lost.push({ channel: this.#fanOut.channelOf(parameter), count });
      }
    for (const group of this.#groups.values()) {
      const lost = found.get(group) ?? [];
      for (const definitions of cut(lost.map(({ channel }) => definition(channel))))
        group.sendToAll(defFrame(definitions));
      for (const counts of cut(lost.map(({ channel, count }) => `"${channel.id}":${count}`)))
        group.sendToAll(lostFrame(counts));
    }
  }

  /** Puts a client into the group of its subscriptions. */
  #move(
    client: Client,
    subscriptions: readonly Subscription[],
    answer: string,
    change: (handover: Handover) => Handover,
  ): void {
    if (client.hasLeft) return;
    this.structure.notify(); // what it leaves with has values of what has just come
    const before = this.#placeOf.get(client);
    const handover = before?.membership.take() ?? newcomer;
    if (before !== undefined) this.#part(client, before);
    client.send(answer);
    client.replaceSubscriptions(subscriptions);
    if (subscriptions.length === 0) {
      client.missed.clear();
      return;
    }
    const group = this.#groupFor(subscriptions);
    const membership = group.enter(client, change(handover));
    const advance = (endMs: number) => this.#advance(client, endMs);
    const place = { group, membership, task: { share: client.share, line: client, advance } };
    this.#placeOf.set(client, place);
    this.staleness.owe(client);
    if (before === undefined) this.#awaitMore(client);
    this.#queue.do(place.task);
  }

  #awaitMore(client: Client): void {
    client.awaitMore();
    const settle = () => this.settle(client);
    setTimeout(() => setImmediate(settle), this.#newMs).unref(); // after the hub has read what came while it had no time
  }

  /** Works for a client until then; returns whether there is more to do at once. */
  #advance(client: Client, endMs: number): boolean {
    this.structure.notify();
    const membership = this.membershipOf(client);
    if (membership === undefined) return false; // it was given up
    let hasMore = false;
    client.cork(() => {
      client.sendKept();
      hasMore = membership.advance(endMs, this.#sendStale);
    });
    return hasMore;
  }

  readonly #sendStale = (member: Membership, endMs: number) => this.staleness.goOn(member, endMs);

  #part(client: Client, { group, task }: Place): void {
    this.#queue.remove(task);
    this.#placeOf.delete(client);
    if (!group.isEmpty) return;
    this.#groups.delete(group.key);
    this.#fanOut.leave(group);
  }

  #groupFor(subscriptions: readonly Subscription[]): Group {
    const key = [...new Set(subscriptions.map((subscription) => subscription.key))].sort().join('\n');
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = new Group(key, subscriptions, this.#context);
      this.#groups.set(key, group);
      this.#fanOut.join(group);
    }
    return group;
  }
}

/**
 * Parameters that come and go while clients are there: they are told in the round in which it happens, and nobody can resume from before it.
 */
class Structure {
  readonly #hub: { readonly revision: number };
  readonly #groups: ReadonlyMap<string, Group>;
  /** Of which clients do not know yet; bounded by what one reload swaps. */
  #came: Channel[] = [];
  #gone: Channel[] = [];
  /** The revisions at which parameters came and went last; -1: never since the start. */
  #cameAt = -1;
  #goneAt = -1;

  constructor(hub: { readonly revision: number }, groups: ReadonlyMap<string, Group>) {
    this.#hub = hub;
    this.#groups = groups;
  }

  declare(channel: Channel): void {
    this.#cameAt = this.#hub.revision;
    if (this.#groups.size === 0) return;
    this.#notifySoon();
    this.#came.push(channel);
  }

  forget(channel: Channel): void {
    if (this.#goneAt < this.#hub.revision) this.#flush(); // what it was last
    this.#goneAt = this.#hub.revision;
    if (this.#groups.size === 0) return;
    this.#notifySoon();
    this.#gone.push(channel);
  }

  /** Whether a client that was at a revision can be brought up to date by what changed since. */
  canResume(revision: number): boolean {
    return revision <= this.#hub.revision && revision > this.#cameAt && revision > this.#goneAt;
  }

  /** Tells what is not told yet. */
  notify(): void {
    if (this.#came.length + this.#gone.length === 0) return;
    const came = this.#came;
    const gone = this.#gone;
    this.#came = [];
    this.#gone = [];
    for (const group of this.#groups.values()) {
      const isHeard = ({ parameter }: Channel) => group.matches(parameter);
      for (const ids of cut(gone.filter(isHeard).map(({ id }) => String(id)))) group.sendToAll(`{"undef":[${ids}]}`);
      for (const definitions of cut(came.filter(isHeard).map(definition))) group.sendToAll(defFrame(definitions));
    }
  }

  #notifySoon(): void {
    if (this.#came.length + this.#gone.length > 0) return;
    this.#flush(); // what changed before comes before
    setImmediate(() => this.notify());
  }

  #flush(): void {
    for (const group of this.#groups.values()) group.flush();
  }
}

function without(client: Client, id: number): Subscription[] {
  return client.subscriptions.filter((subscription) => subscription.id !== id);
}
