// A hit is one event in which a client exceeds a limit. Each hit is counted and logged. The log gate admits one entry per second for each
// client and limit, and at most a hundred entries per second in total.

import { type ErrorCode, HubError } from '../../../model/error.ts';
import type { Log } from '../../connection.ts';
import { shownAddress } from '../proxies/ip-address.ts';
import { type Limit, type LimitName, limits, limitTable } from './client-limits.ts';

export interface LimitHits {
  /** The number of hits for each limit whose hits the hub can see. */
  readonly counts: Readonly<Partial<Record<LimitName, number>>>;
  /** Counts and logs a hit by the client with this address. */
  add(limit: LimitName, address: string): void;
  /** Counts a hit by a client if the error is a `LimitError`. */
  addError(error: unknown, client: string): void;
}

/** Creates the hit counters of a connection, which also log each hit. */
export function createLimitHits(log: Log): LimitHits {
  const seen = limitTable.filter(([, { isSeen }]) => isSeen !== false);
  const counts = Object.fromEntries(seen.map(([name]) => [name, 0])) as Record<LimitName, number>;
  const add: LimitHits['add'] = (limit, address) => {
    counts[limit]++;
    const client = shownAddress(address);
    const { isFatal, about, answer }: Limit = limits[limit];
    const text = `client ${client} exceeded the limit ${limit} (${about}): ${answer}`;
    log[isFatal ? 'warn' : 'info']({ limit, client }, text);
  };
  return {
    counts,
    add,
    addError(error, client) {
      if (error instanceof LimitError) add(error.limit, client);
    },
  };
}

// The error that is sent to a client that exceeds a limit.

/** An error that names the limit that a client has exceeded. */
export class LimitError extends HubError {
  readonly limit: LimitName;
  /** How long the client has to wait, in seconds; undefined means the default for the error code. */
  readonly retryAfterSeconds: number | undefined;

  constructor(limit: LimitName, code: ErrorCode, message: string, retryAfterSeconds?: number) {
    super(code, message, { where: limit });
    this.limit = limit;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
