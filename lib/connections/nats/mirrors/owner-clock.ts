// The clock of an owner, as far as known: every report contains its time. So an owner knows how long ago it received a request first,
// although no two hubs have the same time.

import type { SchedulerLike } from 'rxjs';
import type { HubReport } from '../wire/domain-messages.ts';

/** No report is on its way for this long. */
const implausibleMs = 10_000;

export class OwnerClock {
  readonly #scheduler: SchedulerLike;
  #epoch = '';
  #shownMs = 0;
  /** When that was received, on the clock of this hub. */
  #receivedAtMs = 0;

  constructor(scheduler: SchedulerLike) {
    this.#scheduler = scheduler;
  }

  /** The epoch of the last report. */
  get epoch(): string {
    return this.#epoch;
  }

  /** Returns whole milliseconds, lower by the time that the report took to arrive. */
  now(): number {
    return Math.floor(this.#shownMs + this.#scheduler.now() - this.#receivedAtMs);
  }

  /**
   * Notes the clock of a report. Ignores repeated or delayed reports. Accepts a time far from the expected one, so a wrong one does not
   * last.
   */
  note({ epoch, clock }: Pick<HubReport, 'epoch' | 'clock'>): void {
    const isExpected = epoch === this.#epoch && Math.abs(clock - this.now()) < implausibleMs;
    if (isExpected && clock <= this.#shownMs) return;
    this.#epoch = epoch;
    this.#shownMs = clock;
    this.#receivedAtMs = this.#scheduler.now();
  }
}
