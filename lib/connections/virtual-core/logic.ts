// What a function block and a computed output have in common: values in, values out, and a memory of their own.

import type { Value } from '../../model/value.ts';

/** A piece of logic with its memory. It knows nothing of parameters or of the clock that drives it. */
export interface Logic {
  /** What the last step gave, in the order in which the outputs are declared. */
  readonly outputs: readonly Value[];
  /** When to step again although no value has changed, in milliseconds of the clock; Infinity: never. */
  readonly wakeAt: number;
  /** Takes the arguments, all of them known, and the present time. Throws when they have no result. */
  step(values: readonly Value[], now: number): void;
}

/** Tells whether a value has just become true. The first value is no edge, whatever it is. */
export function createRisingEdge(): (value: boolean) => boolean {
  let wasFalse = false;
  return (value) => {
    const rises = value && wasFalse;
    wasFalse = !value;
    return rises;
  };
}
