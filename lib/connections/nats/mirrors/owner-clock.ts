// What the clock of an owner shows, as far as it has been heard of: it tells that with all that it tells. So an owner knows how long ago it
// was asked something, though no two hubs have the same time.

import type { SchedulerLike } from 'rxjs';
import type { Told } from '../wire/messages.ts';

export class OwnerClock {
  readonly #scheduler: SchedulerLike;
  #epoch = '';
  #shownMs = 0;
  /** When that was heard, on the clock of this hub. */
  #heardAtMs = 0;

  constructor(scheduler: SchedulerLike) {
    this.#scheduler = scheduler;
  }

  /** In which the owner was last heard of. */
  get epoch(): string {
    return this.#epoch;
  }

  /** Whole milliseconds, less the time that what was heard has taken to come. */
  now(): number {
    return Math.floor(this.#shownMs + this.#scheduler.now() - this.#heardAtMs);
  }

  /** What is taken again, or later, was heard before. */
  hear({ epoch, clock }: Pick<Told, 'epoch' | 'clock'>): void {
    if (epoch === this.#epoch && clock <= this.#shownMs) return;
    this.#epoch = epoch;
    this.#shownMs = clock;
    this.#heardAtMs = this.#scheduler.now();
  }
}
