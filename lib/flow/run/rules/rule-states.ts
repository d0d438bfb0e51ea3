// Knows how rules are doing. A rule that fails or loops is shown as failing or limited for some seconds after the last time,
// and a rule that loops until a write has got through to where one was dropped. No rule is switched off for that.

import type { RuleState, RuleStatus } from '../../../model/rule-status.ts';

/** How long a rule is shown as limited or failing after the last time that it was. */
const shownMs = 5000;

interface RuleName {
  readonly name: string;
  readonly file?: string | undefined;
}

/** Why a rule is not well. */
interface Trouble {
  readonly reason: string;
  readonly until: number;
  /** Whether it still goes on after that time. */
  readonly lasts: () => boolean;
}

interface Record {
  faults: number;
  dropped: number;
  failing: Trouble | undefined;
  limited: Trouble | undefined;
  waiting: Trouble | undefined;
}

export interface RuleStates {
  /** The rule failed on a value. */
  failed(rule: RuleName, reason: string): void;
  /** A limit has dropped a value or a write of the rule; `isStuck` tells whether none has got through since. */
  limited(rule: RuleName, reason: string, isStuck: () => boolean): void;
  /** The rule does nothing as long as something is unknown. */
  waiting(rule: RuleName, reason: string, isUnknown: () => boolean): void;
  /** The rule starts, perhaps with another body: what was wrong before is over. */
  started(rule: RuleName): void;
  /** The present state of a rule that runs. */
  stateOf(rule: RuleName): Pick<RuleStatus, 'state' | 'reason' | 'faults' | 'dropped'>;
}

/** Creates the states of all rules, one record for each name. `now` is monotonic milliseconds. */
export function createRuleStates(now: () => number): RuleStates {
  const records = new Map<string, Record>();
  const keyOf = ({ name, file = '' }: RuleName) => `${file}\n${name}`;
  const recordOf = (rule: RuleName): Record => {
    const key = keyOf(rule);
    const record = records.get(key) ?? {
      faults: 0,
      dropped: 0,
      failing: undefined,
      limited: undefined,
      waiting: undefined,
    };
    records.set(key, record);
    return record;
  };
  const isPresent = (trouble: Trouble | undefined) =>
    trouble !== undefined && (now() < trouble.until || trouble.lasts());
  return {
    failed(rule, reason) {
      const record = recordOf(rule);
      record.faults++;
      record.failing = { reason, until: now() + shownMs, lasts: () => false };
    },
    limited(rule, reason, isStuck) {
      const record = recordOf(rule);
      record.dropped++;
      record.limited = { reason, until: now() + shownMs, lasts: isStuck };
    },
    waiting(rule, reason, isUnknown) {
      recordOf(rule).waiting = { reason, until: 0, lasts: isUnknown };
    },
    started(rule) {
      const record = records.get(keyOf(rule));
      if (record) record.failing = record.limited = record.waiting = undefined;
    },
    stateOf(rule) {
      const { faults = 0, dropped = 0, failing, limited, waiting } = records.get(keyOf(rule)) ?? {};
      const told: [RuleState, Trouble | undefined][] = [
        ['failing', failing],
        ['limited', limited],
        ['waiting', waiting],
      ];
      const [state, trouble] = told.find(([, one]) => isPresent(one)) ?? ['running' as const];
      return { state, reason: trouble?.reason ?? '', faults, dropped };
    },
  };
}
