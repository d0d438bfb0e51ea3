// A store has independent parts: values, history, audit, snapshots. A fault in one part does not affect the other parts. The states of all
// parts combined form the state of the connection.

import { Observable, type SchedulerLike, type Subscription } from 'rxjs';
import { messageOf } from '../../model/error.ts';
import { Backoff, restartTimes } from '../../model/time/backoff.ts';
import type { ConnectionEvent } from '../connection.ts';
import { StateReporter } from './keeper.ts';

/**
 * A part of a store. A part emits its state soon after it is subscribed to; the store has started once all parts have done so. If a part
 * errors, the store subscribes to it again after a pause of 1 s, 2 s, … 30 s. Cold; never completes.
 */
export type Part = Observable<ConnectionEvent>;

/**
 * Runs the parts of a store, keyed by name, and emits the combined state. The reason for a fault begins with the name of the part, except
 * for the part `values`.
 */
export function runParts(parts: Readonly<Record<string, Part>>, scheduler: SchedulerLike): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const reasons = new Map<string, string | undefined>();
    const names = Object.keys(parts);
    const state = new StateReporter((event) => subscriber.next(event));
    const report = (name: string, reason: string | undefined) => {
      reasons.set(name, reason);
      if (reasons.size < names.length) return;
      state.set(...names.map((one) => reasons.get(one)));
    };
    const running = Object.entries(parts).map(([name, part]) =>
      keepRunning(part, scheduler, (event) => {
        if (!('state' in event)) subscriber.next(event);
        else if (event.state === 'running') report(name, undefined);
        else report(name, name === 'values' ? event.reason : `${name}: ${event.reason}`);
      }),
    );
    return () => {
      for (const stop of running) stop();
    };
  });
}

function keepRunning(part: Part, scheduler: SchedulerLike, report: (event: ConnectionEvent) => void): () => void {
  const backoff = new Backoff(restartTimes);
  let waiting: Subscription | undefined;
  let running: Subscription | undefined;
  let isStopped = false;
  const start = () => {
    const startedAt = scheduler.now();
    running = part.subscribe({
      next: report,
      error: (error: unknown) => {
        if (isStopped) return;
        backoff.ran(scheduler.now() - startedAt);
        report({ state: 'degraded', reason: messageOf(error) });
        waiting = scheduler.schedule(start, backoff.next());
      },
    });
  };
  start();
  return () => {
    isStopped = true;
    waiting?.unsubscribe();
    running?.unsubscribe();
  };
}
