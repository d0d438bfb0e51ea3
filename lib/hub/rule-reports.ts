// What rules have to report goes to their states, which the console shows, and to the log.

import type { Log } from '../connections/connection.ts';
import type { RulePlan } from '../flow/plan.ts';
import type { RuleRuntime } from '../flow/run/rules/rule-context.ts';
import type { RuleStates } from '../flow/run/rules/rule-states.ts';

export function createRuleReports(
  log: Log,
  states: RuleStates,
): Pick<RuleRuntime, 'reportFault' | 'reportLimit' | 'reportWaiting'> {
  const named = ({ name, file }: RulePlan) => ({ data: { rule: name, file }, rule: `rule "${name}" (${file})` });
  return {
    reportFault(plan, message) {
      const { data, rule } = named(plan);
      states.failed(plan, message);
      log.warn(data, `${rule} failed: ${message}`, `rule ${plan.file} ${plan.name}`);
    },
    reportLimit(plan, message) {
      const { data, rule } = named(plan);
      states.limited(plan, message, () => false);
      log.warn(data, `${rule} is limited: ${message}`);
    },
    reportWaiting(plan, message, isUnknown) {
      const { data, rule } = named(plan);
      states.waiting(plan, message, isUnknown);
      log.info(data, `${rule} ${message}`);
    },
  };
}
