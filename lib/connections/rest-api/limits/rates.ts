// Limits on requests and writes per second, per user and per WebSocket client. These limits apply only if they are set.

import { type ErrorCode, HubError } from '../../../model/error.ts';
import type { LimitName } from './client-limits.ts';
import { LimitError } from './limit-hits.ts';
import { networkOf } from './network.ts';

interface RateSettings {
  readonly requestsPerUser: number;
  readonly writesPerUser: number;
  readonly writesPerClient: number;
}

/** The client that makes a write. `id` identifies a WebSocket client; undefined if the client writes over HTTP. */
interface Writer {
  readonly share: string;
  readonly id: number | undefined;
}

let writers = 0;

/** Returns the `Writer.id` for a new WebSocket client. */
export function newWriterId(): number {
  return ++writers;
}

export interface Rates {
  /** Counts a request; undefined means that requests are not limited. Errors: `too-many-requests`. */
  readonly request: ((share: string) => void) | undefined;
  /** Counts writes; returns the error if the writes exceed a limit. Undefined means that writes are not limited. */
  readonly writes: ((writer: Writer, count: number) => LimitError | undefined) | undefined;
}

/** Creates the functions that count requests and writes. A function is undefined if there is no limit. */
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

  function tooMany(limit: LimitName & keyof RateSettings, what: string, sender: string, waitMs: number): LimitError {
    const message = `expected at most ${settings[limit]} ${what} per second from ${sender}, got more`;
    return new LimitError(limit, 'too-many-requests', message, Math.max(1, Math.ceil(waitMs / 1000)));
  }
}

// Token buckets: each key has a bucket of tokens, of which `perSecond` are restored each second.

/**
 * The maximum number of buckets that are not full. The key that has not taken a token for the longest time is forgotten first, which fills
 * its bucket.
 */
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
  /** The time at which all buckets are full again if no more tokens are taken, in milliseconds on the monotonic clock. */
  #fullAtMs = Number.NEGATIVE_INFINITY;

  /** `now` returns the time on a monotonic clock, in milliseconds. */
  constructor(size: number, perSecond: number, now: () => number = () => performance.now()) {
    this.#size = size;
    this.#perSecond = perSecond;
    this.#now = now;
  }

  /** Whether all buckets are full. */
  get isEmpty(): boolean {
    if (this.#buckets.size > 0 && this.#now() >= this.#fullAtMs) this.#buckets.clear();
    return this.#buckets.size === 0;
  }

  /**
   * Returns whether the bucket of a key contains this many tokens. If the bucket is too small for so many tokens, it only has to be full.
   */
  has(key: string | number, count = 1): boolean {
    const bucket = this.#buckets.get(key);
    if (bucket === undefined) return true;
    const tokens = this.#tokensOf(bucket);
    if (tokens >= this.#size) this.#buckets.delete(key);
    return tokens >= Math.min(count, this.#size);
  }

  /** Takes tokens from the bucket of a key, including future tokens if necessary. */
  take(key: string | number, count = 1): void {
    const bucket = this.#buckets.get(key);
    this.#buckets.delete(key);
    if (this.#buckets.size >= maxRemembered) this.#buckets.delete(this.#buckets.keys().next().value!);
    const tokens = (bucket === undefined ? this.#size : this.#tokensOf(bucket)) - count;
    const atMs = this.#now();
    this.#buckets.set(key, { tokens, atMs }); // the key that has taken tokens most recently comes last
    this.#fullAtMs = Math.max(this.#fullAtMs, atMs + this.#msUntil(this.#size - tokens));
  }

  /** Returns the number of tokens in the bucket of a key; negative if future tokens have been taken. */
  left(key: string | number): number {
    const bucket = this.#buckets.get(key);
    return bucket === undefined ? this.#size : this.#tokensOf(bucket);
  }

  /** Returns the number of milliseconds until `has` returns true; 0 if `has` returns true now. */
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

// A client's share of the hub's work: the share of the client's user, from any address, or, without a user, the share of the client's
// network.

/** Returns the name of the share to which a client belongs: `user desk2`, or `10.0.0.3` without a user. */
export function shareOf({ name }: { readonly name: string }, address: string): string {
  return name === '' ? networkOf(address) : `user ${name}`;
}

// Counts the writes by clients that a connection has accepted and refused.

export class WriteCounts {
  taken = 0;
  /** The number of refused writes, keyed by error code. */
  readonly refused = new Map<ErrorCode | 'internal', number>();

  refuse(error: unknown): void {
    this.refuseAs(error instanceof HubError ? error.code : 'internal');
  }

  refuseAs(code: ErrorCode | 'internal'): void {
    this.refused.set(code, (this.refused.get(code) ?? 0) + 1);
  }
}
