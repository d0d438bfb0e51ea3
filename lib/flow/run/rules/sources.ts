// What a rule hears: changes of parameters, not the values that they have when it starts. Named sources are read all at
// once, when the writes of a turn have settled, so that no rule ever sees half of a turn.

import { Subscription } from 'rxjs';
import type { Graph } from '../../../graph/graph.ts';
import type { ParameterNode } from '../../../graph/parameter-node.ts';
import type { Value } from '../../../model/value.ts';
import type { Ears } from './rule-subscriptions.ts';

/** The values of named sources; a name whose value is unknown is missing, a trigger is whether it fired in the turn. */
export type NamedValues = Record<string, Value>;

/** Hears each change of any of the addresses, as it is delivered. */
export function listenToAny(ears: Ears, addresses: readonly string[], hear: (value: Value) => void): Subscription {
  const subscription = new Subscription();
  for (const address of addresses) subscription.add(ears.listen(nodeOf(ears.graph, address), hear));
  return subscription;
}

/** Hears one consistent set of values per turn in which any of them changed. */
export function listenToNamed(
  ears: Ears,
  named: Readonly<Record<string, string>>,
  hear: (values: NamedValues, isComplete: boolean) => void,
): Subscription {
  const { graph } = ears;
  const sources = Object.entries(named).map(([name, address]) => ({
    name,
    node: nodeOf(graph, address),
    hasFired: false,
  }));
  const task = {
    get order() {
      return ears.settleOrder;
    },
    settle() {
      if (subscription.closed) return;
      const values: NamedValues = Object.create(null);
      let isComplete = true;
      for (const source of sources) {
        const value = source.node.type === 'T' ? source.hasFired : source.node.value;
        source.hasFired = false;
        if (value === undefined) isComplete = false;
        else values[source.name] = value;
      }
      hear(values, isComplete);
    },
  };
  const subscription = new Subscription();
  for (const source of sources)
    subscription.add(
      ears.listen(source.node, () => {
        source.hasFired = true;
        graph.atSettle(task);
      }),
    );
  return subscription;
}

export function nodeOf(graph: Graph, address: string): ParameterNode {
  const node = graph.find(address);
  if (node === undefined) throw new Error(`${address} was checked at load but is not in the graph`);
  return node;
}
