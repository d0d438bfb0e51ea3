// What the clock of an owner shows, as far as it has been heard of: it tells that with all that it tells. So an owner knows how long ago it
// was asked something, though no two hubs have the same time.

import type { SchedulerLike } from 'rxjs';
import type { HubReport } from '../wire/domain-messages.ts';

/** Nothing that an owner tells is under way for so long. */
const strangeMs = 10_000;

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

  /** What is taken again, or later, was heard before. What is far from what was expected is believed, so that no lie lasts. */
  hear({ epoch, clock }: Pick<HubReport, 'epoch' | 'clock'>): void {
    const isExpected = epoch === this.#epoch && Math.abs(clock - this.now()) < strangeMs;
    if (isExpected && clock <= this.#shownMs) return;
    this.#epoch = epoch;
    this.#shownMs = clock;
    this.#heardAtMs = this.#scheduler.now();
  }
}
