// Reports the marks of parameters to clients: staleness, writes that a device has not confirmed yet, and metadata. A hub may own a hundred
// thousand parameters, so parameters are checked in slices, and reported with their state at that time. For a client that does not read,
// the hub only notes that a full report is due.

import { type About, type Parameter, staleSinceOf } from '../../../../model/parameter.ts';
import { wallClock } from '../../../../model/time/wall-clock.ts';
import type { Value } from '../../../../model/value.ts';
import type { Parameters } from '../../../hub-port.ts';
import type { Channel, FanOut, Subscriber } from '../fan-out.ts';
import type { Client } from './client.ts';
import { type Stopped, stepUntil } from './client-catch-up.ts';
import { cut, defFrame, definition, item } from './frames.ts';
import type { Group } from './group.ts';
import type { Membership } from './membership.ts';
import { listedParameters, type Subscription } from './subscription.ts';

/** The maximum duration of a slice, in milliseconds, and the number of parameters between two checks of the clock. */
const sliceMs = 2;
const lookEvery = 64;
/** The maximum number of parameters that a walk visits before sending the marks that it has found. */
const stepSize = 1024;

/**
 * The state of a parameter apart from its value: since when the parameter has been stale, a write that is not confirmed yet, and metadata.
 */
interface Mark {
  readonly since: number | undefined;
  readonly wanted: Value | undefined;
  readonly about: About | undefined;
}

/** The parts of a mark that are to be sent. */
interface Parts {
  readonly age: boolean;
  readonly wanted: boolean;
  readonly about: boolean;
}

const unmarked: Mark = { since: undefined, wanted: undefined, about: undefined };

function markOf(parameter: Parameter): Mark {
  return { since: staleSinceOf(parameter), wanted: parameter.wanted?.value, about: parameter.about };
}

function isMarked({ since, wanted, about }: Mark): boolean {
  return since !== undefined || wanted !== undefined || about !== undefined;
}

export class Staleness {
  readonly #hub: Parameters;
  readonly #fanOut: FanOut;
  readonly #groups: ReadonlyMap<string, Group>;
  /** The last known marks of parameters that have ever had a mark. */
  readonly #known = new Map<Parameter, Mark>();
  /** The number of parameters that have a mark. */
  #marked = 0;
  /** The parameters that are still to be checked, in order. */
  #due: Iterator<Parameter>[] = [];
  /** The walks for clients that still need a report on all of their parameters, by client. */
  readonly #walks = new Map<Client, MarkWalk>();

  constructor(hub: Parameters, fanOut: FanOut, groups: ReadonlyMap<string, Group>) {
    this.#hub = hub;
    this.#fanOut = fanOut;
    this.#groups = groups;
  }

  /** Checks parameters soon, and reports marks that have changed to the subscribed clients. */
  look(parameters: Iterable<Parameter>): void {
    if (this.#due.push(parameters[Symbol.iterator]()) === 1) setImmediate(this.#work);
  }

  /** Forgets a parameter that the hub has removed. */
  forget(parameter: Parameter): void {
    if (isMarked(this.#known.get(parameter) ?? unmarked)) this.#marked--;
    this.#known.delete(parameter);
  }

  /** Schedules a report on all of a client's parameters. `sendsAll` includes parameters without marks. */
  owe(client: Client, sendsAll = this.#walks.get(client)?.sendsAll ?? false): void {
    if (this.#marked === 0 && !sendsAll) return;
    const find = (address: string) => this.#hub.find(address);
    this.#walks.set(client, new MarkWalk(this.#known, client.subscriptions, sendsAll, this.#fanOut, find));
  }

  /** Continues the report to a client until `endMs`; returns the reason why the report stopped. */
  goOn(member: Membership, endMs: number): Stopped {
    const stopped = this.#walks.get(member.client)?.run(member, endMs) ?? 'done';
    if (stopped === 'done') this.#walks.delete(member.client);
    return stopped;
  }

  /** Removes a client that has disconnected or is about to disconnect. */
  remove(client: Client): void {
    this.#walks.delete(client);
  }

  readonly #work = () => {
    const endMs = performance.now() + sliceMs;
    const found = new Map<Subscriber, MarkFrames>();
    let looked = 0;
    while (this.#due.length > 0 && (++looked % lookEvery !== 0 || performance.now() < endMs)) {
      const { done, value: parameter } = this.#due[0]!.next();
      if (done) this.#due.shift();
      else this.#note(parameter, found);
    }
    for (const group of this.#groups.values()) {
      const marks = found.get(group);
      if (marks === undefined) continue;
      group.flush(); // the values that made parameters fresh, or confirmed a write, are sent first
      this.#notify(group, marks);
    }
    if (this.#due.length > 0) setImmediate(this.#work);
  };

  /** Checks the mark of a parameter; if the mark has changed, adds it to the frames for each subscriber in `found`. */
  #note(parameter: Parameter, found: Map<Subscriber, MarkFrames>): void {
    const mark = markOf(parameter);
    const before = this.#known.get(parameter) ?? unmarked;
    const parts = {
      age: (mark.since === undefined) !== (before.since === undefined),
      wanted: mark.wanted !== before.wanted,
      about: mark.about !== before.about,
    };
    if (!parts.age && !parts.wanted && !parts.about) return;
    if (this.#hub.find(parameter.address) !== parameter) return;
    this.#known.set(parameter, mark);
    this.#marked += Number(isMarked(mark)) - Number(isMarked(before));
    for (const { subscriber } of this.#fanOut.observersOf(parameter)) {
      const frames = found.get(subscriber) ?? new MarkFrames();
      found.set(subscriber, frames);
      frames.add(this.#fanOut.channelOf(parameter), mark, parts);
    }
  }

  #notify(group: Group, marks: MarkFrames): void {
    const frames = marks.frames();
    const withDefinitions = [...marks.definitions(), ...frames];
    for (const member of group.members())
      if (member.lacksValues || !sendAll(member.client, member.isDefined ? frames : withDefinitions))
        this.owe(member.client, true); // the report to the client follows the values
  }
}

/**
 * Reports the marks of all subscribed parameters to one client, after it has subscribed and after changes that the client did not read.
 * Continues as fast as the client can read.
 */
class MarkWalk {
  /**
   * Whether the report includes parameters without marks. If nothing has been reported to the client before, it needs no report on these
   * parameters.
   */
  readonly sendsAll: boolean;
  readonly #known: ReadonlyMap<Parameter, Mark>;
  readonly #fanOut: FanOut;
  readonly #subscriptions: readonly Subscription[];
  readonly #parameters: Iterator<Parameter>;

  constructor(
    known: ReadonlyMap<Parameter, Mark>,
    subscriptions: readonly Subscription[],
    sendsAll: boolean,
    fanOut: FanOut,
    find: (address: string) => Parameter | undefined,
  ) {
    this.sendsAll = sendsAll;
    this.#known = known;
    this.#fanOut = fanOut;
    this.#subscriptions = subscriptions;
    this.#parameters = (listedParameters(subscriptions, find) ?? known).keys();
  }

  /** Continues the report until `endMs` and while the socket has space; returns the reason why the report stopped. */
  run(member: Membership, endMs: number): Stopped {
    return stepUntil(endMs, member.client, () => this.#step(member));
  }

  /** Visits the next parameters, and sends their marks even if the socket is full; returns whether there may be more parameters. */
  #step(member: Membership): boolean {
    const marks = new MarkFrames();
    let looked = 0;
    for (; looked < stepSize; looked++) {
      const { done, value: parameter } = this.#parameters.next();
      if (done) break;
      const mark = this.#known.get(parameter);
      if (mark === undefined || (!isMarked(mark) && !this.sendsAll)) continue;
      if (!this.#subscriptions.some(({ selection }) => selection.has(parameter))) continue;
      const { since, wanted, about } = mark;
      const has = (part: unknown) => part !== undefined || this.sendsAll;
      const parts = { age: has(since), wanted: has(wanted), about: has(about) };
      marks.add(this.#fanOut.channelOf(parameter), { ...mark, since: since && staleSinceOf(parameter) }, parts);
    }
    if (!member.isDefined) for (const frame of marks.definitions()) member.client.send(frame);
    for (const frame of marks.frames()) member.client.send(frame);
    return looked === stepSize;
  }
}

/**
 * Collects marks and encodes them as frames: `{"stale":[7,9],"ageMs":3012}`, `{"fresh":[7,9]}`, `{"wanted":[[7,3],[9,null]]}`,
 * `{"about":[[7,{"unit":"dB"}]]}`.
 */
class MarkFrames {
  readonly #marked: Channel[] = [];
  readonly #ages = new Map<number | undefined, string[]>();
  readonly #wanted: string[] = [];
  readonly #about: string[] = [];

  add(channel: Channel, mark: Mark, parts: Parts): void {
    const { id } = channel;
    const { since, wanted, about } = mark;
    if (isMarked(mark)) this.#marked.push(channel);
    if (parts.age) {
      const ids = this.#ages.get(since);
      if (ids === undefined) this.#ages.set(since, [String(id)]);
      else ids.push(String(id));
    }
    if (parts.wanted) this.#wanted.push(wanted === undefined ? `[${id},null]` : item(id, wanted));
    if (parts.about) this.#about.push(`[${id},${about === undefined ? 'null' : JSON.stringify(about)}]`);
  }

  /**
   * Returns the frames with definitions for clients that may lack them. Only parameters with a mark are defined: a client that was sent a
   * mark already has the definition when the mark is gone.
   */
  definitions(): string[] {
    return [...cut(this.#marked.map(definition))].map(defFrame);
  }

  frames(): string[] {
    const ages = [...this.#ages].flatMap(([since, ids]) => {
      const ageMs = since === undefined ? 0 : Math.max(0, Math.round(wallClock.now() - since));
      return [...cut(ids)].map((some) =>
        since === undefined ? `{"fresh":[${some}]}` : `{"stale":[${some}],"ageMs":${ageMs}}`,
      );
    });
    const wanted = [...cut(this.#wanted)].map((some) => `{"wanted":[${some}]}`);
    return [...ages, ...wanted, ...[...cut(this.#about)].map((some) => `{"about":[${some}]}`)];
  }
}

/** Sends frames to a client while the socket has space; returns whether all frames were sent. */
function sendAll(client: Client, frames: readonly string[]): boolean {
  for (const frame of frames) {
    if (client.isFull) return false;
    client.send(frame);
  }
  return true;
}
