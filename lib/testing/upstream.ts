// What leads to a parameter: the sources of the rules that write it, and of those that write these, through connections too.

import { type Plan, type RulePlan, sourcesOf } from '../flow/plan.ts';
import { formatAddress, parseAddress } from '../model/address.ts';

/** The address, and all that a change of it may come from. */
export function upstreamOf({ rules, connections }: Plan, address: string): ReadonlySet<string> {
  const upstream = new Set([address]);
  const writers = writersByAddress(rules);
  const seen = new Set<readonly string[]>();
  for (const at of upstream) {
    for (const rule of writers.get(at) ?? []) {
      for (const sources of [sourcesOf(rule), rule.sharedAddresses]) {
        if (!seen.has(sources)) for (const source of sources) upstream.add(source);
        seen.add(sources);
      }
      for (const one of rule.addresses) if (!rule.to.includes(one)) upstream.add(one);
    }
    const { connectionId, parameterId } = parseAddress(at);
    const connection = connections.find(({ id }) => id === connectionId);
    const isComputed = connection?.parameters.find(({ id }) => id === parameterId)?.access === 'read-only';
    if (connection === undefined || !isComputed) continue;
    for (const input of Object.values(connection.inputs)) upstream.add(input);
    for (const { id, access } of connection.parameters)
      if (access !== 'read-only') upstream.add(formatAddress(connectionId, id));
  }
  return upstream;
}

function writersByAddress(rules: readonly RulePlan[]): ReadonlyMap<string, readonly RulePlan[]> {
  const writers = new Map<string, RulePlan[]>();
  for (const rule of rules)
    for (const address of rule.to) {
      const known = writers.get(address);
      if (known === undefined) writers.set(address, [rule]);
      else known.push(rule);
    }
  return writers;
}
