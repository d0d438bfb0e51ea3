// What leads to parameters: the sources of the rules that write them, and of those that write these, through connections too.

import { type ConnectionPlan, type Plan, type RulePlan, sourcesOf } from '../flow/plan.ts';
import { formatAddress } from '../model/address.ts';

/** Who makes the values of a plan, by address. */
interface Makers {
  readonly rules: ReadonlyMap<string, readonly RulePlan[]>;
  /** The connections that compute a parameter from others. */
  readonly connections: ReadonlyMap<string, ConnectionPlan>;
}

/** Of each plan, for all of its tests. */
const knownMakers = new WeakMap<Plan, Makers>();

/** The addresses, and all that a change of them may come from. */
export function upstreamOf(plan: Plan, addresses: Iterable<string>): ReadonlySet<string> {
  const makers = knownMakers.get(plan) ?? makersOf(plan);
  knownMakers.set(plan, makers);
  const upstream = new Set(addresses);
  const seen = new Set<object>();
  const isNew = (one: object) => seen.size !== seen.add(one).size;
  for (const at of upstream) {
    for (const rule of makers.rules.get(at) ?? []) {
      for (const sources of [sourcesOf(rule), rule.sharedAddresses])
        if (isNew(sources)) for (const source of sources) upstream.add(source);
      for (const one of rule.addresses) if (!rule.to.includes(one)) upstream.add(one);
    }
    const connection = makers.connections.get(at);
    if (connection === undefined || !isNew(connection)) continue;
    for (const input of Object.values(connection.inputs)) upstream.add(input);
    for (const { id, access } of connection.parameters)
      if (access !== 'read-only') upstream.add(formatAddress(connection.id, id));
  }
  return upstream;
}

function makersOf({ rules, connections }: Plan): Makers {
  const writers = new Map<string, RulePlan[]>();
  for (const rule of rules)
    for (const address of rule.to) {
      const known = writers.get(address);
      if (known === undefined) writers.set(address, [rule]);
      else known.push(rule);
    }
  const computed = connections.flatMap((connection) =>
    connection.parameters
      .filter(({ access }) => access === 'read-only')
      .map(({ id }) => [formatAddress(connection.id, id), connection] as const),
  );
  return { rules: writers, connections: new Map(computed) };
}
