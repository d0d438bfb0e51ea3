// Counts wrong credentials per network. After some of them in a row the hub compares only so many a second. It refuses all others, and
// also right ones, since whoever guesses must not learn which they are. Clients that were let in stay.

import { LimitError } from '../../limits/limit-error.ts';
import { wrongInARow } from '../../limits/limits.ts';
import { networkOf } from '../../limits/network.ts';

/** How many networks are remembered. The one whose last wrong attempt was longest ago is forgotten first. */
const maxNetworks = 10_000;

/** How long a client that is refused has to wait, in seconds. */
export const retryAfterSeconds = 1;

interface Bucket {
  tokens: number;
  atMs: number;
}

export class Attempts {
  readonly #perSecond: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  /** `now` is in milliseconds of a monotonic clock. */
  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#now = now;
  }

  /** Asks whether credentials may be compared. Errors: `too-many-attempts`. */
  check(addressOf: () => string): void {
    if (this.#buckets.size === 0) return;
    const network = networkOf(addressOf());
    const bucket = this.#buckets.get(network);
    if (bucket === undefined) return;
    const tokens = this.#tokensOf(bucket);
    if (tokens >= wrongInARow) this.#buckets.delete(network);
    if (tokens >= 1) return;
    const message = `Authorization: expected at most ${this.#perSecond} wrong credentials per second from ${network}, got more`;
    throw new LimitError('wrongCredentials', 'too-many-attempts', message);
  }

  /** Notes that credentials were wrong. */
  fail(address: string): void {
    const network = networkOf(address);
    const bucket = this.#buckets.get(network);
    this.#buckets.delete(network);
    if (this.#buckets.size >= maxNetworks) this.#buckets.delete(this.#buckets.keys().next().value!);
    const tokens = bucket === undefined ? wrongInARow : this.#tokensOf(bucket);
    this.#buckets.set(network, { tokens: tokens - 1, atMs: this.#now() }); // the network that failed last comes last
  }

  #tokensOf({ tokens, atMs }: Bucket): number {
    return Math.min(wrongInARow, tokens + ((this.#now() - atMs) / 1000) * this.#perSecond);
  }
}
