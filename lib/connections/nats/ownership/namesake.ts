// What is heard of another hub of the same name, apart from what leases say.

import type { SchedulerLike } from 'rxjs';
import type { Told } from '../wire/messages.ts';
import { longestWaitMs } from './claims.ts';

/** What is looked at of what it tells. */
export type NamesakeTold = Pick<Told, 'term' | 'epoch'>;

export class Namesake {
  readonly #clock: SchedulerLike;
  #last: NamesakeTold | undefined;
  #heardMs = 0;

  constructor(clock: SchedulerLike) {
    this.#clock = clock;
  }

  hear(told: NamesakeTold): void {
    this.#last = told;
    this.#heardMs = this.#clock.now();
  }

  /** Whether one is there: they tell something each half a second. */
  get isHeard(): boolean {
    return this.#last !== undefined && this.#clock.now() - this.#heardMs < longestWaitMs;
  }

  /** Whether it goes by the name though nobody says who has the lease: once somebody does, it is to have it. */
  get waitsForLease(): boolean {
    return this.isHeard && this.#last!.term === 0;
  }
}
