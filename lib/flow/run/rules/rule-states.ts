// Knows how rules are doing. A rule that fails or loops is shown as failing or limited for some seconds after the last time,
// and a rule that loops until a write has got through to where one was dropped. No rule is switched off for that.

import type { RuleState, RuleStatus } from '../../../model/reports/rule-status.ts';

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

/** What is known of the rules of one name in one file. */
interface RuleRecord {
  faults: number;
  dropped: number;
  failing: Trouble | undefined;
  limited: Trouble | undefined;
  waiting: Trouble | undefined;
}

/** The states of all rules, one record for each name. */
export class RuleStates {
  readonly #now: () => number;
  readonly #records = new Map<string, RuleRecord>();
  /** How often any of them failed, and how often a limit dropped something of them. */
  readonly totals = { faults: 0, dropped: 0 };

  /** `now` tells monotonic milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** The rule failed on a value. */
  failed(rule: RuleName, reason: string): void {
    const record = this.#recordOf(rule);
    record.faults++;
    this.totals.faults++;
    record.failing = { reason, until: this.#now() + shownMs, lasts: () => false };
  }

  /** A limit has dropped a value or a write of the rule; `isStuck` tells whether none has got through since. */
  limited(rule: RuleName, reason: string, isStuck: () => boolean): void {
    const record = this.#recordOf(rule);
    record.dropped++;
    this.totals.dropped++;
    record.limited = { reason, until: this.#now() + shownMs, lasts: isStuck };
  }

  /** The rule does nothing as long as something is unknown. */
  waiting(rule: RuleName, reason: string, isUnknown: () => boolean): void {
    this.#recordOf(rule).waiting = { reason, until: 0, lasts: isUnknown };
  }

  /** The rule starts, perhaps with another body: what was wrong before is over. */
  started(rule: RuleName): void {
    const record = this.#records.size === 0 ? undefined : this.#records.get(keyOf(rule)); // when all start there is none
    if (record) record.failing = record.limited = record.waiting = undefined;
  }

  /** The present state of a rule that runs. */
  stateOf(rule: RuleName): Pick<RuleStatus, 'state' | 'reason' | 'faults' | 'dropped'> {
    const { faults = 0, dropped = 0, failing, limited, waiting } = this.#records.get(keyOf(rule)) ?? {};
    const troubles: [RuleState, Trouble | undefined][] = [
      ['failing', failing],
      ['limited', limited],
      ['waiting', waiting],
    ];
    const [state, trouble] = troubles.find(([, one]) => this.#isPresent(one)) ?? ['running' as const];
    return { state, reason: trouble?.reason ?? '', faults, dropped };
  }

  #isPresent(trouble: Trouble | undefined): boolean {
    return trouble !== undefined && (this.#now() < trouble.until || trouble.lasts());
  }

  #recordOf(rule: RuleName): RuleRecord {
    const key = keyOf(rule);
    const known = this.#records.get(key);
    if (known !== undefined) return known;
    const record: RuleRecord = { faults: 0, dropped: 0, failing: undefined, limited: undefined, waiting: undefined };
    this.#records.set(key, record);
    return record;
  }
}

function keyOf({ name, file = '' }: RuleName): string {
  return `${file}\n${name}`;
}
