// Rings once, at the moment to which it was set last.

import { type SchedulerLike, Subscription } from 'rxjs';

export interface Alarm {
  /** Sets it to a time of the scheduler, in place of the one before; Infinity: it does not ring. */
  setTo(time: number): void;
  clear(): void;
}

export function createAlarm(scheduler: SchedulerLike, ring: () => void): Alarm {
  let action = Subscription.EMPTY;
  let dueAt = Infinity;
  return {
    setTo(time: number): void {
      if (time === dueAt) return;
      action.unsubscribe();
      dueAt = time;
      if (time === Infinity) return;
      const delayMs = Math.max(0, Math.ceil(time - scheduler.now())); // clocks wake in whole milliseconds, never early
      action = scheduler.schedule(() => {
        dueAt = Infinity;
        ring();
      }, delayMs);
    },
    clear: () => action.unsubscribe(),
  };
}
