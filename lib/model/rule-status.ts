// How a rule is doing, for operators: it runs, it is limited because it loops, or it fails on values.

/** limited: writes of it were dropped by the limits of a turn lately; failing: it failed on a value lately. */
export type RuleState = 'running' | 'limited' | 'failing';

/** `faults` and `dropped` count since the rule was first heard of; `reason` is one sentence, empty while it runs. */
export interface RuleStatus {
  readonly name: string;
  readonly file: string;
  readonly state: RuleState;
  readonly reason: string;
  readonly faults: number;
  readonly dropped: number;
}
