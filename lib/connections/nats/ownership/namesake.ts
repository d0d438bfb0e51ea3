// Detects another hub with the same name by that hub's messages, independently of leases.

import type { SchedulerLike } from 'rxjs';
import type { HubReport } from '../wire/domain-messages.ts';
import { longestWaitMs } from './connection-claims.ts';

/** The interval of the checks for messages of a namesake. */
export const lookMs = 500;
/** The number of silent checks after which the other hub counts as gone. */
const silentLooks = longestWaitMs / lookMs;
/**
 * The time within which a hub that waits for the lease should get it once servers answer; after this time, the hub counts as unable to get
 * the lease.
 */
const patienceMs = 10_000;

/** The part of a namesake's messages that is evaluated. */
export type NamesakeReport = Pick<HubReport, 'term' | 'epoch'>;

export class Namesake {
  readonly #clock: SchedulerLike;
  #last: NamesakeReport | undefined;
  /** The number of checks since the namesake's last message. */
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
   * Counts a check. To be called every half second while there is a link. Checks are counted instead of time, because a process that was
   * suspended has received nothing in between, and runs one check before reading its messages.
   */
  look(): void {
    this.#looks++;
  }

  /** Whether there is another hub with the same name. Hubs send a message every half second. */
  get isPresent(): boolean {
    return this.#last !== undefined && this.#looks <= silentLooks;
  }

  /**
   * Returns whether the namesake uses the name although the holder of the lease is unknown, in which case it should get the lease first.
   * The namesake has some time for this after the servers begin to answer, because it cannot take the lease without answers; `answeredMs`
   * is how long the servers have been answering this hub.
   */
  waitsForLease(answeredMs: number): boolean {
    const waitsMs = this.#clock.now() - this.#waitsSinceMs;
    return this.isPresent && this.#last!.term === 0 && Math.min(waitsMs, answeredMs) < patienceMs;
  }
}
