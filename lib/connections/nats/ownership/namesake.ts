// What is heard of another hub of the same name, apart from what leases say.

import type { SchedulerLike } from 'rxjs';
import type { HubReport } from '../wire/domain-messages.ts';
import { longestWaitMs } from './connection-claims.ts';

/** How often it is looked whether one is still heard of. */
export const lookMs = 500;
/** One that has told nothing for more looks is not heard of any more. */
const silentLooks = longestWaitMs / lookMs;
/** So long one that waits for the lease has to take it, once servers answer; then it is none that can. */
const patienceMs = 10_000;

/** What is looked at of what it tells. */
export type NamesakeReport = Pick<HubReport, 'term' | 'epoch'>;

export class Namesake {
  readonly #clock: SchedulerLike;
  #last: NamesakeReport | undefined;
  /** How often it was looked since it was heard of. */
  #looks = 0;
  /** Since when one is heard of that is in no term. */
  #waitsSinceMs = 0;

  constructor(clock: SchedulerLike) {
    this.#clock = clock;
  }

  hear(report: NamesakeReport): void {
    const isGoingOn = this.isHeard && this.#last!.term === 0;
    this.#last = report;
    this.#looks = 0;
    if (!isGoingOn) this.#waitsSinceMs = this.#clock.now();
  }

  /**
   * Looks whether it is still heard of; to be called each half a second while there is a link. Looks are counted, and not the time: a
   * process that was stopped has heard nobody meanwhile, and looks once before it reads what has come.
   */
  look(): void {
    this.#looks++;
  }

  /** Whether one is there: they tell something each half a second. */
  get isHeard(): boolean {
    return this.#last !== undefined && this.#looks <= silentLooks;
  }

  /**
   * Whether it goes by the name though nobody says who has the lease: it is to have that. It has some time from when servers answer;
   * `answeredMs`: they have answered this hub for so long. As long as they do not, it cannot take it.
   */
  waitsForLease(answeredMs: number): boolean {
    const waitsMs = this.#clock.now() - this.#waitsSinceMs;
    return this.isHeard && this.#last!.term === 0 && Math.min(waitsMs, answeredMs) < patienceMs;
  }
}
