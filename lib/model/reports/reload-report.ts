// What a reload has swapped, by name.
import type { Origin } from '../parameter.ts';
import type { Value, ValueType } from '../value.ts';

/** Connection IDs or names of rules, each in the order of the flow files. */
export interface Difference {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

export interface Reload {
  readonly connections: Difference;
  readonly rules: Difference;
}

// What a load of the flow files said, for operators.

/** One flow file: what is wrong with it, and how many connections and rules it has. Those that are switched off count too. */
export interface FileReport {
  readonly path: string;
  readonly connections: number;
  readonly rules: number;
  readonly mistakes: readonly string[];
}

/**
 * The last load or reload. `time` is milliseconds since 1970. `isLoaded` is false when the flows that ran before still run;
 * then `reason` says in one sentence why.
 */
export interface LoadReport {
  readonly time: number;
  readonly isLoaded: boolean;
  readonly reason: string;
  readonly files: readonly FileReport[];
}

// What runs in shadow, and what it would have done beside what was done: plain data, copied when somebody asks.

/** How many deviations are kept, the newest. */
export const keptDeviations = 1000;

export interface ShadowReport {
  /** Since when, in milliseconds since 1970; a change of what runs in shadow begins anew. */
  readonly since: number;
  /** rules: flow files say so; reload: somebody has reloaded in shadow, and what is saved goes there until a reload. */
  readonly kind: 'rules' | 'reload';
  /** The rules that run in shadow and not live, and those that are live and would not be. */
  readonly rules: readonly string[];
  readonly left: readonly string[];
  /** Connections that a reload would change and that are not in shadow, as they reach out of the process. */
  readonly notInShadow: readonly string[];
  readonly parameters: readonly DeviationCount[];
  /** How many deviations there were. */
  readonly count: number;
  /** The newest, oldest first. */
  readonly deviations: readonly Deviation[];
}

// Where two runs of one installation differ: what a parameter is in one of them beside what it is in the other.

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
