// A wait by a scheduler that can be ended early.

import type { Scheduler } from './deadline.ts';

export class Pause {
  readonly #scheduler: Scheduler;
  #wake = () => {};
  #isWoken = false;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /** Resolves after a while, or when it is woken. */
  for(delayMs: number): Promise<void> {
    return this.until((resolve) => this.#scheduler.schedule(() => resolve(), Math.max(0, delayMs)));
  }

  /** Resolves when `begin` has it resolve, or when it is woken. What `begin` returns is unsubscribed then. */
  until(begin: (resolve: () => void) => { unsubscribe(): void }): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = begin(resolve);
    this.#wake = resolve;
    return promise.finally(() => waiting.unsubscribe());
  }

  /** Ends the present pause. */
  wake(): void {
    this.#isWoken = true;
    this.#wake();
  }

  /** Whether it was woken since the last `forget`: who was at work then leaves out the next pause. */
  get isWoken(): boolean {
    return this.#isWoken;
  }

  /** Forgets that it was woken. */
  forget(): void {
    this.#isWoken = false;
  }
}
