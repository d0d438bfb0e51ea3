// How a client of patchbay.v1 is doing, for operators.

import type { Interests, SessionStatus } from '../../../../wire/http/operation/clients.ts';
import { stalledAfterMs } from '../status.ts';
import type { Client } from './client.ts';

/** `nowMs` is of the monotonic clock. */
export function statusOf(client: Client, nowMs: number): SessionStatus {
  const { membership, fullSinceMs, sent, received } = client;
  const behindSinceMs = 'sinceMs' in membership ? membership.sinceMs : undefined;
  const since = Math.min(behindSinceMs ?? nowMs, fullSinceMs ?? nowMs);
  const isLive = behindSinceMs === undefined && fullSinceMs === undefined;
  const isStalled = fullSinceMs !== undefined && nowMs - fullSinceMs >= stalledAfterMs;
  return {
    state: isLive ? 'live' : isStalled ? 'stalled' : 'catching up',
    unreadBytes: client.unreadBytes,
    lagMs: nowMs - since,
    sentBytes: sent.bytes,
    sentFrames: sent.frames,
    receivedMessages: received,
  };
}

export function interestsOf({ subscriptions }: Client): Interests {
  return {
    subscriptions: subscriptions.map(({ id, rate, delivery, shown }) => ({ id, ...shown, rate, delivery })),
  };
}
