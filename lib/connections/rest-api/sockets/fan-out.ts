// Fans changes out to subscribers. Which of them a parameter matches is found out at its first change after they came, and
// remembered: one comparison of numbers per change says that nobody has come or left.

import type { Change, Parameter } from '../../../model/parameter.ts';
import { Channel, type Subscriber } from './channel.ts';
import { Rounds } from './rounds.ts';

/** How many subscribers that have left parameters may remember, if fewer than this are there. */
const maxForgotten = 64;

export class FanOut {
  /** Bounded by the number of parameters, of which it forgets those that are no more. */
  readonly #channels = new Map<Parameter, Channel>();
  /** Those of the channels. */
  readonly #parameters = new Map<number, Parameter>();
  /** In the order in which they came, each with its number in that order. */
  readonly #subscribers = new Map<Subscriber, number>();
  /** The same as a list, so that those that a channel has not seen yet are found from its end; undefined: to be made anew. */
  #list: Subscriber[] | undefined = [];
  #came = 0;
  #left = 0;
  /** How many had left when all parameters forgot them. */
  #swept = 0;
  #nextId = 1;
  /** Which changes were told in the last two rounds of the event loop. */
  readonly rounds = new Rounds();

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

  /** Tells a change to every subscriber that its parameter matches. */
  readonly tell = (change: Change): void => {
    this.rounds.note(change.revision);
    if (this.#subscribers.size === 0) return;
    const channel = this.channelOf(change.parameter);
    if (channel.matched !== this.#came || channel.left !== this.#left) this.#match(channel);
    const { observers } = channel;
    for (let index = 0; index < observers.length; index++) observers[index]!.tell(change);
    channel.revision = change.revision;
  };

  channelOf(parameter: Parameter): Channel {
    let channel = this.#channels.get(parameter);
    if (channel === undefined) {
      channel = new Channel(parameter, this.#nextId++);
      this.#channels.set(parameter, channel);
      this.#parameters.set(channel.id, parameter);
    }
    return channel;
  }

  /** What sockets know a parameter by; undefined: they do not, or no more. */
  idOf(parameter: Parameter): number | undefined {
    return this.#channels.get(parameter)?.id;
  }

  /** The parameter that sockets know by this number. */
  parameterOf(id: number): Parameter | undefined {
    return this.#parameters.get(id);
  }

  /** Forgets a parameter that is no more; returns what it was to sockets. */
  forget(parameter: Parameter): Channel | undefined {
    const channel = this.#channels.get(parameter);
    if (channel === undefined) return undefined;
    this.#channels.delete(parameter);
    this.#parameters.delete(channel.id);
    return channel;
  }

  /** Forgets those who have left also where nothing changes. */
  #sweep(): void {
    this.#swept = this.#left;
    for (const channel of this.#channels.values()) this.#forgetLeft(channel);
  }

  #forgetLeft(channel: Channel): void {
    if (channel.left !== this.#left && channel.observers.length > 0)
      channel.observers = channel.observers.filter(({ subscriber }) => this.#subscribers.has(subscriber));
    channel.left = this.#left;
  }

  #match(channel: Channel): void {
    this.#forgetLeft(channel);
    this.#list ??= [...this.#subscribers.keys()];
    let first = this.#list.length;
    while (first > 0 && this.#subscribers.get(this.#list[first - 1]!)! > channel.matched) first--;
    for (const subscriber of this.#list.slice(first))
      if (subscriber.matches(channel.parameter)) channel.observers.push(subscriber.observe(channel));
    channel.matched = this.#came;
  }
}
