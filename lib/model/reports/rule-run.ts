// What a rule did, for people who look: plain data, copied when they ask.

import type { Value } from '../value.ts';

/**
 * wrote: a result went to the destinations; stopped: `when` was false; held: a step let nothing through; waited: the rule reads
 * something unknown, which `error` names; failed: `error` says why.
 */
export type RuleOutcome = 'wrote' | 'stopped' | 'held' | 'waited' | 'failed';

/** One run of a rule. Texts are cut at 200 characters. */
export interface RuleRun {
  /** The address whose change started the run; undefined: time did, at the start of the hub. */
  readonly source?: string | undefined;
  readonly value?: Value | undefined;
  /** The revision of the change, and its time in milliseconds since 1970. */
  readonly revision: number;
  readonly time: number;
  readonly outcome: RuleOutcome;
  /** What was written, before its conversion to the types of the destinations. */
  readonly result?: Value | undefined;
  /** The destinations that took it. */
  readonly to: readonly string[];
  readonly error?: string | undefined;
  /** In microseconds. The hub measures for some minutes after somebody has asked for runs of the rule; undefined: it did not. */
  readonly durationUs?: number | undefined;
}

/** The last runs of a rule, newest first. */
export interface RuleRuns {
  readonly rule: string;
  readonly file: string;
  /** False for a rule that only copies: the hub keeps its last run, and records others for some minutes after somebody asks. */
  readonly isAlwaysRecorded: boolean;
  readonly runs: readonly RuleRun[];
}
