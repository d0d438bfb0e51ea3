// Detects another hub with this hub's name (a namesake) by its messages, independently of leases.

import type { SchedulerLike } from 'rxjs';
import type { HubReport } from '../wire/domain-messages.ts';
import { longestWaitMs } from './connection-claims.ts';

/** The interval between checks for messages from a namesake, in milliseconds. */
export const lookMs = 500;
/** The number of successive checks without a message after which the namesake counts as gone. */
const silentLooks = longestWaitMs / lookMs;
/**
 * The time within which a hub that is waiting for the lease should get it after servers have begun to answer, in milliseconds. After this
 * time, the hub counts as unable to get the lease.
 */
const patienceMs = 10_000;

/** The part of a namesake's messages that is evaluated. */
export type NamesakeReport = Pick<HubReport, 'term' | 'epoch'>;

export class Namesake {
  readonly #clock: SchedulerLike;
  #last: NamesakeReport | undefined;
  /** The number of checks since the last message from the namesake. */
  #looks = 0;
  /** The time of the first message without a term, in milliseconds. */
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
   * Performs a check. Must be called every half second while the hub is connected. Checks are counted instead of time, because a process
   * that was suspended has received nothing in the meantime, and performs one check before it reads its messages.
   */
  look(): void {
    this.#looks++;
  }

  /** Whether there is another hub with the same name. Hubs send a message every half second. */
  get isPresent(): boolean {
    return this.#last !== undefined && this.#looks <= silentLooks;
  }

  /**
   * Returns whether the namesake uses the name although the holder of the lease is unknown. In this case, the namesake should get the lease
   * first, within a limited time after servers begin to answer, because it cannot take the lease without answers. `answeredMs` is the time
   * for which the servers have been answering this hub, in milliseconds.
   */
  waitsForLease(answeredMs: number): boolean {
    const waitsMs = this.#clock.now() - this.#waitsSinceMs;
    return this.isPresent && this.#last!.term === 0 && Math.min(waitsMs, answeredMs) < patienceMs;
  }
}
