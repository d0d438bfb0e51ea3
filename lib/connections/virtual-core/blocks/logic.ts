// What function blocks and computed outputs have in common: values go in, values come out, and each has a memory of its own.

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
