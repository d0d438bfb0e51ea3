// Wrong credentials, per network: after some of them in a row only so many a second are compared at all. The others are refused,
// the right ones as well: who guesses must not learn which they are. What has been let in stays.

import { LimitError } from '../../limits/limit-error.ts';
import { networkOf } from '../../limits/network.ts';

/** How many may be wrong at once. */
const burst = 20;
/** How many networks are remembered; those of which the last wrong attempt is longest ago are forgotten first. */
const maxNetworks = 10_000;

/** How long who is refused has to wait, in seconds. */
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

  /** Lets credentials be compared. Errors: `too-many-attempts`. */
  check(addressOf: () => string): void {
    if (this.#buckets.size === 0) return;
    const network = networkOf(addressOf());
    const bucket = this.#buckets.get(network);
    if (bucket === undefined) return;
    const tokens = this.#tokensOf(bucket);
    if (tokens >= burst) this.#buckets.delete(network);
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
    const tokens = bucket === undefined ? burst : this.#tokensOf(bucket);
    this.#buckets.set(network, { tokens: tokens - 1, atMs: this.#now() }); // the last one to have failed is the last
  }

  #tokensOf({ tokens, atMs }: Bucket): number {
    return Math.min(burst, tokens + ((this.#now() - atMs) / 1000) * this.#perSecond);
  }
}
