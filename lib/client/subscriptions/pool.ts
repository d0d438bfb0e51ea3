// Groups the parameters to which a program subscribes by address into a few protocol subscriptions. Parameters that are requested in the
// same microtask form a group. If there are too many groups, all parameters are regrouped.

import { maxMessageBytes, maxPatternLength, maxPatterns } from '../../wire/limits.ts';
import type { SubscriptionRequest } from '../../wire/v1/client-messages.ts';
import type { Replica } from '../replica/replica.ts';
import type { ReplicaParameter } from '../replica/replica-parameter.ts';
import type { Subscription, Subscriptions } from './subscriptions.ts';

/** The maximum number of groups while parameters are being regrouped; at other times, half this number. */
const maxGroups = 16;
/** The maximum size of a subscription message without its patterns, in bytes. */
const frameBytes = 256;

interface PoolOptions {
  readonly replica: Replica;
  readonly subscriptions: Subscriptions;
  /** The rate and delivery for all groups. */
  readonly defaults: Pick<SubscriptionRequest, 'rate' | 'delivery'>;
}

class Group implements Subscription {
  readonly request: SubscriptionRequest;
  readonly members: ReadonlySet<ReplicaParameter>;
  /** The members that no longer have a subscriber. */
  readonly left = new Set<ReplicaParameter>();

  readonly fail: (error: Error) => void;

  constructor(
    members: readonly ReplicaParameter[],
    defaults: PoolOptions['defaults'],
    failed: (group: Group, error: Error) => void,
  ) {
    this.fail = (error) => failed(this, error);
    this.members = new Set(members);
    this.request = { include: members.map(({ address }) => address), ...defaults };
  }

  get remaining(): ReplicaParameter[] {
    return [...this.members].filter((parameter) => !this.left.has(parameter));
  }

  parameters(): Iterable<ReplicaParameter> {
    return this.members;
  }

  complete(): void {}
}

export class Pool {
  readonly #options: PoolOptions;
  /**
   * The group of each parameter with a subscriber; undefined if the parameter is waiting for the next microtask. The size of the map is
   * bounded by `maxGroups` times the number of addresses in a message.
   */
  readonly #groupOf = new Map<ReplicaParameter, Group | undefined>();
  #groups: Group[] = [];
  #maxPatterns = maxPatterns;
  #isScheduled = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Sets the maximum number of patterns per subscription, as reported by the hub. Call this before the groups are sent. */
  fit(most: number): void {
    if (most === this.#maxPatterns) return;
    this.#maxPatterns = most;
    this.#gather();
  }

  /** Adds a subscriber to an address, and returns the parameter. Errors: a `RangeError` if the address is invalid. */
  join(address: string): ReplicaParameter {
    if (address.length === 0 || address.length > maxPatternLength)
      throw new RangeError(`address: expected 1 to ${maxPatternLength} characters, got ${address.length}`);
    const parameter = this.#options.replica.pool(address);
    this.#groupOf.get(parameter)?.left.delete(parameter);
    if (!this.#groupOf.has(parameter)) {
      this.#groupOf.set(parameter, undefined);
      this.#schedule();
    }
    return parameter;
  }

  /** Notes that a parameter no longer has a subscriber. */
  leave(parameter: ReplicaParameter): void {
    const group = this.#groupOf.get(parameter);
    group?.left.add(parameter);
    if (group === undefined) this.#release(parameter);
    else if (group.left.size * 2 >= group.members.size) this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#gather();
    });
  }

  #gather(): void {
    const { subscriptions, defaults } = this.#options;
    const waiting = [...this.#groupOf].filter(([, group]) => group === undefined).map(([parameter]) => parameter);
    const most = this.#maxPatterns;
    let replaced = this.#groups.filter(({ left, members }) => left.size * 2 >= members.size || members.size > most);
    let lists = pack(most, [...replaced.flatMap(({ remaining }) => remaining), ...waiting]);
    if (this.#groups.length - replaced.length + lists.length > maxGroups / 2) {
      replaced = this.#groups;
      lists = pack(most, [...replaced.flatMap(({ remaining }) => remaining), ...waiting]);
    }
    const kept = this.#groups.filter((group) => !replaced.includes(group));
    const groups = lists.map((list) => new Group(list, defaults, (group, error) => this.#fail(group, error)));
    const tooMany = groups.splice(maxGroups / 2);
    this.#groups = [...kept, ...groups];
    for (const group of groups) {
      for (const parameter of group.members) this.#groupOf.set(parameter, group);
      subscriptions.add(group); // before the old group is removed, so that no change is missed
    }
    for (const group of replaced) {
      subscriptions.remove(group);
      for (const parameter of group.left) this.#release(parameter);
    }
    for (const group of tooMany)
      this.#fail(group, new RangeError('too many subscriptions to individual addresses: use select() instead'));
  }

  #fail(group: Group, error: Error): void {
    this.#groups = this.#groups.filter((one) => one !== group);
    for (const parameter of group.members) {
      this.#release(parameter);
      parameter.watchers?.error(error);
      parameter.fires?.error(error);
      parameter.ages?.error(error);
    }
  }

  #release(parameter: ReplicaParameter): void {
    this.#groupOf.delete(parameter);
    this.#options.replica.unpool(parameter);
  }
}

/** Splits parameters into lists that each fit into one message, with at most `most` parameters. */
function pack(most: number, parameters: readonly ReplicaParameter[]): ReplicaParameter[][] {
  const lists: ReplicaParameter[][] = [];
  let list: ReplicaParameter[] = [];
  let bytes = 0;
  for (const parameter of parameters) {
    const own = new TextEncoder().encode(JSON.stringify(parameter.address)).length + 1;
    if (list.length === 0 || list.length === most || bytes + own > maxMessageBytes - frameBytes) {
      list = [];
      bytes = 0;
      lists.push(list);
    }
    list.push(parameter);
    bytes += own;
  }
  return lists;
}
