// Detects another hub with the same name by its messages, independently of leases.

import type { SchedulerLike } from 'rxjs';
import type { HubReport } from '../wire/domain-messages.ts';
import { longestWaitMs } from './connection-claims.ts';

/** The interval of the checks for messages of a namesake. */
export const lookMs = 500;
/** After more silent checks than this, the other hub counts as gone. */
const silentLooks = longestWaitMs / lookMs;
/** The time that a hub that waits for the lease may take to get it once servers answer; after that, it counts as unable to. */
const patienceMs = 10_000;

/** The evaluated part of a namesake's messages. */
export type NamesakeReport = Pick<HubReport, 'term' | 'epoch'>;

export class Namesake {
  readonly #clock: SchedulerLike;
  #last: NamesakeReport | undefined;
  /** The number of checks since its last message. */
  #looks = 0;
  /** The time of the first message without a term. */
  #waitsSinceMs = 0;

  constructor(clock: SchedulerLike) {
    this.#clock = clock;
  }

  note(report: NamesakeReport): void {
    const isGoingOn = this.isPresent && this.#last!.term === 0;
    this.#last = report;
    this.#looks = 0;
    if (!isGoingOn) this.#waitsSinceMs = this.#clock.now();
  }

  /**
   * Counts a check. Call it every half a second while there is a link. It counts checks, not time: a process that was suspended has
   * received nothing in between, and runs one check before it reads its messages.
   */
  look(): void {
    this.#looks++;
  }

  /** Whether there is such a hub: hubs send a message every half a second. */
  get isPresent(): boolean {
    return this.#last !== undefined && this.#looks <= silentLooks;
  }

  /**
   * Whether it uses the name although the holder of the lease is unknown: then it should get the lease first. It has some time after
   * servers begin to answer; `answeredMs` is how long they have answered this hub. Without answers it cannot take the lease.
   */
  waitsForLease(answeredMs: number): boolean {
    const waitsMs = this.#clock.now() - this.#waitsSinceMs;
    return this.isPresent && this.#last!.term === 0 && Math.min(waitsMs, answeredMs) < patienceMs;
  }
}
