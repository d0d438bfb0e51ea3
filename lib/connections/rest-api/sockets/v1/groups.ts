// The groups of a server, and the moves of clients between groups. A client gets everything for a new subscription, and misses nothing for
// its earlier subscriptions.

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
 * The maximum wait for a new client's pong, in milliseconds. Before the pong, the client gets no `end`, and therefore no revision: the pong
 * arrives after everything that the client sent immediately, and the revision has to cover all of its first subscriptions.
 */
const moreMayComeMs = 250;

const newcomer: Handover = { has: 'nothing', sinceMs: undefined, snapshots: [], ends: [] };

interface GroupsOptions {
  readonly queue: FairQueue;
  /** Closes a client that reads too slowly. */
  readonly giveUp: GiveUp;
  /** The maximum time that an `end` waits for a client's first subscriptions, in milliseconds. */
  readonly newMs?: number;
}

/** A client's membership in a group. The task works for the client in slices while the client is not live. */
interface Place {
  readonly group: Group;
  readonly membership: Membership;
  readonly task: Task;
}

export class Groups {
  /** The parameters that are added and removed while clients are connected. */
  readonly structure: Structure;
  /** The marks of parameters, such as staleness. */
  readonly staleness: Staleness;
  readonly #fanOut: FanOut;
  readonly #context: GroupContext;
  readonly #newMs: number;
  readonly #queue: FairQueue;
  /** The groups, by their keys. Their number is bounded by the number of clients. */
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
   * Adds a client's subscription, or replaces the subscription with the same number. Sends `answer`, and then the data that is new to the
   * client: everything, or the changes after the revision `from`. If `from` is undefined, the client gets what it still lacks of the
   * replaced subscription, which had the same patterns.
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

  /** Ends a client's subscription, and sends `answer` to the client. */
  unsubscribe(client: Client, id: number, answer: string): void {
    this.#move(client, without(client, id), answer, ({ snapshots, ends, ...handover }) => ({
      ...handover,
      snapshots: snapshots.filter(({ subscription }) => subscription.id !== id),
      ends: ends.filter((end) => end !== id),
    }));
  }

  /** Returns the membership of a client; undefined if the client has no subscriptions. */
  membershipOf(client: Client): Membership | undefined {
    return this.#placeOf.get(client)?.membership;
  }

  /** Removes a client whose socket is closed or about to close. */
  remove(client: Client): void {
    const place = this.#placeOf.get(client);
    place?.membership.lose();
    if (place !== undefined) this.#part(client, place);
    this.staleness.remove(client);
    client.leave();
  }

  /** Continues with a client whose first subscriptions are known now. */
  settle(client: Client): void {
    if (client.settle()) this.resume(client);
  }

  /** Continues with a client whose socket has space again. */
  resume(client: Client): void {
    const place = this.#placeOf.get(client);
    if (place === undefined) return;
    client.sendKept(); // sent first, because a flush may contain values of the parameters that this frame defines
    this.#queue.do(place.task);
  }

  /** Reports to clients that this hub never received some firings of another hub's triggers: `{"lost":{"9":3}}`. */
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

  /**
   * Moves a client to the group for its new subscriptions, and sends `answer`. `change` adapts what the client brings along from its
   * previous group.
   */
  #move(
    client: Client,
    subscriptions: readonly Subscription[],
    answer: string,
    change: (handover: Handover) => Handover,
  ): void {
    if (client.hasLeft) return;
    this.structure.notify(); // the client may already have values of the added parameters
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
    setTimeout(() => setImmediate(settle), this.#newMs).unref(); // runs after the hub has read the messages that arrived while it was busy
  }

  /** Works for a client until `endMs`; returns whether the work can continue immediately. */
  #advance(client: Client, endMs: number): boolean {
    this.structure.notify();
    const membership = this.membershipOf(client);
    if (membership === undefined) return false; // the hub has closed the client
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
 * Tracks the parameters that are added and removed while clients are connected. Clients are notified in the same round, and cannot resume
 * from a revision before the change.
 */
class Structure {
  readonly #hub: { readonly revision: number };
  readonly #groups: ReadonlyMap<string, Group>;
  /**
   * The additions and removals of which clients have not been notified. Their number is bounded by the number of parameters in one reload.
   */
  #added: Channel[] = [];
  #removed: Channel[] = [];
  /** The revisions of the hub at the last addition and removal; -1 if there has been none since the start. */
  #addedAt = -1;
  #removedAt = -1;

  constructor(hub: { readonly revision: number }, groups: ReadonlyMap<string, Group>) {
    this.#hub = hub;
    this.#groups = groups;
  }

  declare(channel: Channel): void {
    this.#addedAt = this.#hub.revision;
    if (this.#groups.size === 0) return;
    this.#notifySoon();
    this.#added.push(channel);
  }

  forget(channel: Channel): void {
    if (this.#removedAt < this.#hub.revision) this.#flush(); // the last value of the parameter is sent first
    this.#removedAt = this.#hub.revision;
    if (this.#groups.size === 0) return;
    this.#notifySoon();
    this.#removed.push(channel);
  }

  /**
   * Returns whether the changes after a revision are enough to bring a client up to date, because no parameter has been added or removed
   * since then.
   */
  canResume(revision: number): boolean {
    return revision <= this.#hub.revision && revision > this.#addedAt && revision > this.#removedAt;
  }

  /** Notifies clients of additions and removals of which they have not been notified. */
  notify(): void {
    if (this.#added.length + this.#removed.length === 0) return;
    const added = this.#added;
    const removed = this.#removed;
    this.#added = [];
    this.#removed = [];
    for (const group of this.#groups.values()) {
      const isMatched = ({ parameter }: Channel) => group.matches(parameter);
      for (const ids of cut(removed.filter(isMatched).map(({ id }) => String(id))))
        group.sendToAll(`{"undef":[${ids}]}`);
      for (const definitions of cut(added.filter(isMatched).map(definition))) group.sendToAll(defFrame(definitions));
    }
  }

  #notifySoon(): void {
    if (this.#added.length + this.#removed.length > 0) return;
    this.#flush(); // changes that were made before are sent first
    setImmediate(() => this.notify());
  }

  #flush(): void {
    for (const group of this.#groups.values()) group.flush();
  }
}

function without(client: Client, id: number): Subscription[] {
  return client.subscriptions.filter((subscription) => subscription.id !== id);
}
