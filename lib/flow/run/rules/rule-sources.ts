// What a rule observes: changes of parameters, not the values that they have when it starts. Named sources are read all at
// once, when the writes of a turn have settled, so that no rule ever sees half of a turn.
// Rules that observe the same parameter run in the order in which they subscribed. When a reload puts a rule between others,
// the others subscribe again; no change is missed, and the rules keep all that they hold.

import { type Observable, Subscription } from 'rxjs';
import type { Graph } from '../../../graph/graph.ts';
import { addListener, type Listener, removeListener } from '../../../graph/observers.ts';
import type { ParameterNode } from '../../../graph/parameter-node.ts';
import { type SettlePlace, SettleTask } from '../../../graph/settle-queue.ts';
import { unknownName } from '../../../json5/mistake.ts';
import { HubError } from '../../../model/error.ts';
import type { Value } from '../../../model/value.ts';
import type { Hearer, NamedValues, Sources } from '../../plan.ts';

/** Named sources that are observed. */
export interface NamedSubscription extends Subscription {
  /** Has them call back once in this turn, as if one had changed; outside of a turn, in a turn of its own. */
  readonly callBack: () => void;
}

/** Values by name; undefined: unknown. */
export type Scope = Record<string, Value | undefined>;

/** The sources of one rule. */
export class RuleSources implements Sources {
  readonly #graph: Graph;
  #heard: HeardSource[] = [];
  readonly #settlePlace: SettlePlace;

  /** `settleOrder` is the place of the rule among those that wait until a turn has settled. */
  constructor(graph: Graph, settleOrder: number) {
    this.#graph = graph;
    this.#settlePlace = { order: settleOrder };
  }

  any(addresses: readonly string[], hearer: Hearer, hearsWrites = false): Subscription {
    const subscription = new Subscription();
    for (const address of addresses) subscription.add(this.#hear(this.#graph.get(address), hearer, hearsWrites));
    return subscription;
  }

  named(
    named: Readonly<Record<string, string>>,
    next: (values: NamedValues, isComplete: boolean) => void,
    hearsWrites = false,
  ): NamedSubscription {
    const settle = (sources: readonly NamedSource[]) => {
      const values: NamedValues = Object.create(null);
      next(values, readAll(sources, values));
    };
    return this.#named(named, settle, hearsWrites);
  }

  /** As `named`, for one who needs the values no longer than the call: it finds them in `scope`, the unknown ones as undefined. */
  namedIn(
    scope: Scope,
    named: Readonly<Record<string, string>>,
    next: (isComplete: boolean) => void,
    hearsWrites: boolean,
  ): NamedSubscription {
    return this.#named(named, (sources) => next(readAll(sources, scope)), hearsWrites);
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
    this.#graph.atSettle(new SettleTask(this.#settlePlace, settle));
  }

  /**
   * Places the rule behind all that have subscribed by now, and anew among those that wait until a turn has settled. To be
   * called between turns, when there is no change to miss.
   */
  moveLast(settleOrder: number): void {
    this.#settlePlace.order = settleOrder;
    for (const source of this.#heard) source.moveLast();
  }

  #named(
    named: Readonly<Record<string, string>>,
    whenSettled: (sources: readonly NamedSource[]) => void,
    hearsWrites: boolean,
  ): NamedSubscription {
    const subscription = new Subscription();
    const settle = () => {
      if (!subscription.closed) whenSettled(sources);
    };
    const task = new SettleTask(this.#settlePlace, settle);
    const graph = this.#graph;
    const sources = Object.entries(named).map(
      ([name, address]) => new NamedSource(name, graph.get(address), graph, task),
    );
    for (const source of sources) subscription.add(this.#hear(source.node, source, hearsWrites));
    return Object.assign(subscription, { callBack: () => graph.atSettle(task) });
  }

  #hear(node: ParameterNode, hearer: Hearer, hearsWrites: boolean): { unsubscribe(): void } {
    const repeats$ = hearsWrites ? this.#graph.repeats(node) : undefined;
    const source = new HeardSource(node, hearer, repeats$);
    this.#heard.push(source);
    return {
      unsubscribe: () => {
        source.end();
        this.#heard = this.#heard.filter((one) => one !== source);
      },
    };
  }
}

/** A source that a rule hears, from its present place among all that hear it. */
class HeardSource {
  readonly #node: ParameterNode;
  readonly #hearer: Hearer;
  readonly #repeats$: Observable<Value> | undefined;
  #listener!: ChangeListener;
  #repeats: Subscription | undefined;

  constructor(node: ParameterNode, hearer: Hearer, repeats$: Observable<Value> | undefined) {
    this.#node = node;
    this.#hearer = hearer;
    this.#repeats$ = repeats$;
    this.#begin();
  }

  moveLast(): void {
    this.end();
    this.#begin();
  }

  end(): void {
    this.#listener.closed = true;
    removeListener(this.#node, this.#listener);
    this.#repeats?.unsubscribe();
  }

  #begin(): void {
    this.#listener = new ChangeListener(this.#hearer);
    addListener(this.#node, this.#listener);
    this.#repeats = this.#repeats$?.subscribe({ next: (value) => this.#hearer.next(value), error: () => {} });
  }
}

/** Passes the changes of a parameter on. */
class ChangeListener implements Listener {
  closed = false;
  readonly #hearer: Hearer;

  constructor(hearer: Hearer) {
    this.#hearer = hearer;
  }

  next(value: Value | undefined): void {
    if (value !== undefined && !this.closed) this.#hearer.next(value);
  }
}

/** One of several named sources, a change of which has all of them read once the turn has settled. */
class NamedSource implements Hearer {
  readonly name: string;
  readonly node: ParameterNode;
  hasFired = false;
  readonly #graph: Graph;
  readonly #task: SettleTask;

  constructor(name: string, node: ParameterNode, graph: Graph, task: SettleTask) {
    this.name = name;
    this.node = node;
    this.#graph = graph;
    this.#task = task;
  }

  next(): void {
    this.hasFired = true;
    this.#graph.atSettle(this.#task);
  }
}

/** Reads the value of each source, of a trigger whether it has fired since the last call, and whether all are known. */
function readAll(sources: readonly NamedSource[], scope: Scope): boolean {
  let isComplete = true;
  for (const source of sources) {
    const value = source.node.type === 'T' ? source.hasFired : source.node.value;
    source.hasFired = false;
    if (value === undefined) isComplete = false;
    scope[source.name] = value;
  }
  return isComplete;
}
