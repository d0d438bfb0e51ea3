// Counts wrong credentials, by network and by user. Right ones are let in whatever others do: each is compared, and who is wrong too often
// is answered otherwise, and comes later where comparing takes time. Credentials that were right before are known, and not compared at all.

import { LimitError } from '../../limits/limit-hits.ts';
import { wrongInARow } from '../../limits/limits.ts';
import { networkOf } from '../../limits/network.ts';
import { TokenBuckets } from '../../limits/rates.ts';
import { shownAddress } from '../../proxies/address.ts';
import type { Asker } from '../../users/password-queue.ts';
import { WrongLately } from './wrong-lately.ts';

/** Of so many users it is remembered from where they have come. */
const maxRemembered = 10_000;

/** Longer names are as good as their beginning: whoever guesses sends some that nobody has. */
const longestName = 64;

export class Attempts {
  readonly #perSecond: number;
  /** By network, or by name of a user behind a slash, which no network has in front. */
  readonly #buckets: TokenBuckets;
  readonly #lately: WrongLately;
  /** From where users have come: `10.0.0.3/ann`. */
  readonly #trusted = new Set<string>();

  /** `now` is in milliseconds of a monotonic clock. */
  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#buckets = new TokenBuckets(wrongInARow, perSecond, now);
    this.#lately = new WrongLately(now);
  }

  /** Who wants to have a password compared; `user` is whom it names, `isGone` whether nobody waits for the answer any more. */
  asker(address: string, user: string, isGone: () => boolean): Asker {
    const network = networkOf(address);
    return {
      ...{ network, isGone },
      suspicion: () => this.#suspicionOf(network, user),
      isSlowed: () => keysOf(network, user).some((key) => !this.#buckets.has(key)),
    };
  }

  /** Somebody has come in with credentials; `user` is whom they name, if anybody. */
  right(address: string, user: string): void {
    if (user === '') return;
    if (this.#trusted.size >= maxRemembered) this.#trusted.delete(this.#trusted.values().next().value!);
    this.#trusted.add(whenceOf(networkOf(address), user));
  }

  /** Counts wrong credentials; returns the error of who was wrong too often, undefined: not yet. */
  wrong(address: string, user: string): LimitError | undefined {
    const network = networkOf(address);
    const keys = keysOf(network, user);
    for (const key of keys) this.#lately.add(key);
    const empty = keys.find((key) => !this.#buckets.has(key));
    if (empty !== undefined)
      return this.#tooMany(empty, empty === network ? `from ${shownAddress(network)}` : 'for this user');
    for (const key of keys) this.#buckets.take(key);
    return undefined;
  }

  /**
   * Who is compared later: 0 for a network from which the user has come before, 1 for one from which nobody has been wrong lately, as for the
   * user; and more the more often somebody was.
   */
  #suspicionOf(network: string, user: string): number {
    const [ofNetwork, ofUser = 0] = keysOf(network, user).map((key) => this.#lately.levelOf(key)) as [number, number?];
    return this.#trusted.has(whenceOf(network, user)) ? ofNetwork : 1 + ofNetwork + ofUser;
  }

  #tooMany(key: string, whose: string): LimitError {
    const message = `Authorization: expected at most ${this.#perSecond} wrong credentials per second ${whose}, got more`;
    const waitSeconds = Math.max(1, Math.ceil(this.#buckets.waitMs(key) / 1000));
    return new LimitError('wrongCredentials', 'too-many-attempts', message, waitSeconds);
  }
}

function keysOf(network: string, user: string): string[] {
  return user === '' ? [network] : [network, `/${user.slice(0, longestName)}`];
}

function whenceOf(network: string, user: string): string {
  return `${network}/${user}`;
}
