// Confirms writes: the standby has received them, and this hub still ran its connections afterwards. So no other hub of the pair takes over
// without them. Many writes share one confirmation.

import type { SchedulerLike } from 'rxjs';
import { within } from '../../../model/time/deadline.ts';
import { Pause } from '../../../model/time/wall-clock.ts';
import type { JointLease } from '../lease/joint-lease.ts';

/** The minimum interval between confirmations. */
const everyMs = 10;
/** The same as for a write to another hub. */
const limitMs = 2000;

export class Confirmation {
  readonly #lease: Pick<JointLease, 'confirm'>;
  readonly #notifyAll: (endMs: number) => Promise<boolean>;
  readonly #clock: SchedulerLike;
  /** The confirmation that has not begun yet, and the end of the last one that has. */
  #next: Promise<boolean> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** `notifyAll` sends what has been written so far. It resolves to whether the standby has it, to false past a time, and never rejects. */
  constructor(
    lease: Pick<JointLease, 'confirm'>,
    notifyAll: (endMs: number) => Promise<boolean>,
    clock: SchedulerLike,
  ) {
    this.#lease = lease;
    this.#notifyAll = notifyAll;
    this.#clock = clock;
  }

  /** Resolves to whether everything written before is confirmed, within 2 s; false: unknown. Never rejects. */
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
