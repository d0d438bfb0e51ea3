// Lets a rule observe changes of parameters, but not the values that the parameters have when the rule starts. Rules on the same parameter
// run in the order of their subscriptions. When a reload inserts a rule between other rules, the rules after it subscribe again. No change
// is missed, and the rules keep all values that they hold.
import { type Observable, Subscription, type Unsubscribable } from 'rxjs';
import type { Listener } from '../../../graph/emitter.ts';
import type { Graph } from '../../../graph/graph.ts';
import type { ParameterNode } from '../../../graph/parameter-node.ts';
import { SettleCall, type SettlePlace, type SettleTask } from '../../../graph/settle-queue.ts';
import { unknownName } from '../../../json5/nearest-name.ts';
import { HubError } from '../../../model/error.ts';
import type { Value } from '../../../model/value.ts';
import type { NamedValues, RuleListener, Sources } from '../../plan.ts';

/** The parameters to which one rule listens. */
export class RuleSources implements Sources {
  readonly #graph: Graph;
  #listened: readonly ListenedSource[] = [];
  #place: SettlePlace;

  /** `settleOrder` is the rule's position among the rules that wait until a turn has settled. */
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

  /** Reports each change of any of the sources. For a trigger, records that the trigger has fired. */
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

  /** Runs work once in this turn, at the rule's position, after the turn's writes have settled. */
  atSettle(settle: () => void): void {
    this.#graph.atSettle(new SettleCall(this.#place, settle));
  }

  /** Gives a task the rule's position. From then on, the task follows that position. */
  place(task: SettleTask & SettlePlace): void {
    task.order = this.#place.order;
    this.#place = task;
  }

  /**
   * Moves the rule behind all rules that have subscribed so far, and to a new position among the rules that wait until a turn has settled.
   * Call this between turns, when no change can be missed.
   */
  moveLast(settleOrder: number): void {
    this.#place.order = settleOrder;
    for (const source of this.#listened) source.moveLast();
  }

  #listen(node: ParameterNode, listener: RuleListener, listensToWrites: boolean): Unsubscribable {
    const repeats$ = listensToWrites ? this.#graph.repeats(node) : undefined;
    const source = new ListenedSource(node, listener, repeats$, this);
    this.#listened = this.#listened.concat(source); // push would reserve memory for sixteen more items
    return source;
  }

  /** Removes a source to which the rule no longer listens. */
  forget(source: ListenedSource): void {
    this.#listened = this.#listened.filter((one) => one !== source);
  }
}

/** A source to which a rule listens, at its position among all listeners. */
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

/** Forwards the changes of one parameter to a rule. */
class ChangeListener implements Listener<Value | undefined> {
  closed = false;
  readonly isOfChanges = true;
  readonly #ruleListener: RuleListener;

  constructor(listener: RuleListener) {
    this.#ruleListener = listener;
  }

  next(value: Value | undefined): void {
    if (value !== undefined && !this.closed) this.#ruleListener.next(value);
  }
}

// Named sources. All named sources are read together when the writes of a turn have settled, so no rule sees half of a turn.

/** The scope of an expression: values, keyed by name; undefined if a value is unknown. */
export type Scope = Record<string, Value | undefined>;

/** For each source, whether the source is a trigger that has fired since the last read. Undefined if no source is a trigger. */
export type Fired = boolean[] | undefined;

export function createFired(nodes: readonly ParameterNode[]): Fired {
  return nodes.some(({ type }) => type === 'T') ? nodes.map(() => false) : undefined;
}

/**
 * Writes the value of each source into the scope, or, for a trigger, whether it has fired since the last call. Returns whether all values
 * are known.
 */
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

/** Records that a trigger among named sources has fired. */
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
