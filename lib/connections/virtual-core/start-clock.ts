// A clock that stands still until all connections and rules have started, so that no time that was recalled is over before they
// listen.

import type { SchedulerLike, Subscription } from 'rxjs';

export function createStartClock(scheduler: SchedulerLike, running: Subscription): () => number {
  const startedAt = scheduler.now();
  let isStarting = true;
  running.add(
    scheduler.schedule(() => {
      isStarting = false;
    }),
  );
  return () => (isStarting ? startedAt : scheduler.now());
}
