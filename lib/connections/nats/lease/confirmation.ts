// Confirms for writes that this hub still ran its connections after they were done, and that others have been told of them: then no other
// hub of the pair takes over without them. Many writes share one renewal of the lease.

import type { SchedulerLike } from 'rxjs';
import { within } from '../../../model/time/deadline.ts';
import type { JointLease } from './joint-lease.ts';

/** Renewals of writes that come one after another are so far apart at least. */
const everyMs = 5;
/** As long as a write to another hub waits. */
const limitMs = 2000;

export class Confirmation {
  readonly #lease: Pick<JointLease, 'confirm'>;
  readonly #tellAll: () => void;
  readonly #clock: SchedulerLike;
  /** That which has not begun yet, and that which began last. */
  #next: Promise<boolean> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** `tellAll` tells others what has been written so far, on the same connection as the lease is renewed. */
  constructor(lease: Pick<JointLease, 'confirm'>, tellAll: () => void, clock: SchedulerLike) {
    this.#lease = lease;
    this.#tellAll = tellAll;
    this.#clock = clock;
  }

  /** Resolves to whether all that was written before is confirmed; false: nobody knows. Never rejects. */
  confirm(): Promise<boolean> {
    this.#next ??= this.#confirmAfter(this.#last);
    return this.#next;
  }

  async #confirmAfter(last: Promise<unknown>): Promise<boolean> {
    await last;
    this.#next = undefined;
    this.#tellAll();
    const confirmed = within(this.#lease.confirm(), limitMs);
    this.#last = Promise.allSettled([confirmed, this.#pause()]);
    return (await confirmed) === true;
  }

  #pause(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#clock.schedule(() => resolve(), everyMs);
    return promise;
  }
}
