// The clock of connections and rules.

import { asyncScheduler, type SchedulerLike } from 'rxjs';

/** Time that no adjustment of the system clock moves. */
export const monotonicScheduler: SchedulerLike = {
  now: () => performance.now(),
  schedule: asyncScheduler.schedule.bind(asyncScheduler) as typeof asyncScheduler.schedule,
};
