// Sends changes to subscribers. At the first change of a parameter after subscribers have joined, the fan-out finds the subscribers that
// match the parameter and stores their observers in the parameter's channel. Each further change costs only the calls to the observers, and
// one comparison of numbers that detects whether a subscriber has joined or left.

import type { Change, Origin, Parameter } from '../../../model/parameter.ts';
import { Durations } from '../../../model/time/duration.ts';
import type { Value } from '../../../model/value.ts';

/** Receives the changes to one parameter for one subscriber. */
export interface Observer {
  readonly subscriber: Subscriber;
  notify(change: Change): void;
}

/** A group of sockets that receives the changes to all parameters that it matches. */
export interface Subscriber {
  matches(parameter: Parameter): boolean;
  /** Creates the observer for the channel of a matching parameter. The fan-out calls this method once for each matching parameter. */
  observe(channel: Channel): Observer;
}

/**
 * The number of departed subscribers whose observers may remain in channels before all of them are dropped, or the number of subscribers if
 * that is higher.
 */
const maxForgotten = 64;

const nobody: readonly Observer[] = [];

export class FanOut {
  /** The channels, keyed by parameter. There are at most as many channels as parameters. */
  readonly #channels = new Map<Parameter, Channel>();
  /** The parameters, keyed by the numbers of their channels. */
  readonly #parameters = new Map<number, Parameter>();
  /** The subscribers in the order in which they joined, each with its number in that order. */
  readonly #subscribers = new Map<Subscriber, number>();
  /**
   * The subscribers as a list. The newest subscribers are at the end, where channels look for them. Undefined if the list has to be
   * rebuilt.
   */
  #list: Subscriber[] | undefined = [];
  #joined = 0;
  #left = 0;
  /** The number of subscribers that had left when the observers of departed subscribers were last dropped from all channels. */
  #swept = 0;
  #nextId = 1;
  /** The last two rounds of the event loop in which there were changes. */
  readonly rounds = new Rounds();
  /**
   * The number of changes missed by clients that were behind: `values` counts changes for clients that want every change, `fires` counts
   * the firings of triggers.
   */
  readonly lost = { values: 0, fires: 0 };
  /** The number of changes for each kind of origin. */
  readonly changes: Record<Origin['kind'], number> = { client: 0, connection: 0, rule: 0, restored: 0 };

  join(subscriber: Subscriber): void {
    this.#subscribers.set(subscriber, ++this.#joined);
    this.#list?.push(subscriber);
  }

  leave(subscriber: Subscriber): void {
    if (!this.#subscribers.delete(subscriber)) return;
    this.#left++;
    this.#list = undefined;
    const { size } = this.#subscribers;
    if (size === 0 || this.#left - this.#swept > Math.max(size, maxForgotten)) this.#sweep();
  }

  /** Sends a change to the subscribers that match the changed parameter. */
  readonly notify = (change: Change): void => {
    const isTimed = this.rounds.note(change.revision);
    this.#count(change.origin);
    if (this.#subscribers.size === 0) return;
    const channel = this.channelOf(change.parameter);
    if (channel.matched !== this.#joined || channel.left !== this.#left) this.#match(channel);
    if (channel.only !== undefined) channel.only.notify(change);
    else {
      const { observers } = channel;
      for (let index = 0; index < observers.length; index++) observers[index]!.notify(change);
    }
    channel.revision = change.revision;
    if (isTimed) this.rounds.time();
  };

  /** Counts a change by its origin. Each kind is named, because V8 looks up a variable key more slowly. */
  #count({ kind }: Origin): void {
    if (kind === 'client') this.changes.client++;
    else if (kind === 'rule') this.changes.rule++;
    else if (kind === 'connection') this.changes.connection++;
    else this.changes.restored++;
  }

  /** Returns the observers of a parameter, including those of subscribers that have just joined. */
  observersOf(parameter: Parameter): readonly Observer[] {
    if (this.#subscribers.size === 0) return nobody;
    const channel = this.channelOf(parameter);
    if (channel.matched !== this.#joined || channel.left !== this.#left) this.#match(channel);
    return channel.observers;
  }

  channelOf(parameter: Parameter): Channel {
    const { channel } = parameter;
    return channel !== undefined && channel.keeper === this ? (channel as Channel) : this.#findChannel(parameter);
  }

  #findChannel(parameter: Parameter): Channel {
    let channel = this.#channels.get(parameter);
    if (channel === undefined) {
      channel = new Channel(parameter, this.#nextId++, this);
      parameter.channel ??= channel;
      this.#channels.set(parameter, channel);
      this.#parameters.set(channel.id, parameter);
    }
    return channel;
  }

  /** Returns the ID by which sockets know a parameter; undefined if no socket knows the parameter. */
  idOf(parameter: Parameter): number | undefined {
    return this.#channels.get(parameter)?.id;
  }

  /** Returns the parameter that sockets know by an ID; undefined if there is none. */
  parameterOf(id: number): Parameter | undefined {
    return this.#parameters.get(id);
  }

  /** Forgets a parameter that the hub has removed; returns the former channel of the parameter. */
  forget(parameter: Parameter): Channel | undefined {
    const channel = this.#channels.get(parameter);
    if (channel === undefined) return undefined;
    this.#channels.delete(parameter);
    this.#parameters.delete(channel.id);
    if (parameter.channel === channel) parameter.channel = undefined;
    return channel;
  }

  /** Drops the observers of departed subscribers, including those in channels without changes. */
  #sweep(): void {
    this.#swept = this.#left;
    for (const channel of this.#channels.values()) this.#forgetLeft(channel);
  }

  #forgetLeft(channel: Channel): void {
    if (channel.left !== this.#left && channel.observers.length > 0)
      channel.observers = channel.observers.filter(({ subscriber }) => this.#subscribers.has(subscriber));
    channel.only = channel.observers.length === 1 ? channel.observers[0] : undefined;
    channel.left = this.#left;
  }

  #match(channel: Channel): void {
    this.#forgetLeft(channel);
    this.#list ??= [...this.#subscribers.keys()];
    let first = this.#list.length;
    while (first > 0 && this.#subscribers.get(this.#list[first - 1]!)! > channel.matched) first--;
    for (const subscriber of this.#list.slice(first))
      if (subscriber.matches(channel.parameter)) channel.observers.push(subscriber.observe(channel));
    channel.only = channel.observers.length === 1 ? channel.observers[0] : undefined;
    channel.matched = this.#joined;
  }
}

/** The observers of one parameter, and the ID by which sockets know the parameter. */
export class Channel {
  readonly parameter: Parameter;
  /** The ID by which sockets know the parameter. IDs are never reused. */
  readonly id: number;
  readonly keeper: FanOut | undefined;
  observers: Observer[] = [];
  /** The observer, if there is only one: accessing the only item of a list would need two more memory accesses. */
  only: Observer | undefined = undefined;
  /** The revision of the last change that the observers received. */
  revision = 0;
  /** The number of the last subscriber that was matched with the parameter, and the number of subscribers that had left by that time. */
  matched = 0;
  left = 0;
  /** The encoded value for the revision `#itemRevision`, cached for the next group that sends the value. */
  #item = '';
  #itemRevision = 0;

  constructor(parameter: Parameter, id: number, keeper?: FanOut) {
    this.parameter = parameter;
    this.id = id;
    this.keeper = keeper;
  }

  /** Returns the encoded value for a revision. The value is encoded once, no matter how many groups send it. */
  itemOf(value: Value, revision: number, encode: (id: number, value: Value) => string): string {
    if (this.#itemRevision !== revision) {
      this.#itemRevision = revision;
      this.#item = encode(this.id, value);
    }
    return this.#item;
  }
}

/** The number of rounds of which one is timed. */
const timedEvery = 16;

/**
 * Tracks the changes in the last two rounds of the event loop. uWebSockets.js sends published frames at the end of the round, so a dropped
 * frame was published in this round or the previous round.
 */
export class Rounds {
  /** The revisions before the first change in this round and in the previous round; undefined for a round without changes. */
  #current: number | undefined = undefined;
  #previous: number | undefined = undefined;

  #count = 0;
  /** The time of the first change in the round that was timed last, in milliseconds on the monotonic clock. */
  #beganMs = 0;
  /** The time from the first change in a round until its frames reach the sockets, in seconds, measured in one out of sixteen rounds. */
  readonly durations = new Durations();

  /** Notes the revision of a change. Returns whether the caller has to call `time` once the observers have been notified. */
  note(revision: number): boolean {
    if (this.#current !== undefined) return false;
    this.#current = revision - 1;
    setImmediate(this.#end);
    if (++this.#count % timedEvery !== 0) return false;
    this.#beganMs = performance.now();
    return true;
  }

  /** Ends the timing of this round when the round ends, after the work that observers have deferred to that time. */
  time(): void {
    setImmediate(this.#endTiming);
  }

  /** Returns the revision up to which all frames have left the hub; `newest` is the hub's current revision. */
  leftUpTo(newest: number): number {
    return Math.min(this.#previous ?? newest, this.#current ?? newest);
  }

  readonly #end = () => {
    this.#previous = this.#current;
    this.#current = undefined;
  };

  readonly #endTiming = () => this.durations.add((performance.now() - this.#beganMs) / 1000);
}
