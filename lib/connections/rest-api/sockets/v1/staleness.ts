// Reports which parameters are stale because their hub is silent. One hub may own a hundred thousand parameters: they are checked in slices,
// and reported with their state at that time. For a client that does not read, the hub only notes that a full report is due.

import { type Parameter, staleSinceOf } from '../../../../model/parameter.ts';
import { wallClock } from '../../../../model/time/wall-clock.ts';
import type { Parameters } from '../../../hub-port.ts';
import type { Channel, FanOut, Subscriber } from '../fan-out.ts';
import type { Client } from './client.ts';
import { type Stopped, stepUntil } from './client-catch-up.ts';
import { cut, defFrame, definition } from './frames.ts';
import type { Group } from './group.ts';
import type { Membership } from './membership.ts';
import { listedParameters, type Subscription } from './subscription.ts';

/** How long a slice is at most, and after how many parameters it checks the clock. */
const sliceMs = 2;
const lookEvery = 64;
/** How many parameters a walk visits before it sends what it has found. */
const stepSize = 1024;

/** Parameters that have been stale since a time, in Unix milliseconds; undefined: they are fresh again. */
interface StaleChannels {
  readonly since: number | undefined;
  readonly channels: readonly Channel[];
}

export class Staleness {
  readonly #hub: Parameters;
  readonly #fanOut: FanOut;
  readonly #groups: ReadonlyMap<string, Group>;
  /** Every parameter that has ever been stale, and whether it is stale now. */
  readonly #known = new Map<Parameter, boolean>();
  /** How many are stale. */
  #stale = 0;
  /** The parameters to check, in order. */
  #due: Iterator<Parameter>[] = [];
  /** The walks of clients that still need a report on all of their parameters. */
  readonly #walks = new Map<Client, StaleWalk>();

  constructor(hub: Parameters, fanOut: FanOut, groups: ReadonlyMap<string, Group>) {
    this.#hub = hub;
    this.#fanOut = fanOut;
    this.#groups = groups;
  }

  /** Checks parameters soon, and reports which have become stale or fresh. */
  look(parameters: Iterable<Parameter>): void {
    if (this.#due.push(parameters[Symbol.iterator]()) === 1) setImmediate(this.#work);
  }

  /** Forgets a parameter that the hub has removed. */
  forget(parameter: Parameter): void {
    if (this.#known.get(parameter)) this.#stale--;
    this.#known.delete(parameter);
  }

  /** Schedules a report for a client on all of its parameters. */
  owe(client: Client, sendsFresh = this.#walks.get(client)?.sendsFresh ?? false): void {
    if (this.#stale === 0 && !sendsFresh) return;
    const find = (address: string) => this.#hub.find(address);
    this.#walks.set(client, new StaleWalk(this.#known, client.subscriptions, sendsFresh, this.#fanOut, find));
  }

  /** Continues the report to a member until a time; returns why it stopped. */
  goOn(member: Membership, endMs: number): Stopped {
    const stopped = this.#walks.get(member.client)?.run(member, endMs) ?? 'done';
    if (stopped === 'done') this.#walks.delete(member.client);
    return stopped;
  }

  /** Removes a client that is gone or about to go. */
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
      group.flush(); // the values that made it fresh go first
      for (const [since, channels] of stale) this.#notify(group, { since, channels });
    }
    if (this.#due.length > 0) setImmediate(this.#work);
  };

  /** Returns whether it has become stale or fresh. */
  #note(parameter: Parameter): boolean {
    const isStale = staleSinceOf(parameter) !== undefined;
    if (isStale === (this.#known.get(parameter) ?? false)) return false;
    if (this.#hub.find(parameter.address) !== parameter) return false;
    this.#known.set(parameter, isStale);
    this.#stale += isStale ? 1 : -1;
    return true;
  }

  #gather(parameter: Parameter, found: Map<Subscriber, Map<number | undefined, Channel[]>>): void {
    const since = staleSinceOf(parameter);
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
        this.owe(member.client, true); // its report follows the values
  }
}

/**
 * Reports to one client the freshness of everything that it has subscribed to: after it has subscribed, and after changes that it did not
 * read. Continues as fast as the client reads.
 */
class StaleWalk {
  /** false: nothing stale was reported to the client, so it needs no report of what is fresh. */
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

  /** Sends a report until a time and while there is room; returns why it stopped. */
  run(member: Membership, endMs: number): Stopped {
    return stepUntil(endMs, member.client, () => this.#step(member));
  }

  /** Visits some parameters, and sends what it finds even if there is no room; returns whether there may be more. */
  #step(member: Membership): boolean {
    const found = new Map<number | undefined, Parameter[]>();
    let looked = 0;
    for (; looked < stepSize; looked++) {
      const { done, value: parameter } = this.#parameters.next();
      if (done) break;
      const isStale = this.#known.get(parameter);
      if (isStale === undefined || (!isStale && !this.sendsFresh)) continue;
      if (!this.#subscriptions.some(({ selection }) => selection.has(parameter))) continue;
      const since = isStale ? staleSinceOf(parameter) : undefined;
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

/** Returns definitions for clients that may lack them. A client that was sent `stale` already has them when the parameter is fresh again. */
function definitionFrames({ since, channels }: StaleChannels): string[] {
  return since === undefined ? [] : [...cut(channels.map(definition))].map(defFrame);
}

/** Sends frames while there is room; returns whether the client took all. */
function sendAll(client: Client, frames: readonly string[]): boolean {
  for (const frame of frames) {
    if (client.isFull) return false;
    client.send(frame);
  }
  return true;
}
