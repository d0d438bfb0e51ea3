// Keeps the disk equal to the newest state. One save runs at a time. Those that are asked for meanwhile become one, and one
// that has failed is tried again until it succeeds.

import { defer, EMPTY, type Observable, of, type SchedulerLike, timer } from 'rxjs';
import { catchError, exhaustMap, finalize, map, repeat, startWith, tap } from 'rxjs/operators';
import { messageOf } from '../../model/error.ts';
import { Backoff } from '../../model/time/backoff.ts';
import type { ConnectionEvent } from '../connection.ts';

const backoffTimes = { firstMs: 500, longestMs: 5000 };

export interface KeepSavedOptions {
  /** Saves the state as it is when called. */
  save(): Promise<void>;
  readonly scheduler: SchedulerLike;
  /** Gets the save under way when unsubscribed, followed by one more if the newest state is not saved. */
  finish(work: Promise<unknown>): void;
}

/** Saves at the start and after each change; emits the state after each attempt. Cold, never errors. */
export function keepSaved(changes$: Observable<unknown>, options: KeepSavedOptions): Observable<ConnectionEvent> {
  const { save, scheduler, finish } = options;
  return defer(() => {
    let isStale = false;
    const backoff = new Backoff(backoffTimes);
    let pauseMs = 0;
    let saving = Promise.resolve();
    const save$ = defer(() => {
      isStale = false;
      saving = save();
      return saving;
    }).pipe(
      map((): ConnectionEvent => {
        backoff.reset();
        pauseMs = 0;
        return { state: 'running' };
      }),
      catchError((error) => {
        pauseMs = backoff.next();
        isStale = true;
        return of<ConnectionEvent>({ state: 'degraded', reason: messageOf(error) });
      }),
      repeat({ delay: () => (isStale ? after(pauseMs, scheduler) : EMPTY) }),
    );
    const saveLast = () => (isStale ? save() : undefined);
    return changes$.pipe(
      startWith(undefined),
      tap(() => {
        isStale = true;
      }),
      exhaustMap(() => save$),
      finalize(() => finish(saving.then(saveLast, save))),
    );
  });
}

/** At once where there is no pause. */
function after(pauseMs: number, scheduler: SchedulerLike): Observable<unknown> {
  return pauseMs === 0 ? of(undefined) : timer(pauseMs, scheduler);
}
