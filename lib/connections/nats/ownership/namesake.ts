// What is heard of another hub of the same name, apart from what leases say.

import type { SchedulerLike } from 'rxjs';
import type { Told } from '../wire/domain-messages.ts';
import { longestWaitMs } from './connection-claims.ts';

/** So long one that waits for the lease has to take it; then it is none that can. */
const patienceMs = 10_000;

/** What is looked at of what it tells. */
export type NamesakeTold = Pick<Told, 'term' | 'epoch'>;

export class Namesake {
  readonly #clock: SchedulerLike;
  #last: NamesakeTold | undefined;
  #heardMs = 0;
  /** Since when one is heard of that is in no term. */
  #waitsSinceMs = 0;

  constructor(clock: SchedulerLike) {
    this.#clock = clock;
  }

  hear(told: NamesakeTold): void {
    const isGoingOn = this.isHeard && this.#last!.term === 0;
    this.#last = told;
    this.#heardMs = this.#clock.now();
    if (!isGoingOn) this.#waitsSinceMs = this.#heardMs;
  }

  /** Whether one is there: they tell something each half a second. */
  get isHeard(): boolean {
    return this.#last !== undefined && this.#clock.now() - this.#heardMs < longestWaitMs;
  }

  /** Whether it goes by the name though nobody says who has the lease: once somebody does, it is to have it. */
  get waitsForLease(): boolean {
    return this.isHeard && this.#last!.term === 0 && this.#clock.now() - this.#waitsSinceMs < patienceMs;
  }
}
