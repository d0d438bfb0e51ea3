// The result of a reload, as lists of names.
import type { Origin } from '../parameter.ts';
import type { Value, ValueType } from '../value.ts';

/** The names that a reload adds, removes or changes: Connection IDs or rule names, each list in the order of the flow files. */
export interface Difference {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

export interface Reload {
  readonly connections: Difference;
  readonly rules: Difference;
}

// The result of loading the flow files, for operators.

/** The report on one flow file: its errors, and the number of its connections and rules, including disabled ones. */
export interface FileReport {
  readonly path: string;
  readonly connections: number;
  readonly rules: number;
  readonly mistakes: readonly string[];
}

/**
 * The report on the last load or reload. `time` is in milliseconds since 1970. `isLoaded` is false if the previous configuration remains
 * active, in which case `reason` is one sentence that explains why.
 */
export interface LoadReport {
  readonly time: number;
  readonly isLoaded: boolean;
  readonly reason: string;
  readonly files: readonly FileReport[];
}

// The state of the shadow, and its deviations from the live results: plain data, copied on request.

/** The maximum number of deviations that a shadow report keeps; the newest deviations are kept. */
export const keptDeviations = 1000;

export interface ShadowReport {
  /** When the comparison began, in milliseconds since 1970. A change to the rules in shadow restarts the comparison. */
  readonly since: number;
  /**
   * rules: flow files declare shadow rules; reload: an operator has reloaded in shadow, and saved files run in shadow until the next
   * reload.
   */
  readonly kind: 'rules' | 'reload';
  /** The names of the rules that run only in shadow. */
  readonly rules: readonly string[];
  /** The names of the live rules that a reload would remove. */
  readonly left: readonly string[];
  /** The IDs of connections that a reload would change but that do not run in shadow, because they have effects outside the process. */
  readonly notInShadow: readonly string[];
  readonly parameters: readonly DeviationCount[];
  /** The number of all deviations, whether kept or not. */
  readonly count: number;
  /** The newest deviations, oldest first. */
  readonly deviations: readonly Deviation[];
}

// Differences between two runs of one installation: the states of a parameter in both runs.

/** The state of a parameter on one of the two sides, with its origin. */
export interface Side {
  /** The parameter's value, or the number of times that a trigger has fired at this moment; undefined if unknown. */
  readonly value: Value | undefined;
  readonly origin: Origin | undefined;
}

/** A moment at which the two sides begin to differ, begin to differ in another way, or agree again. */
export interface Deviation {
  /** When the moment began, in milliseconds since 1970. */
  readonly time: number;
  readonly address: string;
  readonly type: ValueType;
  /** The state on the live side. */
  readonly done: Side;
  /** The state on the shadow side. */
  readonly would: Side;
}

/** How one parameter has deviated. */
export interface DeviationCount {
  readonly address: string;
  /** The number of deviations that concern this parameter. */
  readonly count: number;
  /** Whether the two sides currently differ; false for a trigger. */
  readonly differs: boolean;
}
