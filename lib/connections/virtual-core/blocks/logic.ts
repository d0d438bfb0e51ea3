// What function blocks and computed outputs have in common: values go in, values come out, and each has a memory of its own.

import { type SchedulerLike, Subscription } from 'rxjs';
import type { Value } from '../../../model/value.ts';

/** A piece of logic with its memory. It knows nothing of parameters or of the clock that drives it. */
export interface Logic {
  /** The results of the last step, in the order in which the outputs are declared. */
  readonly outputs: readonly Value[];
  /** When to step again even if no value changes, in milliseconds of the clock; Infinity: never. */
  readonly wakeAt: number;
  /**
   * Computes the outputs from the arguments, all of which are known, and the present time. Throws when there is no result. The list
   * is good for this call, and may be longer than there are arguments.
   */
  step(values: readonly Value[], now: number): void;
  /** Gives its memory as data; left out: it has none. */
  remember?(): Remembered;
  /** Takes over the memory of an earlier run, before the first step. A time that is over by now ends right after the start. */
  recall?(remembered: Remembered, now: number): void;
}

/** The memory of a piece of logic; times are of the clock that drives it. */
export interface Remembered {
  readonly outputs: readonly Value[];
  /** For each input whose edges count, whether it was false. */
  readonly edges: readonly boolean[];
  /** When the time that runs began, and how long it is to run; undefined: none runs. */
  readonly startedAt?: number | undefined;
  readonly ptMs?: number | undefined;
}

/** Tells whether a value has just become true. The first value is never an edge. */
export class RisingEdge {
  wasFalse = false;

  rises(value: boolean): boolean {
    const isEdge = value && this.wasFalse;
    this.wasFalse = !value;
    return isEdge;
  }
}

// Rings once, at the moment to which it was set last.

interface Alarm {
  /** Sets it to a time of the scheduler, in place of the one before; Infinity: it does not ring. */
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
      const delayMs = Math.max(0, Math.ceil(time - scheduler.now())); // clocks wake in whole milliseconds, never early
      action = scheduler.schedule(() => {
        dueAt = Infinity;
        ring();
      }, delayMs);
    },
    clear: () => action.unsubscribe(),
  };
}
