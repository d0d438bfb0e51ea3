// How long a store sleeps in which nothing has to be written: until something happens, so that a hub in which nothing does sleeps too.

import type { Observable, SchedulerLike } from 'rxjs';
import { Subscription } from 'rxjs';
import { take } from 'rxjs/operators';

/** How long who waits for something to happen waits at most: what nobody tells is found then. */
const idleMs = 200;

/**
 * For `Pause.until`: resolves some time after something has happened. It hears of that alone, so what happens often costs
 * nothing.
 */
export function afterNext(happens$: Observable<unknown>, delayMs: number, scheduler: SchedulerLike) {
  return (resolve: () => void): Subscription => {
    const waiting = new Subscription();
    const longest = scheduler.schedule(() => resolve(), idleMs);
    waiting.add(longest);
    const next = () => {
      longest.unsubscribe();
      waiting.add(scheduler.schedule(() => resolve(), delayMs));
    };
    waiting.add(happens$.pipe(take(1)).subscribe({ next, error: () => {} }));
    return waiting;
  };
}
