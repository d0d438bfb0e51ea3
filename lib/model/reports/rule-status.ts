// How a rule is doing, for operators.

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
