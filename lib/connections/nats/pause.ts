// Waiting by the clock of the connection, which a test moves.

import type { SchedulerLike } from 'rxjs';

export function pause(clock: SchedulerLike, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  clock.schedule(() => resolve(), ms);
  return promise;
}
