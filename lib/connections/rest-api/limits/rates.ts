// How many requests and writes a second a user may send, and a WebSocket client. Unless the settings say so, nobody counts them.

import { LimitError } from './limit-error.ts';
import type { LimitName } from './limits.ts';
import { TokenBuckets } from './token-buckets.ts';

export interface RateSettings {
  readonly requestsPerUser: number;
  readonly writesPerUser: number;
  readonly writesPerClient: number;
}

/** Who writes: `id` tells WebSocket clients apart; undefined: it writes by HTTP. */
export interface Writer {
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
