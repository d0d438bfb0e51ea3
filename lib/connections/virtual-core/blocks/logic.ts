// The common interface of function blocks and computed outputs: each computes values from values, and has its own memory.

import { type SchedulerLike, Subscription } from 'rxjs';
import type { Value } from '../../../model/value.ts';

/** A piece of logic with its memory. It is independent of parameters and of the clock that drives it. */
export interface Logic {
  /** The results of the last step, in the order in which the outputs are declared. */
  readonly outputs: readonly Value[];
  /** When to step again even if no value changes, in milliseconds of the clock; Infinity means never. */
  readonly wakeAt: number;
  /**
   * Computes the outputs from the arguments, all of which are known, and the current time. Throws if there is no result. The list is valid
   * during this call, and may be longer than the number of arguments.
   */
  step(values: readonly Value[], now: number): void;
  /** Returns its memory as data; omitted if it has none. */
  remember?(): Remembered;
  /** Restores the memory of an earlier run, before the first step. A time that is already over ends right after the start. */
  recall?(remembered: Remembered, now: number): void;
}

/** The memory of a piece of logic; times are on the clock that drives it. */
export interface Remembered {
  readonly outputs: readonly Value[];
  /** For each input with edges, whether it was false. */
  readonly edges: readonly boolean[];
  /** When the running timer began, and how long it runs; undefined if none is running. */
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

// An alarm that rings once, at the most recently set time.

interface Alarm {
  /** Sets the alarm to a scheduler time, which replaces the previous one; Infinity stops the alarm. */
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
      const delayMs = Math.max(0, Math.ceil(time - scheduler.now())); // timers have whole milliseconds and must not be early
      action = scheduler.schedule(() => {
        dueAt = Infinity;
        ring();
      }, delayMs);
    },
    clear: () => action.unsubscribe(),
  };
}
