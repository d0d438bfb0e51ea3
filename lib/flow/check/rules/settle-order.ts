// The order in which rules run that wait until a turn has settled: each behind those whose results it reads, also where a
// connection stands between them.

import { sortByDependency } from '../../../model/dependency-order.ts';
import { type ConnectionPlan, type RulePlan, sourcesOf } from '../../plan.ts';

/** The place of each rule, by its index. Rules that are off write nothing that another one would wait for. */
export function settleOrderOf(
  rules: readonly Pick<RulePlan, 'to' | 'isEnabled' | 'body'>[],
  connections: readonly ConnectionPlan[],
): ReadonlyMap<number | string, number> {
  const writers = new Map<string, number[]>();
  rules.forEach(({ to, isEnabled }, index) => {
    if (!isEnabled) return;
    for (const address of to) {
      const known = writers.get(address);
      if (known === undefined) writers.set(address, [index]);
      else known.push(index);
    }
  });
  const inputsOf = new Map(connections.map(({ id, inputs }) => [id, Object.values(inputs)]));
  /** What a rule, by its index, or a connection, by its ID, comes after. */
  const dependencies = (node: number | string): (number | string)[] => {
    const addresses = typeof node === 'string' ? inputsOf.get(node)! : sourcesOf(rules[node]!);
    return addresses.flatMap((address) => {
      const connection = address.slice(0, address.indexOf('/'));
      const rulesBefore = writers.get(address) ?? [];
      return (inputsOf.get(connection)?.length ?? 0) > 0 ? [...rulesBefore, connection] : rulesBefore;
    });
  };
  const { order } = sortByDependency<number | string>(rules.keys(), dependencies);
  return new Map(order.map((node, place) => [node, place]));
}
