// The status of a rule, for operators.
import type { Value } from '../value.ts';

/**
 * limited: the rule loops or buffers too much, so that a limit recently dropped a value or write; failing: the rule recently failed on a
 * value; waiting: a parameter that the rule reads is unknown; disabled: the rule was switched off by its flow file or by an operator.
 */
export type RuleState = 'running' | 'limited' | 'failing' | 'waiting' | 'disabled';

/**
 * The status of a rule. `faults` and `dropped` count from the time when the hub first loaded the rule. `reason` is one sentence, and is
 * empty while the rule is running.
 */
export interface RuleStatus {
  readonly name: string;
  readonly file: string;
  /**
   * The source location, such as `demo.json5:7:20`. For an instance, the location is in its template; in TypeScript, it is given as far as
   * known.
   */
  readonly place: string;
  /** The names of the folders that enclose the rule, outermost first. */
  readonly folder: readonly string[];
  readonly enabled: boolean;
  /** The addresses of the parameters to which the rule listens. */
  readonly from: readonly string[];
  readonly to: readonly string[];
  /** The condition of a rule in JSON5, if present. */
  readonly when?: string;
  /** The expression of a rule in JSON5 that computes its result, if present. */
  readonly map?: string;
  /** The steps of a rule in JSON5, as written, if present. */
  readonly pipe?: readonly unknown[];
  /** The names in `from`, each with its address, if the rule has named sources. */
  readonly names?: Readonly<Record<string, string>>;
  /** The expression for each destination, keyed by the destination's address. */
  readonly split?: Readonly<Record<string, string>>;
  readonly state: RuleState;
  readonly reason: string;
  readonly faults: number;
  readonly dropped: number;
  /** true if the rule runs in shadow, so that its writes are recorded but not made. */
  readonly shadow?: true;
}

/** How long the switch of a rule or connection lasts across saves, reloads and restarts. */
export interface SwitchTerm {
  /** When the switch ends, in milliseconds since 1970; null means that the switch is permanent. */
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
  /** When the switch was made, in milliseconds since 1970. */
  readonly since: number;
  /** Whether the switch lasts across saves, reloads and restarts. */
  readonly isLasting: boolean;
  /** When the switch ends, in milliseconds since 1970. Omitted if the switch is permanent or lasts until a restart. */
  readonly until?: number;
}

// The runs of a rule, for people: plain data, copied on request.

/**
 * wrote: a result was written to the destinations; stopped: `when` was false; held: a step passed on no value; waited: `error` names an
 * unknown parameter that the rule reads; failed: `error` is the reason.
 */
export type RuleOutcome = 'wrote' | 'stopped' | 'held' | 'waited' | 'failed';

/** One run of a rule. Strings are truncated to 200 characters. */
export interface RuleRun {
  /** The address at which a change started the run; undefined if a timer or the start of the hub started the run. */
  readonly source?: string | undefined;
  readonly value?: Value | undefined;
  /** The revision of the change that started the run. */
  readonly revision: number;
  /** When the run began, in milliseconds since 1970. */
  readonly time: number;
  readonly outcome: RuleOutcome;
  /** The result before its conversion to the types of the destinations. */
  readonly result?: Value | undefined;
  /** The addresses of the destinations that accepted the result. */
  readonly to: readonly string[];
  readonly error?: string | undefined;
  /**
   * The duration in microseconds; undefined if it was not measured. The hub measures durations for several minutes after the runs of the
   * rule were requested.
   */
  readonly durationUs?: number | undefined;
}

/** The most recent runs of a rule, newest first. */
export interface RuleRuns {
  readonly rule: string;
  readonly file: string;
  /** false for a rule that only copies: the hub keeps only its last run, and records further runs for several minutes after a request. */
  readonly isAlwaysRecorded: boolean;
  readonly runs: readonly RuleRun[];
}
