// Rules from an earlier check, identified by their source text. An unchanged rule in the same file and folder, checked against the same
// declarations, has the same plan. If all rules read and write the same addresses, their order stays the same.

import { connectionIdOf } from '../../../model/address.ts';
import { sortByDependency } from '../../../model/dependency-order.ts';
import { type FlowFile, keyOfFile } from '../../files/flow-file.ts';
import { type ConnectionPlan, type RulePlan, sourcesOf } from '../../plan.ts';

/** A checked rule whose position in the settle order is not known yet. */
export type CheckedRule = Omit<RulePlan, 'settleOrder'>;

/** The folders that enclose a rule, and the `enabled` and `shadow` settings that apply to all rules in them. */
export interface Folders {
  readonly names: readonly string[];
  readonly isEnabled: boolean;
  readonly isShadow: boolean;
}

interface KnownRule {
  readonly within: Folders;
  readonly rule: CheckedRule;
}

export class KnownRules {
  /** The checked rule for each item in a flow file. An item that is no longer in any list is garbage collected. */
  readonly #byItem = new WeakMap<object, KnownRule>();
  /** The rules from the last check, in order, without their positions in the settle order. */
  #checked: readonly CheckedRule[] = [];
  #plans: readonly RulePlan[] = [];
  #inputs = '';

  add(item: unknown, within: Folders, rule: CheckedRule): void {
    this.#byItem.set(item as object, { within, rule });
  }

  /** Finds the checked rule for an item. Returns undefined if the item is unknown or has moved to another file or folder. */
  find(item: unknown, file: FlowFile, within: Folders): CheckedRule | undefined {
    const known = typeof item === 'object' && item !== null ? this.#byItem.get(item) : undefined;
    if (known === undefined || known.rule.fileKey !== keyOfFile(file)) return undefined;
    return isSameFolder(known.within, within) ? known.rule : undefined;
  }

  /** Returns the plans of all rules, each with its position in the settle order. An unchanged rule keeps its plan object. */
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

/** Returns whether a rule reads and writes the same addresses as another rule, so that the rule can take over the other rule's position. */
function hasSameOrder(rule: CheckedRule, other: CheckedRule): boolean {
  if (rule === other) return true;
  const writesTheSame = rule.isEnabled === other.isEnabled && rule.isShadow === other.isShadow;
  return writesTheSame && isSameList(rule.to, other.to) && isSameList(sourcesOf(rule), sourcesOf(other));
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one === other || (one.length === other.length && one.every((item, index) => item === other[index]));
}

// The order of the rules that wait until a turn has settled: each rule comes after the rules whose results it reads, directly or through a
// connection.

/** The number of addresses that are looked up before a rule is sorted. Usually no rule writes any of these addresses. */
const fewAddresses = 10;
const nothing: readonly never[] = [];

type SortedRule = Pick<RulePlan, 'to' | 'isEnabled' | 'isShadow' | 'body'>;

/**
 * Returns the positions in the settle order: those of the rules, keyed by index, and those of the connections with inputs, which are
 * between the rules, keyed by Connection ID.
 */
export function settleOrderOf(
  rules: readonly SortedRule[],
  connections: readonly ConnectionPlan[],
): ReadonlyMap<number | string, number> {
  const writers = writersOf(rules);
  const unsorted = new Map<string, Iterator<number>>();
  const nextWriterOf = (address: string) => {
    const known = unsorted.get(address) ?? writers.get(address)?.values();
    if (known !== undefined) unsorted.set(address, known);
    return known?.next();
  };
  const listening = new Map(connections.map(({ id, inputs }) => [id, Object.values(inputs)]));
  for (const [id, inputs] of listening) if (inputs.length === 0) listening.delete(id);
  /** Returns the ID of the connection to which an address belongs, if that connection has inputs. */
  const listenerOf = (address: string) => {
    const connection = listening.size === 0 ? '' : connectionIdOf(address);
    return listening.has(connection) ? connection : undefined;
  };
  /** How far each list of addresses has been processed. All rules in a TypeScript flow file share one list. */
  const readings = new Map<readonly string[], { at: number }>();
  const readingOf = (addresses: readonly string[]) => {
    const reading = readings.get(addresses) ?? { at: 0 };
    readings.set(addresses, reading);
    return reading;
  };
  /**
   * Yields the indexes of the rules and the IDs of the connections that must precede a rule or connection. All readers of an address share
   * its writers: a writer that was visited once is already sorted and is not needed again. Therefore, the cost grows with the number of
   * readers plus the number of writers, not with their product.
   */
  function* dependencies(node: number | string): Generator<number | string, void, void> {
    const addresses = typeof node === 'string' ? listening.get(node)! : sourcesOf(rules[node]!);
    const reading = readingOf(addresses);
    while (reading.at < addresses.length) {
      const address = addresses[reading.at]!;
      const next = nextWriterOf(address);
      if (next?.done === false) {
        yield next.value;
        continue;
      }
      reading.at++;
      const connection = listenerOf(address);
      if (connection !== undefined) yield connection;
    }
  }
  const isMet = (address: string) => !writers.has(address) && listenerOf(address) === undefined;
  const dependenciesOf = (node: number | string) => {
    const addresses = typeof node === 'string' ? nothing : sourcesOf(rules[node]!);
    const isShort = typeof node === 'number' && addresses.length <= fewAddresses;
    return isShort && addresses.every(isMet) ? nothing : dependencies(node);
  };
  const { order } = sortByDependency<number | string>(rules.keys(), dependenciesOf);
  return new Map(order.map((node, place) => [node, place]));
}

/** Returns the rules that write to each address, as indexes. Disabled rules and shadow rules are omitted, because they write nothing. */
function writersOf(rules: readonly SortedRule[]): ReadonlyMap<string, readonly number[]> {
  const writers = new Map<string, number[]>();
  rules.forEach(({ to, isEnabled, isShadow }, index) => {
    if (!isEnabled || isShadow) return;
    const alone = [index]; // shared by all addresses to which only this rule writes
    for (const address of to) {
      const known = writers.get(address);
      if (known === undefined) writers.set(address, alone);
      else if (known.length === 1) writers.set(address, [...known, index]);
      else known.push(index);
    }
  });
  return writers;
}
