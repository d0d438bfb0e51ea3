// Runs one rule: on each change of its source, `when`, then `map`, then a write to each destination.

import type { Subscription } from 'rxjs';
import type { Graph } from '../graph/graph.ts';
import type { ParameterNode } from '../graph/parameter-node.ts';
import { messageOf } from '../model/error.ts';
import type { Origin } from '../model/parameter.ts';
import type { Value } from '../model/value.ts';
import type { RulePlan } from './check.ts';

/** Tells that a rule failed on one value; the rule goes on with the next. */
export type ReportFault = (rule: RulePlan, message: string) => void;

/** Starts a rule; it hears changes only, not the value that its source has already. Unsubscribing stops it. */
export function runRule(plan: RulePlan, graph: Graph, reportFault: ReportFault): Subscription {
  const origin: Origin = { kind: 'rule', name: plan.name };
  const destinations = plan.to.map((address) => nodeOf(graph, address));
  const { when, map } = plan;
  const scope: { value: Value } = { value: 0 };
  const fail = (error: unknown) => reportFault(plan, messageOf(error).split('\n', 1)[0]!);
  const run = (value: Value) => {
    scope.value = value;
    if (when !== undefined && !when(scope)) return;
    const result = map === undefined ? value : map(scope);
    for (const destination of destinations) {
      try {
        graph.writeTo(destination, result, origin);
      } catch (error) {
        fail(error);
      }
    }
  };
  let isLive = false;
  const subscription = nodeOf(graph, plan.from).subscribe({
    next: (value) => {
      if (!isLive || value === undefined) return;
      try {
        run(value);
      } catch (error) {
        fail(error);
      }
    },
    error: fail,
  });
  isLive = true;
  return subscription;
}

function nodeOf(graph: Graph, address: string): ParameterNode {
  const node = graph.find(address);
  if (node === undefined) throw new Error(`${address} was checked at load but is not in the graph`);
  return node;
}
