// How a rule is doing, for operators: it runs, it is limited because it loops or holds too much, it fails on values, it waits for
// one that is unknown, or it is switched off.

/**
 * limited: a value or write of it was dropped by a limit, and none has got through since, or lately; failing: it failed on a
 * value lately; waiting: something that it reads is unknown; disabled: it does not run, by its flow file or by hand.
 */
export type RuleState = 'running' | 'limited' | 'failing' | 'waiting' | 'disabled';

/** `faults` and `dropped` count since the rule was first heard of; `reason` is one sentence, empty while it runs. */
export interface RuleStatus {
  readonly name: string;
  readonly file: string;
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
}
