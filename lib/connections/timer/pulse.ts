// A pulse fires on a grid of its own. A late fire does not delay the next one, and fires that a stall has swallowed are counted
// in the log.

import { asyncScheduler, NEVER, Observable, type SchedulerLike } from 'rxjs';
import { map } from 'rxjs/operators';
import { z } from 'zod';
import type { ConnectionEvent, Log } from '../connection.ts';
import { durationSetting } from '../setting.ts';
import { defaultMs } from './duration.ts';

/** Missed fires of a pulse are logged at most this often. */
const missedLogMs = 10_000;

export const pulseSchema = z.strictObject(
  {
    enabled: z.boolean().default(true).describe('false: the pulse never fires'),
    interval: durationSetting(1).default(defaultMs).describe('Time between two fires'),
  },
  { error: '{ interval: 500 }' },
);

type PulseSettings = z.output<typeof pulseSchema>;

/** Runs a pulse that sets the parameter `id`. Cold, never completes, never errors. */
export function runPulse(
  { scheduler, log }: { scheduler: SchedulerLike; log: Log },
  pulse: PulseSettings,
  id: string,
): Observable<ConnectionEvent> {
  if (!pulse.enabled) return NEVER;
  let missedSinceLog = 0;
  let logAgainAt = Number.NEGATIVE_INFINITY;
  return grid(pulse.interval, scheduler).pipe(
    map(({ missed }) => {
      missedSinceLog += missed;
      if (missedSinceLog > 0 && scheduler.now() >= logAgainAt) {
        log.warn(
          { pulse: id, missed: missedSinceLog },
          `${id} missed ${missedSinceLog} fires: the hub was busy or asleep`,
        );
        missedSinceLog = 0;
        logAgainAt = scheduler.now() + missedLogMs;
      }
      return { set: id, value: true };
    }),
  );
}

/**
 * Fires at start + n × intervalMs, however late the fire before was. Fires that a stall has swallowed are counted in `missed` of
 * the next one. Cold, never completes, never errors.
 */
export function grid(intervalMs: number, scheduler: SchedulerLike = asyncScheduler): Observable<{ missed: number }> {
  return new Observable((subscriber) => {
    const start = scheduler.now();
    let due = 1;
    const untilDueMs = () => Math.max(0, Math.ceil(start + due * intervalMs - scheduler.now()));
    const fire = () => {
      const elapsed = Math.max(due, Math.floor((scheduler.now() - start) / intervalMs));
      const missed = elapsed - due;
      due = elapsed + 1;
      subscriber.next({ missed });
      if (!subscriber.closed) scheduled = scheduler.schedule(fire, untilDueMs());
    };
    let scheduled = scheduler.schedule(fire, untilDueMs());
    return () => scheduled.unsubscribe();
  });
}
