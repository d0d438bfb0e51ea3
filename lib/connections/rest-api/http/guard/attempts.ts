// Counts wrong credentials by network and by user. Right credentials are admitted regardless of other clients. A client that was wrong too
// often gets a different error, and waits longer if comparing takes time. Credentials that were right before are remembered and not
// compared again.

import { wrongInARow } from '../../limits/client-limits.ts';
import { LimitError } from '../../limits/limit-hits.ts';
import { networkOf } from '../../limits/network.ts';
import { TokenBuckets } from '../../limits/rates.ts';
import { shownAddress } from '../../proxies/ip-address.ts';
import type { Asker } from '../../users/passwords.ts';

/** The maximum number of users whose networks are remembered. */
const maxRemembered = 10_000;

/** The number of significant characters in a username. It is limited because a client that guesses also sends names that do not exist. */
const longestName = 64;

export class Attempts {
  readonly #perSecond: number;
  /** The token buckets for wrong credentials, by network, or by `/` and the name of a user. No network begins with a slash. */
  readonly #buckets: TokenBuckets;
  readonly #lately: WrongLately;
  /** The networks from which users have signed in, with the name of the user: `10.0.0.3/ann`. */
  readonly #trusted = new Set<string>();

  /** `now` returns the time on a monotonic clock, in milliseconds. */
  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#buckets = new TokenBuckets(wrongInARow, perSecond, now);
    this.#lately = new WrongLately(now);
  }

  /**
   * Returns the asker of a password comparison, which determines its turn. `user` is the claimed user; `isGone` returns whether the client
   * is no longer waiting for the answer.
   */
  asker(address: string, user: string, isGone: () => boolean): Asker {
    const network = networkOf(address);
    return {
      ...{ network, isGone },
      suspicion: () => this.#suspicionOf(network, user),
      isSlowed: () => keysOf(network, user).some((key) => !this.#buckets.has(key)),
    };
  }

  /**
   * Remembers that correct credentials arrived from the network of an address. `user` is the name in the credentials, or an empty string
   * for a token.
   */
  right(address: string, user: string): void {
    if (user === '') return;
    if (this.#trusted.size >= maxRemembered) this.#trusted.delete(this.#trusted.values().next().value!);
    this.#trusted.add(originOf(networkOf(address), user));
  }

  /**
   * Counts wrong credentials; returns the error if there were too many attempts, otherwise undefined. `user` is the claimed name, or an
   * empty string.
   */
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
   * Returns how suspicious a request is; less suspicious requests are compared first. The result is 0 for a network from which the user has
   * signed in before, 1 if there were no recent wrong credentials from the network or for this user, and higher with more wrong
   * credentials.
   */
  #suspicionOf(network: string, user: string): number {
    const [ofNetwork, ofUser = 0] = keysOf(network, user).map((key) => this.#lately.levelOf(key)) as [number, number?];
    return this.#trusted.has(originOf(network, user)) ? ofNetwork : 1 + ofNetwork + ofUser;
  }

  #tooMany(key: string, sender: string): LimitError {
    const message = `Authorization: expected at most ${this.#perSecond} wrong credentials per second ${sender}, got more`;
    const waitSeconds = Math.max(1, Math.ceil(this.#buckets.waitMs(key) / 1000));
    return new LimitError('wrongCredentials', 'too-many-attempts', message, waitSeconds);
  }
}

function keysOf(network: string, user: string): string[] {
  return user === '' ? [network] : [network, `/${user.slice(0, longestName)}`];
}

function originOf(network: string, user: string): string {
  return `${network}/${user}`;
}

// The networks and usernames with wrong credentials during the last few minutes.

/**
 * How long a wrong attempt is remembered, in milliseconds: longer than a full queue of passwords takes, even if the guesses arrive slowly.
 */
const latelyMs = 600_000;
/** The maximum number of networks and users that are remembered. The one with the oldest wrong attempt is forgotten first. */
const maxRememberedWrong = 10_000;
/**
 * The number of recent wrong attempts that a network or user may make before it is suspected of guessing. Fewer attempts may be typing
 * errors.
 */
const often = 5;

class WrongLately {
  readonly #now: () => number;
  /** The numbers of wrong attempts by network or user, ordered by the time of the last attempt. */
  readonly #counts = new Map<string, { count: number; atMs: number }>();

  /** `now` returns the time on a monotonic clock, in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  add(key: string): void {
    const count = this.#countOf(key) + 1;
    this.#counts.delete(key);
    if (this.#counts.size >= maxRememberedWrong) this.#counts.delete(this.#counts.keys().next().value!);
    this.#counts.set(key, { count, atMs: this.#now() });
  }

  /** Returns how often a network or user was wrong recently: 0 means never, 1 occasionally, 2 often. */
  levelOf(key: string): 0 | 1 | 2 {
    const count = this.#countOf(key);
    return count === 0 ? 0 : count < often ? 1 : 2;
  }

  #countOf(key: string): number {
    const wrong = this.#counts.get(key);
    return wrong === undefined || this.#now() - wrong.atMs > latelyMs ? 0 : wrong.count;
  }
}
