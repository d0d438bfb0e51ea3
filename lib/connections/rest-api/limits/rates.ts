// How many requests and writes a second a user may send, and a WebSocket client. Unless the settings say so, nobody counts them.

import { type ErrorCode, HubError } from '../../../model/error.ts';
import type { LimitName } from './client-limits.ts';
import { LimitError } from './limit-hits.ts';
import { networkOf } from './network.ts';

interface RateSettings {
  readonly requestsPerUser: number;
  readonly writesPerUser: number;
  readonly writesPerClient: number;
}

/** Who writes: `id` tells WebSocket clients apart; undefined: it writes by HTTP. */
interface Writer {
  readonly share: string;
  readonly id: number | undefined;
}

let writers = 0;

/** The `id` of a WebSocket client that has come. */
export function newWriterId(): number {
  return ++writers;
}

export interface Rates {
  /** Errors: `too-many-requests`. */
  readonly request: ((share: string) => void) | undefined;
  /** Counts some writes; returns why they may not be done. */
  readonly writes: ((writer: Writer, count: number) => LimitError | undefined) | undefined;
}

/** What is undefined is not bounded. */
export function createRates(settings: RateSettings, now?: () => number): Rates {
  const bucketsOf = (perSecond: number) => (perSecond === 0 ? undefined : new TokenBuckets(perSecond, perSecond, now));
  const requests = bucketsOf(settings.requestsPerUser);
  const ofUser = bucketsOf(settings.writesPerUser);
  const ofClient = bucketsOf(settings.writesPerClient);
  return {
    request:
      requests &&
      ((share) => {
        if (!requests.has(share)) throw tooMany('requestsPerUser', 'requests', share, requests.waitMs(share));
        requests.take(share);
      }),
    writes:
      (ofUser ?? ofClient) &&
      (({ share, id }, count) => {
        if (ofUser?.has(share, count) === false)
          return tooMany('writesPerUser', 'writes', share, ofUser.waitMs(share, count));
        if (id !== undefined && ofClient?.has(id, count) === false)
          return tooMany('writesPerClient', 'writes', 'this client', ofClient.waitMs(id, count));
        ofUser?.take(share, count);
        if (id !== undefined) ofClient?.take(id, count);
        return undefined;
      }),
  };

  function tooMany(limit: LimitName & keyof RateSettings, what: string, whose: string, waitMs: number): LimitError {
    const message = `expected at most ${settings[limit]} ${what} per second of ${whose}, got more`;
    return new LimitError(limit, 'too-many-requests', message, Math.max(1, Math.ceil(waitMs / 1000)));
  }
}

// Token buckets: each key has so many tokens, of which some come back each second.

/** How many keys are remembered. The one that took longest ago is forgotten first, and has all its tokens again. */
const maxRemembered = 10_000;

interface Bucket {
  tokens: number;
  atMs: number;
}

export class TokenBuckets {
  readonly #size: number;
  readonly #perSecond: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string | number, Bucket>();
  /** When all of them are full again, if nobody takes more. */
  #fullAtMs = Number.NEGATIVE_INFINITY;

  /** `now` is in milliseconds of a monotonic clock. */
  constructor(size: number, perSecond: number, now: () => number = () => performance.now()) {
    this.#size = size;
    this.#perSecond = perSecond;
    this.#now = now;
  }

  /** Whether nobody has taken any lately. */
  get isEmpty(): boolean {
    if (this.#buckets.size > 0 && this.#now() >= this.#fullAtMs) this.#buckets.clear();
    return this.#buckets.size === 0;
  }

  /** Whether there are so many; who wants more than a bucket holds needs a full one. */
  has(key: string | number, count = 1): boolean {
    const bucket = this.#buckets.get(key);
    if (bucket === undefined) return true;
    const tokens = this.#tokensOf(bucket);
    if (tokens >= this.#size) this.#buckets.delete(key);
    return tokens >= Math.min(count, this.#size);
  }

  /** Takes so many, also of those that are to come. */
  take(key: string | number, count = 1): void {
    const bucket = this.#buckets.get(key);
    this.#buckets.delete(key);
    if (this.#buckets.size >= maxRemembered) this.#buckets.delete(this.#buckets.keys().next().value!);
    const tokens = (bucket === undefined ? this.#size : this.#tokensOf(bucket)) - count;
    const atMs = this.#now();
    this.#buckets.set(key, { tokens, atMs }); // who took last comes last
    this.#fullAtMs = Math.max(this.#fullAtMs, atMs + this.#msUntil(this.#size - tokens));
  }

  /** How many there are; less than none: some of those that are to come have been taken. */
  left(key: string | number): number {
    const bucket = this.#buckets.get(key);
    return bucket === undefined ? this.#size : this.#tokensOf(bucket);
  }

  /** In how many milliseconds there are so many, as for `has`; 0: there are. */
  waitMs(key: string | number, count = 1): number {
    return this.#msUntil(Math.max(0, Math.min(count, this.#size) - this.left(key)));
  }

  #msUntil(tokens: number): number {
    return (tokens / this.#perSecond) * 1000;
  }

  #tokensOf({ tokens, atMs }: Bucket): number {
    return Math.min(this.#size, tokens + ((this.#now() - atMs) / 1000) * this.#perSecond);
  }
}

// Whose share of the hub's work a client counts towards: that of its user, wherever it comes from; without a user, that of its
// network.

/** `user desk2`, `10.0.0.3`. */
export function shareOf({ name }: { readonly name: string }, address: string): string {
  return name === '' ? networkOf(address) : `user ${name}`;
}

// How many writes of clients a connection took and refused.

export class WriteCounts {
  taken = 0;
  /** By the code of the error. */
  readonly refused = new Map<ErrorCode | 'internal', number>();

  refuse(error: unknown): void {
    this.refuseAs(error instanceof HubError ? error.code : 'internal');
  }

  refuseAs(code: ErrorCode | 'internal'): void {
    this.refused.set(code, (this.refused.get(code) ?? 0) + 1);
  }
}
