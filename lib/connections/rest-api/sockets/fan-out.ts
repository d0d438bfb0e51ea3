// Fans changes out to subscribers. At the first change of a parameter after subscribers have come, the fan-out finds out which of them it
// matches, and its channel remembers that. After that a change costs only what its observers cost, however many subscribers there are, and
// one comparison of numbers, which says that nobody has come or left.

import type { Change, Origin, Parameter } from '../../../model/parameter.ts';
import { Durations } from '../../../model/time/duration.ts';
import type { Value } from '../../../model/value.ts';

/** Hears of each change of one parameter. */
export interface Observer {
  readonly subscriber: Subscriber;
  notify(change: Change): void;
}

/** Hears of the changes of all parameters that it matches: a group of sockets. */
export interface Subscriber {
  matches(parameter: Parameter): boolean;
  /** Makes the observer of one channel. The fan-out calls this once for each parameter that matches. */
  observe(channel: Channel): Observer;
}

/** Channels may still have observers of so many subscribers that have left, or of as many as there are subscribers. */
const maxForgotten = 64;

const nobody: readonly Observer[] = [];

export class FanOut {
  /** There are at most as many as there are parameters. */
  readonly #channels = new Map<Parameter, Channel>();
  /** The parameters of the channels, by the numbers of these. */
  readonly #parameters = new Map<number, Parameter>();
  /** Subscribers in the order in which they came, each with its number in that order. */
  readonly #subscribers = new Map<Subscriber, number>();
  /** The same as a list, at whose end a channel finds those that are new to it; undefined: the list must be made again. */
  #list: Subscriber[] | undefined = [];
  #came = 0;
  #left = 0;
  /** How many had left when all channels last forgot them. */
  #swept = 0;
  #nextId = 1;
  /** Which changes were told in the last two rounds of the event loop. */
  readonly rounds = new Rounds();
  /** How many changes clients that were behind were not sent: of values, by who wants every change, and fires of triggers. */
  readonly lost = { values: 0, fires: 0 };
  /** How many changes there were, by who made them. */
  readonly changes: Record<Origin['kind'], number> = { client: 0, connection: 0, rule: 0, restored: 0 };

  join(subscriber: Subscriber): void {
    this.#subscribers.set(subscriber, ++this.#came);
    this.#list?.push(subscriber);
  }

  leave(subscriber: Subscriber): void {
    if (!this.#subscribers.delete(subscriber)) return;
    this.#left++;
    this.#list = undefined;
    const { size } = this.#subscribers;
    if (size === 0 || this.#left - this.#swept > Math.max(size, maxForgotten)) this.#sweep();
  }

  /** Tells a change to the subscribers that match its parameter. */
  readonly notify = (change: Change): void => {
    const isTimed = this.rounds.note(change.revision);
    this.#count(change.origin);
    if (this.#subscribers.size === 0) return;
    const channel = this.channelOf(change.parameter);
    if (channel.matched !== this.#came || channel.left !== this.#left) this.#match(channel);
    if (channel.only !== undefined) channel.only.notify(change);
    else {
      const { observers } = channel;
      for (let index = 0; index < observers.length; index++) observers[index]!.notify(change);
    }
    channel.revision = change.revision;
    if (isTimed) this.rounds.time();
  };

  /** Each kind is named, since V8 takes longer to find what a variable names. */
  #count({ kind }: Origin): void {
    if (kind === 'client') this.changes.client++;
    else if (kind === 'rule') this.changes.rule++;
    else if (kind === 'connection') this.changes.connection++;
    else this.changes.restored++;
  }

  /** Who observes a parameter. */
  observersOf(parameter: Parameter): readonly Observer[] {
    if (this.#subscribers.size === 0) return nobody;
    const channel = this.channelOf(parameter);
    if (channel.matched !== this.#came || channel.left !== this.#left) this.#match(channel);
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

  /** The number by which sockets know a parameter; undefined: they do not know it. */
  idOf(parameter: Parameter): number | undefined {
    return this.#channels.get(parameter)?.id;
  }

  /** The parameter that sockets know by this number. */
  parameterOf(id: number): Parameter | undefined {
    return this.#parameters.get(id);
  }

  /** Forgets a parameter that was taken out; returns its channel. */
  forget(parameter: Parameter): Channel | undefined {
    const channel = this.#channels.get(parameter);
    if (channel === undefined) return undefined;
    this.#channels.delete(parameter);
    this.#parameters.delete(channel.id);
    if (parameter.channel === channel) parameter.channel = undefined;
    return channel;
  }

  /** Has also those channels forget who left that have no changes. */
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
    channel.matched = this.#came;
  }
}

/** The changes of one parameter and who observes them. */
export class Channel {
  readonly parameter: Parameter;
  /** Sockets call the parameter by this number. No other parameter has ever had it. */
  readonly id: number;
  readonly keeper: FanOut | undefined;
  observers: Observer[] = [];
  /** The observer, where there is one: a list of one would be two more places in memory. */
  only: Observer | undefined = undefined;
  /** The revision of the last change that observers were told. */
  revision = 0;
  /** The number of the last subscriber that was matched with the parameter, and how many subscribers had left by then. */
  matched = 0;
  left = 0;
  /** The value as it is sent, for the revision beside it. It is kept for the next group that sends it. */
  #item = '';
  #itemRevision = 0;

  constructor(parameter: Parameter, id: number, keeper?: FanOut) {
    this.parameter = parameter;
    this.id = id;
    this.keeper = keeper;
  }

  /** Encodes the value of a revision once, however many groups send it. */
  itemOf(value: Value, revision: number, encode: (id: number, value: Value) => string): string {
    if (this.#itemRevision !== revision) {
      this.#itemRevision = revision;
      this.#item = encode(this.id, value);
    }
    return this.#item;
  }
}

/** One round of so many is timed. */
const timedEvery = 16;

/**
 * Knows which changes were told in the last two rounds of the event loop. At the end of a round uWebSockets.js sends what was published in
 * it. So when it drops a frame, that frame was published in this round or in the one before.
 */
export class Rounds {
  /** The revision before the first change of this round, and that of the round before; undefined: nothing was told in it. */
  #current: number | undefined = undefined;
  #previous: number | undefined = undefined;

  #count = 0;
  /** When the first change of the round that was timed last was told. */
  #beganMs = 0;
  /** From the first change of a round until what its observers had sent in this round is with the sockets; of one round in sixteen. */
  readonly durations = new Durations();

  /** Notes that the change of a revision is being told; returns whether `time` is to be called once its observers know it. */
  note(revision: number): boolean {
    if (this.#current !== undefined) return false;
    this.#current = revision - 1;
    setImmediate(this.#end);
    if (++this.#count % timedEvery !== 0) return false;
    this.#beganMs = performance.now();
    return true;
  }

  /** Times the round. What the observers have put off until its end is done before this is over. */
  time(): void {
    setImmediate(this.#endTiming);
  }

  /** Returns a revision up to which every frame has left; `newest` is the revision of the hub. */
  leftUpTo(newest: number): number {
    return Math.min(this.#previous ?? newest, this.#current ?? newest);
  }

  readonly #end = () => {
    this.#previous = this.#current;
    this.#current = undefined;
  };

  readonly #endTiming = () => this.durations.add((performance.now() - this.#beganMs) / 1000);
}
