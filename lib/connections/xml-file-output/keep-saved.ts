// Keeps what is on the disk equal to the newest state: one save in flight, those asked for meanwhile made one, a failed
// one tried again until it succeeds.

import { defer, EMPTY, type Observable, of, type SchedulerLike, timer } from 'rxjs';
import { catchError, exhaustMap, finalize, map, repeat, startWith, tap } from 'rxjs/operators';
import { messageOf } from '../../model/error.ts';
import type { ConnectionEvent } from '../connection.ts';

const firstBackoffMs = 500;
const longestBackoffMs = 5000;

export interface KeepSavedOptions {
  /** Saves the state as it is when called. */
  save(): Promise<void>;
  readonly scheduler: SchedulerLike;
  /** Takes over the save in flight, and one more where the newest state is not saved, when unsubscribed. */
  finish(work: Promise<unknown>): void;
}

/** Saves at the start and after each change; emits the state after each attempt. Cold, never errors. */
export function keepSaved(changes$: Observable<unknown>, options: KeepSavedOptions): Observable<ConnectionEvent> {
  const { save, scheduler, finish } = options;
  return defer(() => {
    let isStale = false;
    let failures = 0;
    let saving = Promise.resolve();
    const save$ = defer(() => {
      isStale = false;
      saving = save();
      return saving;
    }).pipe(
      map((): ConnectionEvent => {
        failures = 0;
        return { state: 'running' };
      }),
      catchError((error) => {
        failures++;
        isStale = true;
        return of<ConnectionEvent>({ state: 'degraded', reason: messageOf(error) });
      }),
      repeat({ delay: () => (isStale ? backoff(failures, scheduler) : EMPTY) }),
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

function backoff(failures: number, scheduler: SchedulerLike): Observable<unknown> {
  if (failures === 0) return of(undefined);
  return timer(Math.min(firstBackoffMs * 2 ** (failures - 1), longestBackoffMs), scheduler);
}
