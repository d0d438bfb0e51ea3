// The groups of a server, and how clients move between them. What a client subscribes to anew it is sent whole; of what it had
// before it misses nothing.

import type { HubPort } from '../../../hub-port.ts';
import type { LostFires } from '../../../mirroring.ts';
import type { FairQueue, Task } from '../../pacing/fair-queue.ts';
import type { FanOut } from '../fan-out.ts';
import type { Client } from './client.ts';
import { type GiveUp, Group, type GroupContext } from './group.ts';
import { close, type Handover } from './members/members.ts';
import { tellLostFires } from './mirrored/lost-fires.ts';
import { Staleness } from './mirrored/staleness.ts';
import { createTickers } from './outboxes/ticker.ts';
import { Structure } from './structure.ts';
import type { Subscription } from './subscription.ts';

/**
 * A client that has just come is told no end, and so no revision, until it answers a ping: by then all has arrived that it sent in one
 * go, and the revision must hold for that as well. It waits for no longer than this.
 */
const moreMayComeMs = 250;

const newcomer: Handover = { has: 'nothing', sinceMs: undefined, snapshots: [], ends: [] };

export interface GroupsOptions {
  readonly queue: FairQueue;
  /** Ends a client that reads too slowly. */
  readonly giveUp: GiveUp;
  /** How long at most an end waits for the first subscriptions of a client. */
  readonly newMs?: number;
}

export class Groups {
  /** Parameters that come and go. */
  readonly structure: Structure;
  /** Parameters of hubs of which nothing is heard. */
  readonly staleness: Staleness;
  readonly #fanOut: FanOut;
  readonly #context: GroupContext;
  readonly #newMs: number;
  /** Clients that are not live have slices. */
  readonly #queue: FairQueue;
  /** By key; bounded by the number of clients. */
  readonly #groups = new Map<string, Group>();
  readonly #groupOf = new Map<Client, Group>();

  constructor(hub: HubPort, fanOut: FanOut, { queue, giveUp, newMs = moreMayComeMs }: GroupsOptions) {
    this.#newMs = newMs;
    this.#queue = queue;
    this.#fanOut = fanOut;
    this.structure = new Structure(hub, this.#groups);
    this.staleness = new Staleness(hub, fanOut, this.#groups);
    const tellStructure = () => this.structure.tell();
    this.#context = { hub, fanOut, tickerOf: createTickers((work) => queue.atEnd(work)), giveUp, tellStructure };
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

  /** Tells clients that fires of other hubs were lost. */
  tellLost(fires: LostFires): void {
    tellLostFires(fires, this.#fanOut, this.#groups.values());
  }

  /** Forgets a client whose socket is gone, or about to be. */
  remove(client: Client): void {
    const group = this.#groupOf.get(client);
    group?.members.lose(client);
    if (group !== undefined) this.#part(client, group);
    close(client);
  }

  /** Goes on with a client whose first subscriptions are known. */
  settle(client: Client): void {
    if (!client.isNew) return;
    client.isNew = false;
    this.resume(client);
  }

  /** Goes on with a client that reads again. */
  resume(client: Client): void {
    if (!this.#groupOf.has(client)) return;
    client.sendKept(); // before a flush brings values of what it defines
    this.#queue.do(this.#taskOf(client));
  }

  /** Puts a client into the group of its subscriptions. */
  #move(
    client: Client,
    subscriptions: readonly Subscription[],
    answer: string,
    change: (handover: Handover) => Handover,
  ): void {
    if (client.membership.name === 'closed') return;
    this.structure.tell(); // what it leaves with has values of what has just come
    const before = this.#groupOf.get(client);
    const handover = before?.members.take(client) ?? newcomer;
    if (before !== undefined) this.#part(client, before);
    client.send(answer);
    client.subscriptions = subscriptions;
    if (subscriptions.length === 0) {
      client.missed.clear();
      return;
    }
    const group = this.#groupFor(subscriptions);
    this.#groupOf.set(client, group);
    group.members.enter(client, change(handover));
    this.staleness.owe(client);
    if (before === undefined) this.#awaitMore(client);
    this.#queue.do(this.#taskOf(client));
  }

  #awaitMore(client: Client): void {
    client.isNew = true;
    client.ping();
    const settle = () => this.settle(client);
    setTimeout(() => setImmediate(settle), this.#newMs).unref(); // after the hub has read what came while it had no time
  }

  #taskOf(client: Client): Task {
    client.task ??= { share: client.share, line: client, advance: (endMs) => this.#advance(client, endMs) };
    return client.task;
  }

  /** Works for a client until then; returns whether there is more to do at once. */
  #advance(client: Client, endMs: number): boolean {
    this.structure.tell();
    const group = this.#groupOf.get(client);
    if (group === undefined) return false; // it was given up
    let hasMore = false;
    client.cork(() => {
      client.sendKept();
      hasMore = group.members.advance(client, endMs, this.#tellStale);
    });
    return hasMore;
  }

  readonly #tellStale = (client: Client, endMs: number) => this.staleness.goOn(client, endMs);

  #part(client: Client, group: Group): void {
    this.#queue.remove(this.#taskOf(client));
    this.#groupOf.delete(client);
    if (!group.members.isEmpty) return;
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

function without(client: Client, id: number): Subscription[] {
  return client.subscriptions.filter((subscription) => subscription.id !== id);
}
