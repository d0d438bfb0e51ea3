// Which parameters are stale, as nothing is heard of the hub that owns them, and who is told. One hub may own a hundred thousand: they
// are looked at in slices, and told as they are by then. Who does not read keeps nothing but the duty to be told all of it.

import type { Parameter } from '../../../../model/parameter.ts';
import { wallClock } from '../../../../model/time/wall-clock.ts';
import type { Parameters } from '../../../hub-port.ts';
import type { Channel, FanOut, Subscriber } from '../fan-out.ts';
import type { Client } from './client.ts';
import { type Stopped, stepUntil } from './client-catch-up.ts';
import { cut, defFrame, definition } from './frames.ts';
import type { Group } from './group.ts';
import type { Membership } from './membership.ts';
import { listedParameters, type Subscription } from './subscription.ts';

/** How long a slice is at most, and after how many parameters it looks at the clock. */
const sliceMs = 2;
const lookEvery = 64;
/** How many parameters a walk looks at before what was found is sent. */
const stepSize = 1024;

/** Parameters of which nothing has been heard since a time, in milliseconds since 1970; undefined: they are fresh again. */
interface StaleChannels {
  readonly since: number | undefined;
  readonly channels: readonly Channel[];
}

export class Staleness {
  readonly #hub: Parameters;
  readonly #fanOut: FanOut;
  readonly #groups: ReadonlyMap<string, Group>;
  /** The parameters that have ever been stale, and whether they are. */
  readonly #known = new Map<Parameter, boolean>();
  /** How many are. */
  #stale = 0;
  /** What is to be looked at, in order. */
  #due: Iterator<Parameter>[] = [];
  /** The clients that are yet to be told how fresh all is that they have subscribed to. */
  readonly #walks = new Map<Client, StaleWalk>();

  constructor(hub: Parameters, fanOut: FanOut, groups: ReadonlyMap<string, Group>) {
    this.#hub = hub;
    this.#fanOut = fanOut;
    this.#groups = groups;
  }

  /** Looks at parameters soon, and tells which have become stale or fresh. */
  look(parameters: Iterable<Parameter>): void {
    if (this.#due.push(parameters[Symbol.iterator]()) === 1) setImmediate(this.#work);
  }

  /** Forgets a parameter that is no more. */
  forget(parameter: Parameter): void {
    if (this.#known.get(parameter)) this.#stale--;
    this.#known.delete(parameter);
  }

  /** Has a client be told what is stale of all that it subscribes to by now. */
  owe(client: Client, sendsFresh = this.#walks.get(client)?.sendsFresh ?? false): void {
    if (this.#stale === 0 && !sendsFresh) return;
    const find = (address: string) => this.#hub.find(address);
    this.#walks.set(client, new StaleWalk(this.#known, client.subscriptions, sendsFresh, this.#fanOut, find));
  }

  /** Goes on telling a member until a time; says what stopped it. */
  goOn(member: Membership, endMs: number): Stopped {
    const stopped = this.#walks.get(member.client)?.run(member, endMs) ?? 'done';
    if (stopped === 'done') this.#walks.delete(member.client);
    return stopped;
  }

  /** Forgets a client that is gone, or about to be. */
  remove(client: Client): void {
    this.#walks.delete(client);
  }

  readonly #work = () => {
    const endMs = performance.now() + sliceMs;
    const found = new Map<Subscriber, Map<number | undefined, Channel[]>>();
    let looked = 0;
    while (this.#due.length > 0 && (++looked % lookEvery !== 0 || performance.now() < endMs)) {
      const { done, value: parameter } = this.#due[0]!.next();
      if (done) this.#due.shift();
      else if (this.#note(parameter)) this.#gather(parameter, found);
    }
    for (const group of this.#groups.values()) {
      const stale = found.get(group);
      if (stale === undefined) continue;
      group.flush(); // the values that made it fresh come before
      for (const [since, channels] of stale) this.#notify(group, { since, channels });
    }
    if (this.#due.length > 0) setImmediate(this.#work);
  };

  /** Returns whether it has become stale or fresh. */
  #note(parameter: Parameter): boolean {
    const isStale = parameter.remote?.staleSince !== undefined;
    if (isStale === (this.#known.get(parameter) ?? false)) return false;
    if (this.#hub.find(parameter.address) !== parameter) return false;
    this.#known.set(parameter, isStale);
    this.#stale += isStale ? 1 : -1;
    return true;
  }

  #gather(parameter: Parameter, found: Map<Subscriber, Map<number | undefined, Channel[]>>): void {
    const since = parameter.remote?.staleSince;
    for (const { subscriber } of this.#fanOut.observersOf(parameter)) {
      const ofOne = found.get(subscriber) ?? new Map<number | undefined, Channel[]>();
      found.set(subscriber, ofOne);
      const channels = ofOne.get(since);
      if (channels === undefined) ofOne.set(since, [this.#fanOut.channelOf(parameter)]);
      else channels.push(this.#fanOut.channelOf(parameter));
    }
  }

  #notify(group: Group, stale: StaleChannels): void {
    const frames = staleFrames(stale);
    const withDefinitions = [...definitionFrames(stale), ...frames];
    for (const member of group.members())
      if (member.lacksValues || !sendAll(member.client, member.isDefined ? frames : withDefinitions))
        this.owe(member.client, true); // it is told which are fresh after the values
  }
}

/**
 * Tells one client how fresh everything is that it has subscribed to: when it has, and when it did not read while that changed. It goes on
 * as fast as the client reads.
 */
class StaleWalk {
  /** false: the client has been told of nothing that was stale, so it need not hear what is fresh. */
  readonly sendsFresh: boolean;
  readonly #known: ReadonlyMap<Parameter, boolean>;
  readonly #fanOut: FanOut;
  readonly #subscriptions: readonly Subscription[];
  readonly #parameters: Iterator<Parameter>;

  constructor(
    known: ReadonlyMap<Parameter, boolean>,
    subscriptions: readonly Subscription[],
    sendsFresh: boolean,
    fanOut: FanOut,
    find: (address: string) => Parameter | undefined,
  ) {
    this.sendsFresh = sendsFresh;
    this.#known = known;
    this.#fanOut = fanOut;
    this.#subscriptions = subscriptions;
    this.#parameters = (listedParameters(subscriptions, find) ?? known).keys();
  }

  /** Tells what the client takes until a time; says what stopped it. */
  run(member: Membership, endMs: number): Stopped {
    return stepUntil(endMs, member.client, () => this.#step(member));
  }

  /** Looks at some parameters, and sends what it finds, whatever room there is; returns whether there may be more. */
  #step(member: Membership): boolean {
    const found = new Map<number | undefined, Parameter[]>();
    let looked = 0;
    for (; looked < stepSize; looked++) {
      const { done, value: parameter } = this.#parameters.next();
      if (done) break;
      const isStale = this.#known.get(parameter);
      if (isStale === undefined || (!isStale && !this.sendsFresh)) continue;
      if (!this.#subscriptions.some(({ selection }) => selection.has(parameter))) continue;
      const since = isStale ? parameter.remote?.staleSince : undefined;
      found.set(since, [...(found.get(since) ?? []), parameter]);
    }
    for (const [since, parameters] of found) {
      const stale = { since, channels: parameters.map((parameter) => this.#fanOut.channelOf(parameter)) };
      const frames = staleFrames(stale);
      for (const frame of member.isDefined ? frames : [...definitionFrames(stale), ...frames])
        member.client.send(frame);
    }
    return looked === stepSize;
  }
}

/** `{"stale":[7,9],"ageMs":3012}`, or `{"fresh":[7,9]}`. */
function staleFrames({ since, channels }: StaleChannels): string[] {
  const ids = [...cut(channels.map(({ id }) => String(id)))];
  if (since === undefined) return ids.map((some) => `{"fresh":[${some}]}`);
  const ageMs = Math.max(0, Math.round(wallClock.now() - since));
  return ids.map((some) => `{"stale":[${some}],"ageMs":${ageMs}}`);
}

/** The definitions, for those who may lack them: who was told that something is stale knows it when it is fresh again. */
function definitionFrames({ since, channels }: StaleChannels): string[] {
  return since === undefined ? [] : [...cut(channels.map(definition))].map(defFrame);
}

/** Sends frames as long as there is room; returns whether the client took all. */
function sendAll(client: Client, frames: readonly string[]): boolean {
  for (const frame of frames) {
    if (client.isFull) return false;
    client.send(frame);
  }
  return true;
}
