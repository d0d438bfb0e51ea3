// Counts wrong credentials per network, and per user. After some of them in a row the hub compares only so many a second. It refuses all
// others, and also right ones, since whoever guesses must not learn which they are. Clients that were let in stay. A network from which a
// user has come is not refused because others guess at that user elsewhere.

import { LimitError } from '../../limits/limit-error.ts';
import { wrongInARow } from '../../limits/limits.ts';
import { networkOf } from '../../limits/network.ts';

/** How many networks and users are remembered. The one whose last wrong attempt was longest ago is forgotten first. */
const maxRemembered = 10_000;

/** How long a client that is refused has to wait, in seconds. */
export const retryAfterSeconds = 1;

interface Bucket {
  tokens: number;
  atMs: number;
}

export class Attempts {
  readonly #perSecond: number;
  readonly #now: () => number;
  /** By network, or by name of a user behind a slash, which no network has in front. */
  readonly #buckets = new Map<string, Bucket>();
  /** From where users have come. */
  readonly #trusted = new Set<string>();

  /** `now` is in milliseconds of a monotonic clock. */
  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#now = now;
  }

  /** Whether nobody has been wrong lately. */
  get isQuiet(): boolean {
    return this.#buckets.size === 0;
  }

  /** Asks whether credentials may be compared; `user` is whom they name, if anybody. Errors: `too-many-attempts`. */
  check(addressOf: () => string, user = ''): void {
    if (this.isQuiet) return;
    const network = networkOf(addressOf());
    if (!this.#hasToken(network)) throw this.#tooMany(`from ${network}`);
    if (user !== '' && !this.#trusted.has(`${network}/${user}`) && !this.#hasToken(`/${user}`))
      throw this.#tooMany('for this user');
  }

  /** Notes that credentials were wrong. */
  fail(address: string, user = ''): void {
    this.#take(networkOf(address));
    if (user !== '') this.#take(`/${user}`);
  }

  /** Notes that a user has come. */
  succeed(address: string, user: string): void {
    if (user === '') return;
    if (this.#trusted.size >= maxRemembered) this.#trusted.delete(this.#trusted.values().next().value!);
    this.#trusted.add(`${networkOf(address)}/${user}`);
  }

  #hasToken(key: string): boolean {
    const bucket = this.#buckets.get(key);
    if (bucket === undefined) return true;
    const tokens = this.#tokensOf(bucket);
    if (tokens >= wrongInARow) this.#buckets.delete(key);
    return tokens >= 1;
  }

  #take(key: string): void {
    const bucket = this.#buckets.get(key);
    this.#buckets.delete(key);
    if (this.#buckets.size >= maxRemembered) this.#buckets.delete(this.#buckets.keys().next().value!);
    const tokens = bucket === undefined ? wrongInARow : this.#tokensOf(bucket);
    this.#buckets.set(key, { tokens: tokens - 1, atMs: this.#now() }); // what failed last comes last
  }

  #tokensOf({ tokens, atMs }: Bucket): number {
    return Math.min(wrongInARow, tokens + ((this.#now() - atMs) / 1000) * this.#perSecond);
  }

  #tooMany(whose: string): LimitError {
    const message = `Authorization: expected at most ${this.#perSecond} wrong credentials per second ${whose}, got more`;
    return new LimitError('wrongCredentials', 'too-many-attempts', message);
  }
}
