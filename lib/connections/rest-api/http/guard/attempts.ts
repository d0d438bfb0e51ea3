// Counts wrong credentials per network, and per user. Those that are being compared count as wrong until they turn out to be right: else
// whoever sends many at once would have all of them compared. After some of them in a row the hub compares only so many a second. It
// refuses all others, and also right ones, since whoever guesses must not learn which they are. Clients that were let in stay. A network
// from which a user has come is not refused because others guess at that user elsewhere.

import { LimitError } from '../../limits/limit-error.ts';
import { wrongInARow } from '../../limits/limits.ts';
import { networkOf } from '../../limits/network.ts';
import { TokenBuckets } from '../../limits/token-buckets.ts';

/** Of so many users it is remembered from where they have come. */
const maxRemembered = 10_000;

/** Longer names are as good as their beginning: whoever guesses sends some that nobody has. */
const longestName = 64;

/** Credentials that are being compared. */
export interface Attempt {
  /** Has to be called once. */
  end(result: 'right' | 'wrong' | 'not compared'): void;
}

export class Attempts {
  readonly #perSecond: number;
  /** By network, or by name of a user behind a slash, which no network has in front. */
  readonly #buckets: TokenBuckets;
  /** How many credentials of each are being compared. It is as large as there are of these. */
  readonly #comparing = new Map<string, number>();
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

  /** Asks whether somebody with these credentials may come in; `user` is whom they name, if anybody. Errors: `too-many-attempts`. */
  check(addressOf: () => string, user = ''): void {
    if (this.isQuiet) return;
    const network = networkOf(addressOf());
    if (!this.#buckets.has(network)) throw this.#tooMany(network, `from ${network}`);
    if (user !== '' && !this.#trusted.has(`${network}/${user}`) && !this.#buckets.has(keyOf(user)))
      throw this.#tooMany(keyOf(user), 'for this user');
  }

  /** Begins to compare credentials; `user` is whom they name, if anybody. Errors: `too-many-attempts`. */
  begin(address: string, user = ''): Attempt {
    const network = networkOf(address);
    const whence = `${network}/${user}`;
    this.#expectRoom(network, `from ${network}`);
    if (user !== '' && !this.#trusted.has(whence)) this.#expectRoom(keyOf(user), 'for this user');
    const keys = user === '' ? [network] : [network, keyOf(user)];
    for (const key of keys) this.#comparing.set(key, this.#comparingOf(key) + 1);
    return {
      end: (result) => {
        for (const key of keys) this.#endOne(key, result === 'wrong');
        if (result === 'right' && user !== '') this.#trust(whence);
      },
    };
  }

  #expectRoom(key: string, whose: string): void {
    if (this.#buckets.left(key) - this.#comparingOf(key) < 1) throw this.#tooMany(key, whose);
  }

  #comparingOf(key: string): number {
    return this.#comparing.get(key) ?? 0;
  }

  #endOne(key: string, isWrong: boolean): void {
    const count = this.#comparingOf(key) - 1;
    if (count > 0) this.#comparing.set(key, count);
    else this.#comparing.delete(key);
    if (isWrong) this.#buckets.take(key);
  }

  #trust(whence: string): void {
    if (this.#trusted.size >= maxRemembered) this.#trusted.delete(this.#trusted.values().next().value!);
    this.#trusted.add(whence);
  }

  #tooMany(key: string, whose: string): LimitError {
    const message = `Authorization: expected at most ${this.#perSecond} wrong credentials per second ${whose}, got more`;
    const waitSeconds = Math.max(1, Math.ceil(this.#buckets.waitMs(key) / 1000));
    return new LimitError('wrongCredentials', 'too-many-attempts', message, waitSeconds);
  }
}

function keyOf(user: string): string {
  return `/${user.slice(0, longestName)}`;
}
