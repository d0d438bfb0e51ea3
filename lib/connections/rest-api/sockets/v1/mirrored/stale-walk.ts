// Tells one client how fresh everything is that it has subscribed to: when it has, and when it did not read while that changed. It goes
// on as fast as the client reads.

import type { Parameter } from '../../../../../model/parameter.ts';
import type { FanOut } from '../../fan-out.ts';
import { listedParameters } from '../listed.ts';
import { type Stopped, stepUntil } from '../steps.ts';
import type { Subscription } from '../subscription.ts';
import { definitionFrames, knowsAll, type StaleReader, staleFrames } from './stale-frames.ts';

/** How many parameters are looked at before what was found is sent. */
const stepSize = 1024;

/** What there is to tell: the parameters that have ever been stale, and whether they are. */
export type KnownStaleness = ReadonlyMap<Parameter, boolean>;

export class StaleWalk {
  /** false: the client has been told of nothing that was stale, so it need not hear what is fresh. */
  readonly tellsFresh: boolean;
  readonly #known: KnownStaleness;
  readonly #fanOut: FanOut;
  readonly #subscriptions: readonly Subscription[];
  readonly #parameters: Iterator<Parameter>;

  constructor(
    known: KnownStaleness,
    subscriptions: readonly Subscription[],
    tellsFresh: boolean,
    fanOut: FanOut,
    find: (address: string) => Parameter | undefined,
  ) {
    this.tellsFresh = tellsFresh;
    this.#known = known;
    this.#fanOut = fanOut;
    this.#subscriptions = subscriptions;
    this.#parameters = (listedParameters(subscriptions, find) ?? known).keys();
  }

  /** Tells what the client takes until a time; says what stopped it. */
  run(reader: StaleReader, endMs: number): Stopped {
    return stepUntil(endMs, reader, () => this.#step(reader));
  }

  /** Looks at some parameters, and sends what it finds, whatever room there is; returns whether there may be more. */
  #step(reader: StaleReader): boolean {
    const found = new Map<number | undefined, Parameter[]>();
    let looked = 0;
    for (; looked < stepSize; looked++) {
      const { done, value: parameter } = this.#parameters.next();
      if (done) break;
      const isStale = this.#known.get(parameter);
      if (isStale === undefined || (!isStale && !this.tellsFresh)) continue;
      if (!this.#subscriptions.some(({ selection }) => selection.has(parameter))) continue;
      const since = isStale ? parameter.remote?.staleSince : undefined;
      found.set(since, [...(found.get(since) ?? []), parameter]);
    }
    for (const [since, parameters] of found) {
      const told = { since, channels: parameters.map((parameter) => this.#fanOut.channelOf(parameter)) };
      const frames = staleFrames(told);
      for (const frame of knowsAll(reader) ? frames : [...definitionFrames(told), ...frames]) reader.send(frame);
    }
    return looked === stepSize;
  }
}
