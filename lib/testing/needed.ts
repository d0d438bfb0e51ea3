// What a test needs of a large installation: the rules that may lead to what it expects, and the parameters that these and the
// test name. To start thousands of others for each of thousands of tests would take minutes.

import type { ConnectionPlan, Plan } from '../flow/plan.ts';
import type { TestPlan } from '../flow/test-plan.ts';
import { formatAddress } from '../model/address.ts';
import { upstreamOf } from './upstream.ts';

/** The plan with what the test needs; the same plan where it needs all, or where rules in TypeScript may know of one another. */
export function neededFor(plan: Plan, { given, steps }: TestPlan): Plan {
  if (plan.rules.some(({ body }) => 'stream' in body)) return plan;
  const expected = steps.flatMap(({ expect, never }) => [...expect, ...never]).map(({ address }) => address);
  const upstream = upstreamOf(plan, expected);
  const rules = plan.rules.filter(({ to }) => to.some((address) => upstream.has(address)));
  if (rules.length === plan.rules.length) return plan;
  const named = new Set(upstream);
  for (const { address } of [...given, ...steps.flatMap(({ set }) => set)]) named.add(address);
  for (const { addresses } of rules) for (const address of addresses) named.add(address);
  for (const { inputs } of plan.connections) for (const address of Object.values(inputs)) named.add(address);
  return { ...plan, rules, connections: plan.connections.map((connection) => trimmed(connection, named)) };
}

/** A connection that computes nothing, without the parameters that nobody names. */
function trimmed(connection: ConnectionPlan, named: ReadonlySet<string>): ConnectionPlan {
  const { id, inputs, parameters } = connection;
  const computes = Object.keys(inputs).length > 0 || parameters.some(({ access }) => access === 'read-only');
  if (computes) return connection;
  return { ...connection, parameters: parameters.filter((one) => named.has(formatAddress(id, one.id))) };
}
