// What leads to a parameter: the sources of the rules that write it, and of those that write these, through connections too.

import { type Plan, sourcesOf } from '../flow/plan.ts';
import { formatAddress, parseAddress } from '../model/address.ts';

/** The address, and all that a change of it may come from. */
export function upstreamOf({ rules, connections }: Plan, address: string): ReadonlySet<string> {
  const upstream = new Set([address]);
  for (const at of upstream) {
    for (const rule of rules) {
      if (!rule.to.includes(at)) continue;
      for (const source of [...sourcesOf(rule), ...rule.addresses.filter((one) => !rule.to.includes(one))])
        upstream.add(source);
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
