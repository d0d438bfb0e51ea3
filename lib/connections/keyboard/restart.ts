// Keeps a session going: when it errs, the connection is degraded with the reason, and after a pause the session starts
// again. The connection itself does not end, and so does not forget what it counts.

import { concat, defer, type Observable, of, type SchedulerLike, timer } from 'rxjs';
import { catchError, ignoreElements, repeat } from 'rxjs/operators';
import { messageOf } from '../../model/error.ts';
import { Backoff } from '../../model/time/backoff.ts';
import type { ConnectionEvent } from '../connection.ts';

const backoffTimes = { firstMs: 1000, longestMs: 10_000, provenMs: 60_000 };

/** A session has ended in the middle of a press, and only the next one can release the keys. */
export class Interrupted extends Error {}

/**
 * Runs the session again and again, 1, 2, 4, 8, then 10 s after each error; at once after one that was
 * `Interrupted`. Cold, never completes, never errors.
 */
export function restartWithBackoff(
  session$: Observable<ConnectionEvent>,
  scheduler: SchedulerLike,
): Observable<ConnectionEvent> {
  return defer(() => {
    const backoff = new Backoff(backoffTimes);
    let startedAt = 0;
    return defer(() => {
      startedAt = scheduler.now();
      return session$;
    }).pipe(
      catchError((error) => {
        backoff.ran(scheduler.now() - startedAt);
        const pauseMs = error instanceof Interrupted ? 0 : backoff.next();
        return concat(
          of<ConnectionEvent>({ state: 'degraded', reason: messageOf(error) }),
          timer(pauseMs, scheduler).pipe(ignoreElements()),
        );
      }),
      repeat(),
    );
  });
}
