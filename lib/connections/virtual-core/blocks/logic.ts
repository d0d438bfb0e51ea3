// The common interface of function blocks and computed outputs. Both compute values from other values and may store a state between steps.

import { type SchedulerLike, Subscription } from 'rxjs';
import type { Value } from '../../../model/value.ts';

/** A piece of logic with its state. The logic is independent of parameters and of the clock that drives it. */
export interface Logic {
  /** The results of the last step, in the order in which the outputs are declared. */
  readonly outputs: readonly Value[];
  /** The time at which to step again even if no value changes, in milliseconds on the driving clock; Infinity means never. */
  readonly wakeAt: number;
  /**
   * Computes the outputs from the arguments, which are all known, and the current time. Throws if there is no result. The list `values` is
   * valid only during the call and may be longer than the number of arguments.
   */
  step(values: readonly Value[], now: number): void;
  /** Returns the state as data. Missing if the logic has no state. */
  remember?(): Remembered;
  /** Restores the state from an earlier run, before the first step. A timer whose time is already over ends right after the start. */
  recall?(remembered: Remembered, now: number): void;
}

/** The stored state of a piece of logic. Times are in milliseconds on the clock that drives the logic. */
export interface Remembered {
  readonly outputs: readonly Value[];
  /** Whether the input was false, for each input whose edges are detected. */
  readonly edges: readonly boolean[];
  /** The time at which the running timer was started, and its duration; undefined if no timer is running. */
  readonly startedAt?: number | undefined;
  readonly ptMs?: number | undefined;
}

/** Detects when a value becomes true. The first value is never an edge. */
export class RisingEdge {
  wasFalse = false;

  rises(value: boolean): boolean {
    const isEdge = value && this.wasFalse;
    this.wasFalse = !value;
    return isEdge;
  }
}

// An alarm clock that rings once, at the time to which it was last set.

interface Alarm {
  /** Sets the alarm to a time on the scheduler. The new time replaces the previous time; Infinity stops the alarm. */
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
      const delayMs = Math.max(0, Math.ceil(time - scheduler.now())); // timers have a resolution of 1 ms and must not ring early
      action = scheduler.schedule(() => {
        dueAt = Infinity;
        ring();
      }, delayMs);
    },
    clear: () => action.unsubscribe(),
  };
}
