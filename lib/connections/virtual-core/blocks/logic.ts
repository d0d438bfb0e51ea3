// The common interface of function blocks and computed outputs: both compute values from other values, and have their own memory.

import { type SchedulerLike, Subscription } from 'rxjs';
import type { Value } from '../../../model/value.ts';

/** A piece of logic with its memory. Logic is independent of parameters and of the clock that drives it. */
export interface Logic {
  /** The results of the last step, in the order in which the outputs are declared. */
  readonly outputs: readonly Value[];
  /** When to step again even if no value changes, on the clock in milliseconds; Infinity means never. */
  readonly wakeAt: number;
  /**
   * Computes the outputs from the arguments, all of which are known, and from the current time. Throws if there is no result. The list is
   * valid only during the call, and may be longer than the number of arguments.
   */
  step(values: readonly Value[], now: number): void;
  /** Returns the memory as data; omitted if the logic has no memory. */
  remember?(): Remembered;
  /** Restores the memory from an earlier run, before the first step. A timer whose time is already over ends right after the start. */
  recall?(remembered: Remembered, now: number): void;
}

/** The memory of a piece of logic. Times are on the clock that drives the logic. */
export interface Remembered {
  readonly outputs: readonly Value[];
  /** For each input with edge detection, whether the input was false. */
  readonly edges: readonly boolean[];
  /** When the running timer was started, and how long it runs; undefined if no timer is running. */
  readonly startedAt?: number | undefined;
  readonly ptMs?: number | undefined;
}

/** Detects whether a value has just become true. The first value is never an edge. */
export class RisingEdge {
  wasFalse = false;

  rises(value: boolean): boolean {
    const isEdge = value && this.wasFalse;
    this.wasFalse = !value;
    return isEdge;
  }
}

// An alarm that rings once, at the time to which it was last set.

interface Alarm {
  /** Sets the alarm to a time on the scheduler, which replaces the previous time; Infinity stops the alarm. */
  setTo(time: number): void;
  clear(): void;
}

export function createAlarm(scheduler: SchedulerLike, ring: () => void): Alarm {
  let action = Subscription.EMPTY;
  let dueAt = Infinity;
  return {
    setTo(time: number): void {
      if (time === dueAt) return;
      action.unsubscribe();
      dueAt = time;
      if (time === Infinity) return;
      const delayMs = Math.max(0, Math.ceil(time - scheduler.now())); // timers have a resolution of one millisecond and must not fire early
      action = scheduler.schedule(() => {
        dueAt = Infinity;
        ring();
      }, delayMs);
    },
    clear: () => action.unsubscribe(),
  };
}
