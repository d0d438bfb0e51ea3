// Counts wrong credentials, by network and by user. Right ones are let in whatever others do: each is compared, and who is wrong too often
// is answered otherwise, and comes later where comparing takes time. Credentials that were right before are known, and not compared at all.

import { wrongInARow } from '../../limits/client-limits.ts';
import { LimitError } from '../../limits/limit-hits.ts';
import { networkOf } from '../../limits/network.ts';
import { TokenBuckets } from '../../limits/rates.ts';
import { shownAddress } from '../../proxies/ip-address.ts';
import type { Asker } from '../../users/passwords.ts';

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

// Who has sent wrong credentials within the last minutes: networks, and names of users.

/** So long nobody is forgotten who was wrong. It is longer than a queue of passwords takes, however slowly somebody guesses. */
const latelyMs = 600_000;
/** How many are remembered. The one that was wrong longest ago is forgotten first. */
const maxRememberedWrong = 10_000;
/** Who was wrong less often may have mistyped. */
const often = 5;

class WrongLately {
  readonly #now: () => number;
  /** In the order in which they were wrong last. */
  readonly #counts = new Map<string, { count: number; atMs: number }>();

  /** `now` is in milliseconds of a monotonic clock. */
  constructor(now: () => number) {
    this.#now = now;
  }

  add(key: string): void {
    const count = this.#countOf(key) + 1;
    this.#counts.delete(key);
    if (this.#counts.size >= maxRememberedWrong) this.#counts.delete(this.#counts.keys().next().value!);
    this.#counts.set(key, { count, atMs: this.#now() });
  }

  /** 0: it was not wrong lately, 1: now and then, 2: often. */
  levelOf(key: string): 0 | 1 | 2 {
    const count = this.#countOf(key);
    return count === 0 ? 0 : count < often ? 1 : 2;
  }

  #countOf(key: string): number {
    const wrong = this.#counts.get(key);
    return wrong === undefined || this.#now() - wrong.atMs > latelyMs ? 0 : wrong.count;
  }
}
