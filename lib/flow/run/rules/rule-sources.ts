// What a rule observes: changes of parameters, not the values that they have when it starts. Named sources are read all at
// once, when the writes of a turn have settled, so that no rule ever sees half of a turn.
// Rules that observe the same parameter run in the order in which they subscribed. When a reload puts a rule between others,
// the others subscribe again; no change is missed, and the rules keep all that they hold.

import { Subscription } from 'rxjs';
import type { Graph } from '../../../graph/graph.ts';
import type { ParameterNode } from '../../../graph/parameter-node.ts';
import type { SettlePlace, SettleTask } from '../../../graph/settle-queue.ts';
import type { Value } from '../../../model/value.ts';
import type { NamedValues, Sources } from '../../plan.ts';

interface SourceSubscription {
  readonly node: ParameterNode;
  readonly next: (value: Value) => void;
  subscription: Subscription;
}

interface NamedSource {
  readonly name: string;
  readonly node: ParameterNode;
  hasFired: boolean;
}

/** The sources of one rule. */
export class RuleSources implements Sources {
  readonly #graph: Graph;
  readonly #subscriptions = new Set<SourceSubscription>();
  readonly #settlePlace: SettlePlace;

  /** `settleOrder` is the place of the rule among those that wait until a turn has settled. */
  constructor(graph: Graph, settleOrder: number) {
    this.#graph = graph;
    this.#settlePlace = { order: settleOrder };
  }

  any(addresses: readonly string[], next: (value: Value) => void): Subscription {
    const subscription = new Subscription();
    for (const address of addresses) subscription.add(this.#subscribe(this.#graph.get(address), next));
    return subscription;
  }

  named(
    named: Readonly<Record<string, string>>,
    next: (values: NamedValues, isComplete: boolean) => void,
  ): Subscription {
    const sources = Object.entries(named).map(
      ([name, address]): NamedSource => ({ name, node: this.#graph.get(address), hasFired: false }),
    );
    const subscription = new Subscription();
    const settle = () => {
      if (!subscription.closed) readAll(sources, next);
    };
    const task: SettleTask = { place: this.#settlePlace, settle };
    for (const source of sources)
      subscription.add(
        this.#subscribe(source.node, () => {
          source.hasFired = true;
          this.#graph.atSettle(task);
        }),
      );
    return subscription;
  }

  /**
   * Places the rule behind all that have subscribed by now, and anew among those that wait until a turn has settled. To be
   * called between turns, when there is no change to miss.
   */
  moveLast(settleOrder: number): void {
    this.#settlePlace.order = settleOrder;
    for (const source of this.#subscriptions) {
      source.subscription.unsubscribe();
      source.subscription = subscribeToChanges(source.node, source.next);
    }
  }

  #subscribe(node: ParameterNode, next: (value: Value) => void): Subscription {
    const source: SourceSubscription = { node, next, subscription: subscribeToChanges(node, next) };
    this.#subscriptions.add(source);
    return new Subscription(() => {
      source.subscription.unsubscribe();
      this.#subscriptions.delete(source);
    });
  }
}

/** Calls back with the value of each source; a trigger is whether it has fired since the last call. */
function readAll(sources: readonly NamedSource[], next: (values: NamedValues, isComplete: boolean) => void): void {
  const values: NamedValues = Object.create(null);
  let isComplete = true;
  for (const source of sources) {
    const value = source.node.type === 'T' ? source.hasFired : source.node.value;
    source.hasFired = false;
    if (value === undefined) isComplete = false;
    else values[source.name] = value;
  }
  next(values, isComplete);
}

/** Subscribes to the changes of a parameter, without the value that it has already. */
function subscribeToChanges(node: ParameterNode, next: (value: Value) => void): Subscription {
  let isLive = false;
  const subscription = node.subscribe({
    next: (value) => {
      if (isLive && value !== undefined) next(value);
    },
    error: () => {}, // parameters never fail
  });
  isLive = true;
  return subscription;
}
