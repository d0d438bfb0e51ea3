// The status of a rule, for operators.
import type { Value } from '../value.ts';

/**
 * limited: the rule loops or buffers too much, so that a limit dropped its last value or write, or another one recently; failing: it
 * recently failed on a value; waiting: a parameter that it reads is unknown; disabled: switched off by its flow file or by an operator.
 */
export type RuleState = 'running' | 'limited' | 'failing' | 'waiting' | 'disabled';

/** `faults` and `dropped` count since the hub first loaded the rule. `reason` is one sentence, empty while it runs. */
export interface RuleStatus {
  readonly name: string;
  readonly file: string;
  /** The source location: `demo.json5:7:20`; for an instance, in its template; in TypeScript, as far as known. */
  readonly place: string;
  /** The names of its folders, outermost first. */
  readonly folder: readonly string[];
  readonly enabled: boolean;
  /** The addresses to which it listens. */
  readonly from: readonly string[];
  readonly to: readonly string[];
  /** Only for rules in JSON5, as far as they have it. */
  readonly when?: string;
  readonly map?: string;
  readonly pipe?: readonly unknown[];
  /** The names of `from`, each with its address. */
  readonly names?: Readonly<Record<string, string>>;
  /** The destinations, each with its expression. */
  readonly split?: Readonly<Record<string, string>>;
  readonly state: RuleState;
  readonly reason: string;
  readonly faults: number;
  readonly dropped: number;
  /** Set if it runs in shadow: its writes are recorded but not made. */
  readonly shadow?: true;
}

/** The time for which the switch of a rule or connection lasts, across saves, reloads and restarts. */
export interface SwitchTerm {
  /** In milliseconds since 1970; null means forever. */
  readonly until: number | null;
  readonly reason: string;
}

/** A rule or connection that an operator has switched contrary to its flow file. */
export interface Override {
  readonly kind: 'rule' | 'connection';
  readonly name: string;
  readonly file: string;
  readonly isOn: boolean;
  readonly by: string;
  readonly reason: string;
  /** In milliseconds since 1970. */
  readonly since: number;
  /** Whether it lasts over saves, reloads and restarts. */
  readonly isLasting: boolean;
  /** Until when it lasts; omitted: for good, or until a restart. */
  readonly until?: number;
}

// The runs of a rule, for people: plain data, copied on request.

/**
 * wrote: a result was written to the destinations; stopped: `when` was false; held: a step passed nothing on; waited: `error` names an
 * unknown parameter that the rule reads; failed: `error` is the reason.
 */
export type RuleOutcome = 'wrote' | 'stopped' | 'held' | 'waited' | 'failed';

/** One run of a rule. Texts are cut at 200 characters. */
export interface RuleRun {
  /** The address whose change started the run; undefined if the start of the hub or a timer did. */
  readonly source?: string | undefined;
  readonly value?: Value | undefined;
  /** The revision of the change, and its time in milliseconds since 1970. */
  readonly revision: number;
  readonly time: number;
  readonly outcome: RuleOutcome;
  /** The result before its conversion to the types of the destinations. */
  readonly result?: Value | undefined;
  /** The destinations that accepted it. */
  readonly to: readonly string[];
  readonly error?: string | undefined;
  /** In microseconds. The hub measures for some minutes after a request for the runs of the rule; undefined if not measured. */
  readonly durationUs?: number | undefined;
}

/** The last runs of a rule, newest first. */
export interface RuleRuns {
  readonly rule: string;
  readonly file: string;
  /** False for a rule that only copies: the hub keeps its last run, and records others for some minutes after a request. */
  readonly isAlwaysRecorded: boolean;
  readonly runs: readonly RuleRun[];
}
