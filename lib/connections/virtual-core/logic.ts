// What function blocks and computed outputs have in common: values go in, values come out, and each has a memory of its own.

import type { Value } from '../../model/value.ts';

/** A piece of logic with its memory. It knows nothing of parameters or of the clock that drives it. */
export interface Logic {
  /** The results of the last step, in the order in which the outputs are declared. */
  readonly outputs: readonly Value[];
  /** When to step again even if no value changes, in milliseconds of the clock; Infinity: never. */
  readonly wakeAt: number;
  /** Computes the outputs from the arguments, all of which are known, and the present time. Throws when there is no result. */
  step(values: readonly Value[], now: number): void;
}

/** Tells whether a value has just become true. The first value is never an edge. */
export function createRisingEdge(): (value: boolean) => boolean {
  let wasFalse = false;
  return (value) => {
    const rises = value && wasFalse;
    wasFalse = !value;
    return rises;
  };
}
