// Which parameters are stale, as nothing is heard of the hub that owns them, and who is told. One hub may own a hundred thousand: they
// are looked at in slices, and told as they are by then. Who does not read keeps nothing but the duty to be told all of it.

import type { Parameter } from '../../../../../model/parameter.ts';
import type { Parameters } from '../../../../hub-port.ts';
import type { Channel, Subscriber } from '../../channel.ts';
import type { FanOut } from '../../fan-out.ts';
import type { Client } from '../client.ts';
import type { Group } from '../group.ts';
import type { Members } from '../members/members.ts';
import type { Stopped } from '../steps.ts';
import { definitionFrames, knowsAll, type StaleChannels, sendAll, staleFrames } from './stale-frames.ts';
import { StaleWalk } from './stale-walk.ts';

/** How long a slice is at most, and after how many parameters it looks at the clock. */
const sliceMs = 2;
const lookEvery = 64;

type StaleGroup = Subscriber & Pick<Group, 'flush'> & { readonly members: Pick<Members, 'live' | 'apart'> };

export class Staleness {
  readonly #hub: Parameters;
  readonly #fanOut: FanOut;
  readonly #groups: ReadonlyMap<string, StaleGroup>;
  /** The parameters that have ever been stale, and whether they are. */
  readonly #known = new Map<Parameter, boolean>();
  /** How many are. */
  #stale = 0;
  /** What is to be looked at, in order. */
  #due: Iterator<Parameter>[] = [];

  constructor(hub: Parameters, fanOut: FanOut, groups: ReadonlyMap<string, StaleGroup>) {
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
  owe(client: Client, tellsFresh = client.staleWalk?.tellsFresh ?? false): void {
    if (this.#stale === 0 && !tellsFresh) return;
    const find = (address: string) => this.#hub.find(address);
    client.staleWalk = new StaleWalk(this.#known, client.subscriptions, tellsFresh, this.#fanOut, find);
  }

  /** Goes on telling a client until a time; says what stopped it. */
  goOn(client: Client, endMs: number): Stopped {
    const stopped = client.staleWalk?.run(client, endMs) ?? 'done';
    if (stopped === 'done') client.staleWalk = undefined;
    return stopped;
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
      const told = found.get(group);
      if (told === undefined) continue;
      group.flush(); // the values that made it fresh come before
      for (const [since, channels] of told) this.#tell(group, { since, channels });
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

  #tell({ members }: StaleGroup, told: StaleChannels): void {
    const frames = staleFrames(told);
    const withDefinitions = [...definitionFrames(told), ...frames];
    for (const client of [...members.live, ...members.apart])
      if (lacksValues(client) || !sendAll(client, knowsAll(client) ? frames : withDefinitions)) this.owe(client, true);
  }
}

/** Whether a client is yet to be sent values that have changed. It is told which are fresh after that. */
function lacksValues({ membership: { name } }: Client): boolean {
  return name === 'catching up' || name === 'behind';
}
