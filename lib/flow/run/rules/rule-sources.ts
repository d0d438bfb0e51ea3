// What a rule observes: changes of parameters, not the values that they have when it starts. Named sources are read all at
// once, when the writes of a turn have settled, so that no rule ever sees half of a turn.
// Rules that observe the same parameter run in the order in which they subscribed. When a reload puts a rule between others,
// the others subscribe again; no change is missed, and the rules keep all that they hold.

import { Subscription } from 'rxjs';
import type { Graph } from '../../../graph/graph.ts';
import type { ParameterNode } from '../../../graph/parameter-node.ts';
import type { SettlePlace, SettleTask } from '../../../graph/settle-queue.ts';
import { unknownName } from '../../../json5/mistake.ts';
import { HubError } from '../../../model/error.ts';
import type { Value } from '../../../model/value.ts';
import type { NamedValues, Sources } from '../../plan.ts';

interface SourceSubscription {
  readonly node: ParameterNode;
  readonly hearsWrites: boolean;
  readonly next: (value: Value) => void;
  subscription: Subscription;
}

interface NamedSource {
  readonly name: string;
  readonly node: ParameterNode;
  hasFired: boolean;
}

/** Named sources that are observed. */
export interface NamedSubscription extends Subscription {
  /** Has them call back once in this turn, as if one had changed; outside of a turn, in a turn of its own. */
  readonly callBack: () => void;
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

  any(addresses: readonly string[], next: (value: Value) => void, hearsWrites = false): Subscription {
    const subscription = new Subscription();
    for (const address of addresses) subscription.add(this.#subscribe(this.#graph.get(address), next, hearsWrites));
    return subscription;
  }

  named(
    named: Readonly<Record<string, string>>,
    next: (values: NamedValues, isComplete: boolean) => void,
    hearsWrites = false,
  ): NamedSubscription {
    const sources = Object.entries(named).map(
      ([name, address]): NamedSource => ({ name, node: this.#graph.get(address), hasFired: false }),
    );
    const subscription = new Subscription();
    const settle = () => {
      if (!subscription.closed) readAll(sources, next);
    };
    const task: SettleTask = { place: this.#settlePlace, settle };
    for (const source of sources) {
      const mark = () => {
        source.hasFired = true;
        this.#graph.atSettle(task);
      };
      subscription.add(this.#subscribe(source.node, mark, hearsWrites));
    }
    return Object.assign(subscription, { callBack: () => this.#graph.atSettle(task) });
  }

  peek(address: string): Value | undefined {
    const node = this.#graph.find(address);
    if (node?.type === 'T') throw new HubError('bad-flow', `"${address}" is a trigger: it has no value`);
    if (node !== undefined) return node.value;
    const known = Array.from(this.#graph.parameters(), (parameter) => parameter.address);
    throw new HubError('unknown-parameter', unknownName('parameter', address, known));
  }

  /** Has work run once in this turn after its writes have settled, in the place of the rule. */
  atSettle(settle: () => void): void {
    this.#graph.atSettle({ place: this.#settlePlace, settle });
  }

  /**
   * Places the rule behind all that have subscribed by now, and anew among those that wait until a turn has settled. To be
   * called between turns, when there is no change to miss.
   */
  moveLast(settleOrder: number): void {
    this.#settlePlace.order = settleOrder;
    for (const source of this.#subscriptions) {
      source.subscription.unsubscribe();
      source.subscription = this.#listen(source);
    }
  }

  #subscribe(node: ParameterNode, next: (value: Value) => void, hearsWrites: boolean): Subscription {
    const listener = { node, next, hearsWrites };
    const source: SourceSubscription = { ...listener, subscription: this.#listen(listener) };
    this.#subscriptions.add(source);
    return new Subscription(() => {
      source.subscription.unsubscribe();
      this.#subscriptions.delete(source);
    });
  }

  #listen({ node, next, hearsWrites }: Omit<SourceSubscription, 'subscription'>): Subscription {
    const subscription = subscribeToChanges(node, next);
    if (hearsWrites) subscription.add(this.#graph.repeats(node).subscribe({ next, error: () => {} }));
    return subscription;
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
