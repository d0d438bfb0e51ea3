// The order of the rules that wait until a turn has settled.

import { isList, type NetworkRule } from './rule.ts';

/** The place of each rule: behind those that write what it reads, but for those that it leads to itself; else top to bottom. */
export function ordersOf(rules: readonly NetworkRule[]): number[] {
  const orders: number[] = [];
  const met = new Set<number>();
  let next = 0;
  const place = (index: number) => {
    if (met.has(index)) return;
    met.add(index);
    const { from } = rules[index]!;
    for (const id of isList(from) ? from : Object.values(from))
      for (const [writer, { to }] of rules.entries()) if (to.includes(id)) place(writer);
    orders[index] = next++;
  };
  for (const index of rules.keys()) place(index);
  return orders;
}
