// Clients that go past a limit: each hit is counted, and the operator reads of it; the gate
// of the log lets each client and limit through once a second, and a hundred of them together.

import type { Log } from '../../connection.ts';
import { LimitError } from './limit-error.ts';
import { type Limit, type LimitName, limits, limitTable } from './limits.ts';

export interface LimitHits {
  /** How often each limit was gone past. */
  readonly counts: Readonly<Record<LimitName, number>>;
  /** A client, named by its address, has gone past a limit. */
  add(limit: LimitName, client: string): void;
  /** The same when an error that it is answered with is one of a limit. */
  addError(error: unknown, client: string): void;
}

/** Creates what counts the hits of a connection. */
export function createLimitHits(log: Log): LimitHits {
  const counts = Object.fromEntries(limitTable.map(([name]) => [name, 0])) as Record<LimitName, number>;
  const add: LimitHits['add'] = (limit, client) => {
    counts[limit]++;
    const { isFatal, about, told }: Limit = limits[limit];
    const text = `client ${client} went past the limit ${limit} (${about}), and got: ${told}`;
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
