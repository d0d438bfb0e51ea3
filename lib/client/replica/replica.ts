// This client's replica of the hub's parameters, keyed by address and by ID. A message is applied as a whole before observers are notified,
// so that observers see a consistent state.

import type { About } from '../../model/parameter.ts';
import type { Value } from '../../model/value.ts';
import { accessOf, type Definition, type ReceivedMessage } from '../../wire/v1/hub-messages.ts';
import type { LiveQuery } from '../subscriptions/live-query.ts';
import { type Follower, ReplicaParameter } from './replica-parameter.ts';

export class Replica {
  /** The number of the current connection, counted from 1. */
  connection = 0;
  /** The parameters, keyed by address and by ID. The sizes of both maps are bounded by the number of subscribed parameters. */
  readonly #byAddress = new Map<string, ReplicaParameter>();
  readonly #byId = new Map<number, ReplicaParameter>();
  readonly #queries = new Set<LiveQuery>();
  /** The notifications to send as soon as the current message has been applied. */
  #news: (() => void)[] = [];

  find(address: string): ReplicaParameter | undefined {
    return this.#byAddress.get(address);
  }

  findById(id: number): ReplicaParameter | undefined {
    return this.#byId.get(id);
  }

  /** Returns the parameter at an address that has a subscriber; creates the parameter if necessary. */
  pool(address: string): ReplicaParameter {
    const parameter = this.#byAddress.get(address) ?? new ReplicaParameter(address);
    this.#byAddress.set(address, parameter);
    parameter.isPooled = true;
    return parameter;
  }

  unpool(parameter: ReplicaParameter): void {
    parameter.isPooled = false;
    this.#dropUnused(parameter);
  }

  /** Adds a query, which follows all matching parameters, including those that are already known. */
  addQuery(query: LiveQuery): void {
    this.#queries.add(query);
    for (const parameter of this.#byAddress.values()) if (parameter.type !== undefined) this.#join(parameter, query);
  }

  removeQuery(query: LiveQuery): void {
    this.#queries.delete(query);
    for (const parameter of query.parameters.values()) {
      parameter.followers = parameter.followers.filter((one) => one !== query);
      this.#dropUnused(parameter);
    }
    query.parameters.clear();
  }

  /** Completes the streams of all observers. */
  close(): void {
    for (const query of this.#queries) query.close();
    for (const { watchers, fires, ages } of this.#byAddress.values()) {
      watchers?.complete();
      ages?.complete();
      fires?.complete();
    }
  }

  /** Discards the IDs of all parameters, because a new run of the hub uses other IDs. */
  forgetIds(): void {
    for (const parameter of this.#byId.values()) parameter.id = undefined;
    this.#byId.clear();
  }

  /**
   * Applies a message from the hub to the parameters, and then notifies the observers. `now` is the current time in milliseconds since
   * 1970.
   */
  apply(
    {
      def = [],
      undef = [],
      set = [],
      fired = [],
      stale = [],
      fresh = [],
      ageMs = 0,
      wanted = [],
      about = [],
    }: ReceivedMessage,
    now: number,
  ): void {
    for (const definition of def) this.#define(definition);
    for (const id of undef) this.#remove(this.#byId.get(id));
    for (const [id, value] of set) {
      const parameter = this.#byId.get(id);
      if (parameter === undefined) continue;
      parameter.reportedIn = this.connection;
      this.#change(parameter, value);
    }
    for (const id of fired) this.#fire(this.#byId.get(id));
    for (const id of stale) this.#age(this.#byId.get(id), now - ageMs);
    for (const id of fresh) this.#age(this.#byId.get(id), undefined);
    for (const [id, value] of wanted) this.#want(this.#byId.get(id), value ?? undefined);
    for (const [id, one] of about) this.#describe(this.#byId.get(id), one ?? undefined);
    this.#notify();
  }

  /**
   * Notes that everything about parameters has arrived. After a snapshot, parameters that were not in the snapshot are removed, and values
   * that were not in the snapshot are unknown.
   */
  complete(parameters: Iterable<ReplicaParameter>, isSnapshot: boolean): void {
    for (const parameter of parameters) {
      parameter.completeIn = this.connection;
      if (parameter.staleSince !== undefined && parameter.staleIn !== this.connection) this.#age(parameter, undefined);
      else this.#notifyAge(parameter);
      if (parameter.wantedIn !== this.connection) this.#want(parameter, undefined);
      if (parameter.aboutIn !== this.connection) this.#describe(parameter, undefined);
      if (!isSnapshot) continue;
      if (parameter.definedIn !== this.connection) this.#remove(parameter);
      else if (parameter.reportedIn !== this.connection) this.#change(parameter, undefined);
    }
    this.#notify();
  }

  #define([id, address, type, access]: Definition): void {
    const matching = [...this.#queries].filter((query) => query.matches(address));
    const present = this.#byAddress.get(address);
    if (present?.id !== undefined && present.id !== id) this.#remove(present); // a new parameter has the same address
    let parameter = this.#byAddress.get(address);
    if (parameter === undefined) {
      if (matching.length === 0) return; // the client has unsubscribed in the meantime
      parameter = new ReplicaParameter(address);
      this.#byAddress.set(address, parameter);
    }
    this.#byId.set(id, parameter);
    parameter.id = id;
    parameter.definedIn = this.connection;
    if (parameter.type === type && parameter.access === accessOf(access)) return;
    parameter.type = type;
    parameter.access = accessOf(access);
    for (const query of matching) {
      if (!parameter.followers.includes(query)) this.#join(parameter, query);
      query.defined(parameter);
      this.touch(query);
    }
  }

  #join(parameter: ReplicaParameter, query: LiveQuery): void {
    if (!query.matches(parameter.address)) return;
    parameter.followers = [...parameter.followers, query];
    query.parameters.set(parameter.address, parameter);
  }

  #change(parameter: ReplicaParameter, value: Value | undefined): void {
    if (parameter.value === value) return; // a repeated value changes nothing
    parameter.value = value;
    const { address, watchers } = parameter;
    for (const follower of parameter.followers) {
      follower.changed({ address, value });
      this.touch(follower);
    }
    if (watchers?.isObserved) this.#news.push(() => watchers.next(value));
  }

  #fire(parameter: ReplicaParameter | undefined): void {
    if (parameter === undefined) return;
    const { address, watchers, fires } = parameter;
    for (const follower of parameter.followers) {
      follower.changed({ address, value: 1 });
      this.touch(follower);
    }
    this.#news.push(() => {
      watchers?.next(1);
      fires?.next(1);
    });
  }

  #age(parameter: ReplicaParameter | undefined, staleSince: number | undefined): void {
    if (parameter === undefined) return;
    parameter.staleIn = this.connection;
    const isSame = (parameter.staleSince === undefined) === (staleSince === undefined);
    parameter.staleSince = staleSince;
    if (isSame) return;
    for (const follower of parameter.followers) {
      follower.aged(parameter);
      this.touch(follower);
    }
    this.#notifyAge(parameter);
  }

  #want(parameter: ReplicaParameter | undefined, wanted: Value | undefined): void {
    if (parameter === undefined) return;
    parameter.wantedIn = this.connection;
    if (parameter.wanted === wanted) return;
    parameter.wanted = wanted;
    this.#mark(parameter);
  }

  #describe(parameter: ReplicaParameter | undefined, about: About | undefined): void {
    if (parameter === undefined) return;
    parameter.aboutIn = this.connection;
    if (JSON.stringify(parameter.about) === JSON.stringify(about)) return;
    parameter.about = about;
    this.#mark(parameter);
  }

  #mark(parameter: ReplicaParameter): void {
    for (const follower of parameter.followers) {
      follower.marked(parameter);
      this.touch(follower);
    }
    this.#notifyAge(parameter);
  }

  #notifyAge({ ages }: ReplicaParameter): void {
    if (ages?.isObserved) this.#news.push(() => ages.next());
  }

  #remove(parameter: ReplicaParameter | undefined): void {
    if (parameter === undefined) return;
    parameter.staleSince = parameter.wanted = parameter.about = undefined;
    this.#notifyAge(parameter);
    this.#byId.delete(parameter.id!);
    parameter.id = parameter.type = parameter.access = undefined;
    for (const follower of parameter.followers) {
      follower.parameters.delete(parameter.address);
      follower.removed(parameter.address);
      this.touch(follower);
    }
    parameter.followers = [];
    this.#change(parameter, undefined);
    this.#dropUnused(parameter);
  }

  #dropUnused(parameter: ReplicaParameter): void {
    if (parameter.isPooled || parameter.followers.length > 0) return;
    this.#byId.delete(parameter.id!);
    this.#byAddress.delete(parameter.address);
  }

  /** Makes a follower emit its batch once, together with the next notifications. */
  touch(follower: Follower): void {
    if (follower.isTouched) return;
    follower.isTouched = true;
    this.#news.push(() => follower.notify());
  }

  #notify(): void {
    const news = this.#news;
    this.#news = [];
    for (const notify of news) notify();
  }
}
