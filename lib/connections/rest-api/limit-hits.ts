// Clients that go past a limit: each hit is counted, and the operator reads of it, once a second at most per client and limit.

import { createLogGate } from '../../model/log-gate.ts';
import type { Log } from '../connection.ts';
import { type Limit, LimitError, type LimitName, limits, limitTable } from './limits.ts';

/** How many lines a second all clients together cause. */
const maxLinesPerSecond = 20;

export interface LimitHits {
  /** How often each limit was gone past. */
  readonly counts: Readonly<Record<LimitName, number>>;
  /** A client, named by its address, has gone past a limit. */
  add(limit: LimitName, client: string): void;
  /** The same when an error that it is answered with is one of a limit. */
  addError(error: unknown, client: string): void;
}

/** Creates what counts the hits of a connection; `now` is in milliseconds of a monotonic clock. */
export function createLimitHits(log: Log, now: () => number = () => performance.now()): LimitHits {
  const counts = Object.fromEntries(limitTable.map(([name]) => [name, 0])) as Record<LimitName, number>;
  const gate = createLogGate(now);
  let openAt = 0;
  let lines = 0;
  let untold = 0;
  const write = (name: LimitName, client: string, count: number) => {
    const time = now();
    if (time >= openAt) {
      openAt = time + 1000;
      lines = 0;
    }
    if (++lines > maxLinesPerSecond) {
      untold++;
      return;
    }
    const { isFatal, about, told }: Limit = limits[name];
    const data = { limit: name, client, count, ...(untold > 0 ? { untold } : {}) };
    log[isFatal ? 'warn' : 'info'](data, `client ${client} went past the limit ${name} (${about}), and got: ${told}`);
    untold = 0;
  };
  const add: LimitHits['add'] = (limit, client) => {
    counts[limit]++;
    gate(`${limit} ${client}`, (count) => write(limit, client, count));
  };
  return {
    counts,
    add,
    addError(error, client) {
      if (error instanceof LimitError) add(error.limit, client);
    },
  };
}
