// A timer that runs goes on after a restart of the hub, where there is a store: it ends at the time of day at which it should.

import { EMPTY, type Observable, of, type SchedulerLike } from 'rxjs';
import { longestDurationMs } from '../../model/time/duration.ts';
import type { Memory } from '../keeping.ts';

/** How long a timer of this name has still to run; 0 when it should have ended by now. It emits once at most. */
export function recallMs(memory: Memory, name: string, scheduler: SchedulerLike): Observable<number> {
  const { endsAt } = (memory.recalled.get(name) ?? {}) as { endsAt?: unknown };
  if (typeof endsAt !== 'number') return EMPTY;
  return of(Math.min(longestDurationMs, Math.max(0, memory.clockOf(endsAt) - scheduler.now())));
}
