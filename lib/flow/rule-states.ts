// Keeps how rules are doing. A rule that loops or fails is shown as such for some seconds after the last time; it is never
// switched off for that, and its parameters keep the last values that were delivered.

import type { RuleState, RuleStatus } from '../model/rule-status.ts';

/** How long a rule is shown as limited or failing after the last time that it was. */
const shownMs = 5000;

interface RuleName {
  readonly name: string;
  readonly file?: string | undefined;
}

interface Record {
  state: RuleState;
  reason: string;
  until: number;
  faults: number;
  dropped: number;
}

export interface RuleStates {
  /** The rule failed on a value. */
  failed(rule: RuleName, reason: string): void;
  /** Writes of the rule were dropped by the limits of a turn. */
  limited(rule: RuleName, reason: string): void;
  /** The present state of a rule that runs. */
  stateOf(rule: RuleName): Pick<RuleStatus, 'state' | 'reason' | 'faults' | 'dropped'>;
}

/** Creates the record of all rules; it is bounded by their number. `now` is monotonic milliseconds. */
export function createRuleStates(now: () => number): RuleStates {
  const records = new Map<string, Record>();
  const keyOf = ({ name, file = '' }: RuleName) => `${file}\n${name}`;
  const enter = (rule: RuleName, state: RuleState, reason: string) => {
    const record = records.get(keyOf(rule)) ?? { state, reason, until: 0, faults: 0, dropped: 0 };
    records.set(keyOf(rule), record);
    record.state = state;
    record.reason = reason;
    record.until = now() + shownMs;
    return record;
  };
  return {
    failed(rule, reason) {
      enter(rule, 'failing', reason).faults++;
    },
    limited(rule, reason) {
      enter(rule, 'limited', reason).dropped++;
    },
    stateOf(rule) {
      const record = records.get(keyOf(rule));
      const isShown = record !== undefined && now() < record.until;
      return {
        state: isShown ? record.state : 'running',
        reason: isShown ? record.reason : '',
        faults: record?.faults ?? 0,
        dropped: record?.dropped ?? 0,
      };
    },
  };
}
