// What a rule did, as it is told to those who look: plain data, copied when asked for.

import type { Value } from './value.ts';

/**
 * wrote: a result went to the destinations; stopped: `when` was false; held: a step let nothing through; waited: something that
 * it reads is unknown, which `error` names; failed.
 */
export type RuleOutcome = 'wrote' | 'stopped' | 'held' | 'waited' | 'failed';

/** One run of a rule. Texts of over 200 characters are cut. */
export interface RuleRun {
  /** The address whose change started the run; undefined: time did, at the start of the hub. */
  readonly source?: string | undefined;
  readonly value?: Value | undefined;
  /** Revision of the change, and its time in milliseconds since 1970. */
  readonly revision: number;
  readonly time: number;
  readonly outcome: RuleOutcome;
  /** What was written, before its conversion to the types of the destinations. */
  readonly result?: Value | undefined;
  /** The destinations that took it. */
  readonly to: readonly string[];
  readonly error?: string | undefined;
  /** In microseconds; undefined: nobody had asked for runs of the rule within the last minutes before. */
  readonly durationUs?: number | undefined;
}

/** The last runs of a rule, newest first. */
export interface RuleRuns {
  readonly rule: string;
  readonly file: string;
  /** False for a rule that only copies: beside its last run only those of the minutes after somebody asked are known. */
  readonly isAlwaysRecorded: boolean;
  readonly runs: readonly RuleRun[];
}
