// Rules that were checked before, by what the file says of them. A rule that has not changed, in the same file and folder and over the
// same declarations, comes to the same plan; and while no rule reads or writes anything else, their order stays.

import { type FlowFile, keyOfFile } from '../../files/flow-file.ts';
import { type ConnectionPlan, type RulePlan, sourcesOf } from '../../plan.ts';
import type { CheckedRule, Folders } from './checked-rule.ts';
import { settleOrderOf } from './settle-order.ts';

interface KnownRule {
  readonly within: Folders;
  readonly rule: CheckedRule;
}

export class KnownRules {
  /** By the item of the file. What is in no list of a file any more is forgotten with it. */
  readonly #byItem = new WeakMap<object, KnownRule>();
  /** All rules of the last check, without and with their places in the order. */
  #checked: readonly CheckedRule[] = [];
  #plans: readonly RulePlan[] = [];
  #inputs = '';

  add(item: unknown, within: Folders, rule: CheckedRule): void {
    this.#byItem.set(item as object, { within, rule });
  }

  /** The rule that an item came to, unless it stands elsewhere now. */
  find(item: unknown, file: FlowFile, within: Folders): CheckedRule | undefined {
    const known = typeof item === 'object' && item !== null ? this.#byItem.get(item) : undefined;
    if (known === undefined || known.rule.fileKey !== keyOfFile(file)) return undefined;
    return isSameFolder(known.within, within) ? known.rule : undefined;
  }

  /** Gives all rules their places. */
  settle(rules: readonly CheckedRule[], connections: readonly ConnectionPlan[]): RulePlan[] {
    const inputs = JSON.stringify(connections.map(({ id, inputs: listened }) => [id, listened]));
    const isSameOrder =
      inputs === this.#inputs &&
      rules.length === this.#checked.length &&
      rules.every((rule, index) => hasSameOrder(rule, this.#checked[index]!));
    const order = isSameOrder ? undefined : settleOrderOf(rules, connections);
    const plans = rules.map((rule, index) => {
      const settleOrder = order === undefined ? this.#plans[index]!.settleOrder : order.get(index)!;
      const before = this.#plans[index];
      const isSame = rule === this.#checked[index] && before?.settleOrder === settleOrder;
      return isSame ? before : { ...rule, settleOrder };
    });
    this.#checked = rules;
    this.#plans = plans;
    this.#inputs = inputs;
    return plans;
  }
}

function isSameFolder(one: Folders, other: Folders): boolean {
  if (one === other) return true;
  const saysTheSame = one.isEnabled === other.isEnabled && one.isShadow === other.isShadow;
  return saysTheSame && isSameList(one.names, other.names);
}

/** Whether a rule reads and writes what another one does, so that it can take its place. */
function hasSameOrder(rule: CheckedRule, other: CheckedRule): boolean {
  if (rule === other) return true;
  const writesTheSame = rule.isEnabled === other.isEnabled && rule.isShadow === other.isShadow;
  return writesTheSame && isSameList(rule.to, other.to) && isSameList(sourcesOf(rule), sourcesOf(other));
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one === other || (one.length === other.length && one.every((item, index) => item === other[index]));
}
