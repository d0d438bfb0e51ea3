// What a rule observes: changes of parameters, not the values that they have when it starts.
// Rules that observe the same parameter run in the order in which they subscribed. When a reload puts a rule between others,
// the others subscribe again; no change is missed, and the rules keep all that they hold.
import { type Observable, Subscription, type Unsubscribable } from 'rxjs';
import type { Listener } from '../../../graph/emitter.ts';
import type { Graph } from '../../../graph/graph.ts';
import type { ParameterNode } from '../../../graph/parameter-node.ts';
import { SettleCall, type SettlePlace, type SettleTask } from '../../../graph/settle-queue.ts';
import { unknownName } from '../../../json5/nearest-name.ts';
import { HubError } from '../../../model/error.ts';
import type { Value } from '../../../model/value.ts';
import type { NamedValues, RuleListener, Sources } from '../../plan.ts';

/** The sources of one rule. */
export class RuleSources implements Sources {
  readonly #graph: Graph;
  #heard: readonly ListenedSource[] = [];
  #place: SettlePlace;

  /** `settleOrder` is the place of the rule among those that wait until a turn has settled. */
  constructor(graph: Graph, settleOrder: number) {
    this.#graph = graph;
    this.#place = { order: settleOrder };
  }

  any(
    addresses: readonly string[],
    listener: RuleListener,
    listensToWrites = false,
    subscription = new Subscription(),
  ): Subscription {
    for (const address of addresses)
      subscription.add(this.#listen(this.#graph.get(address), listener, listensToWrites));
    return subscription;
  }

  named(
    named: Readonly<Record<string, string>>,
    next: (values: NamedValues, isComplete: boolean) => void,
    listensToWrites = false,
  ): Subscription {
    const names = Object.keys(named);
    const nodes = names.map((name) => this.#graph.get(named[name]!));
    const fired = createFired(nodes);
    const task = new SettleCall(this.#place, () => {
      if (subscription.closed) return;
      const values: NamedValues = Object.create(null);
      next(values, readNamed(names, nodes, fired, values));
    });
    const subscription = new Subscription();
    this.each(nodes, fired, { next: () => this.#graph.atSettle(task) }, listensToWrites, subscription);
    return subscription;
  }

  /** Tells each change of any of the sources; a trigger notes that it has fired. */
  each(
    nodes: readonly ParameterNode[],
    fired: Fired,
    listener: RuleListener,
    listensToWrites: boolean,
    subscription: Subscription,
  ): void {
    for (const [place, node] of nodes.entries()) {
      const isTrigger = fired !== undefined && node.type === 'T';
      const source = isTrigger ? new FiringSource(fired, place, listener) : listener;
      subscription.add(this.#listen(node, source, listensToWrites));
    }
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
    this.#graph.atSettle(new SettleCall(this.#place, settle));
  }

  /** Has a task be at the place of the rule, which it knows itself from now on. */
  place(task: SettleTask & SettlePlace): void {
    task.order = this.#place.order;
    this.#place = task;
  }

  /**
   * Places the rule behind all that have subscribed by now, and anew among those that wait until a turn has settled. To be
   * called between turns, when there is no change to miss.
   */
  moveLast(settleOrder: number): void {
    this.#place.order = settleOrder;
    for (const source of this.#heard) source.moveLast();
  }

  #listen(node: ParameterNode, listener: RuleListener, listensToWrites: boolean): Unsubscribable {
    const repeats$ = listensToWrites ? this.#graph.repeats(node) : undefined;
    const source = new ListenedSource(node, listener, repeats$, this);
    this.#heard = this.#heard.concat(source); // a list that grows by itself has room for sixteen more
    return source;
  }

  /** The rule no longer hears a source. */
  forget(source: ListenedSource): void {
    this.#heard = this.#heard.filter((one) => one !== source);
  }
}

/** A source that a rule hears, from its present place among all that hear it. */
class ListenedSource implements Unsubscribable {
  readonly #node: ParameterNode;
  readonly #ruleListener: RuleListener;
  readonly #repeats$: Observable<Value> | undefined;
  readonly #sources: RuleSources;
  #listener!: ChangeListener;
  #repeats: Subscription | undefined;

  constructor(
    node: ParameterNode,
    listener: RuleListener,
    repeats$: Observable<Value> | undefined,
    sources: RuleSources,
  ) {
    this.#node = node;
    this.#ruleListener = listener;
    this.#repeats$ = repeats$;
    this.#sources = sources;
    this.#begin();
  }

  moveLast(): void {
    this.#end();
    this.#begin();
  }

  unsubscribe(): void {
    this.#end();
    this.#sources.forget(this);
  }

  #end(): void {
    this.#listener.closed = true;
    this.#node.removeListener(this.#listener);
    this.#repeats?.unsubscribe();
  }

  #begin(): void {
    this.#listener = new ChangeListener(this.#ruleListener);
    this.#node.addListener(this.#listener);
    this.#repeats = this.#repeats$?.subscribe({ next: (value) => this.#ruleListener.next(value), error: () => {} });
  }
}

/** Passes the changes of a parameter on. */
class ChangeListener implements Listener<Value | undefined> {
  closed = false;
  readonly #ruleListener: RuleListener;

  constructor(listener: RuleListener) {
    this.#ruleListener = listener;
  }

  next(value: Value | undefined): void {
    if (value !== undefined && !this.closed) this.#ruleListener.next(value);
  }
}

// Named sources, which are read all at once when the writes of a turn have settled, so that no rule ever sees half of a turn.

/** Values by name; undefined: unknown. */
export type Scope = Record<string, Value | undefined>;

/** Which of the triggers among some sources have fired since they were read, by their places; undefined: none of them is a trigger. */
export type Fired = boolean[] | undefined;

export function createFired(nodes: readonly ParameterNode[]): Fired {
  return nodes.some(({ type }) => type === 'T') ? nodes.map(() => false) : undefined;
}

/** Reads the value of each source, of a trigger whether it has fired since the last call, and whether all are known. */
export function readNamed(
  names: readonly string[],
  nodes: readonly ParameterNode[],
  fired: Fired,
  scope: Scope,
): boolean {
  let isComplete = true;
  for (let place = 0; place < nodes.length; place++) {
    const node = nodes[place]!;
    const value = fired === undefined || node.type !== 'T' ? node.value : fired[place];
    if (value === undefined) isComplete = false;
    scope[names[place]!] = value;
  }
  fired?.fill(false);
  return isComplete;
}

/** A trigger among named sources. */
class FiringSource implements RuleListener {
  readonly #fired: boolean[];
  readonly #place: number;
  readonly #ruleListener: RuleListener;

  constructor(fired: boolean[], place: number, listener: RuleListener) {
    this.#fired = fired;
    this.#place = place;
    this.#ruleListener = listener;
  }

  next(value: Value): void {
    this.#fired[this.#place] = true;
    this.#ruleListener.next(value);
  }
}
