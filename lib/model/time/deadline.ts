// Waiting that comes to an end, whatever happens.

import { asyncScheduler, type SchedulerLike } from 'rxjs';

/** What a promise resolves with, or undefined once this much time has passed; the work behind it goes on. Errors: its own. */
export async function within<T>(
  promise: Promise<T>,
  limitMs: number,
  scheduler: SchedulerLike = asyncScheduler,
): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const deadline = scheduler.schedule(() => late.resolve(undefined), limitMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    deadline.unsubscribe();
  }
}
