// Where two runs of one installation differ: what a parameter is in one of them beside what it is in the other.

import type { Origin } from '../parameter.ts';
import type { Value, ValueType } from '../value.ts';

/** What a parameter is on one side, and who has set it. */
export interface Side {
  /** Of a trigger: how often it has fired at this moment; undefined: unknown. */
  readonly value: Value | undefined;
  readonly origin: Origin | undefined;
}

/** From a moment on two sides differ, or differ in another way, or no longer differ. */
export interface Deviation {
  /** In milliseconds since 1970. */
  readonly time: number;
  readonly address: string;
  readonly type: ValueType;
  /** What was done. */
  readonly done: Side;
  /** What would have been done. */
  readonly would: Side;
}

/** How one parameter differs. */
export interface DeviationCount {
  readonly address: string;
  /** How many of the deviations are of this parameter. */
  readonly count: number;
  /** Whether the two sides differ now; of a trigger, false. */
  readonly differs: boolean;
}
