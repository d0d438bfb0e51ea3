// A rule that was checked, before the order of settling is known.

import type { RulePlan } from '../../plan.ts';

export type CheckedRule = Omit<RulePlan, 'settleOrder'>;

/** The folders that a rule is in, and what they and its file say of all of their rules. */
export interface Folders {
  readonly names: readonly string[];
  readonly isEnabled: boolean;
  readonly isShadow: boolean;
}
