// Confirms for writes that whoever would take over has been told of them, and that this hub still ran its connections after that: then no
// other hub of the pair takes over without them. Many writes share one confirmation.

import type { SchedulerLike } from 'rxjs';
import { within } from '../../../model/time/deadline.ts';
import { Pause } from '../../../model/time/wall-clock.ts';
import type { JointLease } from '../lease/joint-lease.ts';

/** Confirmations that follow one another begin so far apart at least. */
const everyMs = 10;
/** A write to another hub waits as long. */
const limitMs = 2000;

export class Confirmation {
  readonly #lease: Pick<JointLease, 'confirm'>;
  readonly #notifyAll: (endMs: number) => Promise<boolean>;
  readonly #clock: SchedulerLike;
  /** That which has not begun yet; when that which began last is over. */
  #next: Promise<boolean> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** `tellAll` tells what has been written so far; resolves to whether who would take over has it, false past a time. Never rejects. */
  constructor(
    lease: Pick<JointLease, 'confirm'>,
    notifyAll: (endMs: number) => Promise<boolean>,
    clock: SchedulerLike,
  ) {
    this.#lease = lease;
    this.#notifyAll = notifyAll;
    this.#clock = clock;
  }

  /** Resolves to whether all that was written before is confirmed, within 2 s; false: nobody knows. Never rejects. */
  confirm(): Promise<boolean> {
    this.#next ??= inTime(this.#confirmAfter(this.#last));
    return this.#next;
  }

  async #confirmAfter(last: Promise<unknown>): Promise<boolean> {
    await last;
    this.#next = undefined;
    const confirmed = inTime(this.#notifyAndRenew());
    this.#last = Promise.all([confirmed, new Pause(this.#clock).for(everyMs)]);
    return confirmed;
  }

  async #notifyAndRenew(): Promise<boolean> {
    return (await this.#notifyAll(this.#clock.now() + limitMs)) && (await this.#lease.confirm());
  }
}

async function inTime(confirmed: Promise<boolean>): Promise<boolean> {
  return (await within(confirmed, limitMs)) === true;
}
