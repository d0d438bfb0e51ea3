// The clock for connections and rules.

import { asyncScheduler, type SchedulerLike } from 'rxjs';

/** A scheduler whose time is not affected by adjustments to the system clock. */
export const monotonicScheduler: SchedulerLike = {
  now: () => performance.now(),
  schedule: asyncScheduler.schedule.bind(asyncScheduler) as typeof asyncScheduler.schedule,
};
