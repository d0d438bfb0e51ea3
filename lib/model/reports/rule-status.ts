// How a rule is doing, for operators.
import type { Value } from '../value.ts';

/**
 * limited: it loops or holds too much, so that a limit dropped a value or write of it lately, or dropped the last one; failing: it
 * failed on a value lately; waiting: it reads something that is unknown; disabled: its flow file or an operator has switched it
 * off.
 */
export type RuleState = 'running' | 'limited' | 'failing' | 'waiting' | 'disabled';

/** `faults` and `dropped` count from when the hub first met the rule; `reason` is one sentence, empty while it runs. */
export interface RuleStatus {
  readonly name: string;
  readonly file: string;
  /** Where it stands: `demo.json5:7:20`, of an instance in its template, in TypeScript as far as that can be told. */
  readonly place: string;
  /** The names of the folders that it is in, outermost first. */
  readonly folder: readonly string[];
  readonly enabled: boolean;
  /** The addresses that it listens to. */
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly state: RuleState;
  readonly reason: string;
  readonly faults: number;
  readonly dropped: number;
  /** What it would write is noted, and not written. */
  readonly shadow?: true;
}

// What a rule did, for people who look: plain data, copied when they ask.

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
