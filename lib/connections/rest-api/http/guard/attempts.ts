// Counts wrong credentials per network, and per user. After some of them in a row the hub compares only so many a second. It refuses all
// others, and also right ones, since whoever guesses must not learn which they are. Clients that were let in stay. A network from which a
// user has come is not refused because others guess at that user elsewhere.

import { LimitError } from '../../limits/limit-error.ts';
import { wrongInARow } from '../../limits/limits.ts';
import { networkOf } from '../../limits/network.ts';
import { TokenBuckets } from '../../limits/token-buckets.ts';

/** Of so many users it is remembered from where they have come. */
const maxRemembered = 10_000;

/** How long a client that is refused has to wait, in seconds. */
export const retryAfterSeconds = 1;

export class Attempts {
  readonly #perSecond: number;
  /** By network, or by name of a user behind a slash, which no network has in front. */
  readonly #buckets: TokenBuckets;
  /** From where users have come. */
  readonly #trusted = new Set<string>();

  /** `now` is in milliseconds of a monotonic clock. */
  constructor(perSecond: number, now?: () => number) {
    this.#perSecond = perSecond;
    this.#buckets = new TokenBuckets(wrongInARow, perSecond, now);
  }

  /** Whether nobody has been wrong lately. */
  get isQuiet(): boolean {
    return this.#buckets.isEmpty;
  }

  /** Asks whether credentials may be compared; `user` is whom they name, if anybody. Errors: `too-many-attempts`. */
  check(addressOf: () => string, user = ''): void {
    if (this.isQuiet) return;
    const network = networkOf(addressOf());
    if (!this.#buckets.has(network)) throw this.#tooMany(`from ${network}`);
    if (user !== '' && !this.#trusted.has(`${network}/${user}`) && !this.#buckets.has(`/${user}`))
      throw this.#tooMany('for this user');
  }

  /** Notes that credentials were wrong. */
  fail(address: string, user = ''): void {
    this.#buckets.take(networkOf(address));
    if (user !== '') this.#buckets.take(`/${user}`);
  }

  /** Notes that a user has come. */
  succeed(address: string, user: string): void {
    if (user === '') return;
    if (this.#trusted.size >= maxRemembered) this.#trusted.delete(this.#trusted.values().next().value!);
    this.#trusted.add(`${networkOf(address)}/${user}`);
  }

  #tooMany(whose: string): LimitError {
    const message = `Authorization: expected at most ${this.#perSecond} wrong credentials per second ${whose}, got more`;
    return new LimitError('wrongCredentials', 'too-many-attempts', message);
  }
}
