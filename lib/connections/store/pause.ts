// How they wait who write to a database: for a while, or until something happens, so that a hub in which nothing does sleeps.

import type { Observable, SchedulerLike } from 'rxjs';
import { Subscription } from 'rxjs';
import { take } from 'rxjs/operators';

/** How long who waits for something to happen waits at most: what nobody tells is found then. */
const idleMs = 200;

export class Pause {
  readonly #scheduler: SchedulerLike;
  #wake = () => {};

  constructor(scheduler: SchedulerLike) {
    this.#scheduler = scheduler;
  }

  /** Resolves after a while. */
  for(delayMs: number): Promise<void> {
    return this.#until((resolve) => this.#scheduler.schedule(resolve, Math.max(0, delayMs)));
  }

  /** Resolves some time after something has happened. It hears of that alone, so what happens often costs nothing. */
  untilAfter(happens$: Observable<unknown>, delayMs: number): Promise<void> {
    return this.#until((resolve) => {
      const waiting = new Subscription();
      const longest = this.#scheduler.schedule(resolve, idleMs);
      waiting.add(longest);
      const next = () => {
        longest.unsubscribe();
        waiting.add(this.#scheduler.schedule(resolve, delayMs));
      };
      waiting.add(happens$.pipe(take(1)).subscribe({ next, error: () => {} }));
      return waiting;
    });
  }

  /** Ends the present pause. */
  wake(): void {
    this.#wake();
  }

  #until(begin: (resolve: () => void) => Subscription): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = begin(resolve);
    this.#wake = resolve;
    return promise.finally(() => waiting.unsubscribe());
  }
}
