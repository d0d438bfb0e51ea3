// The body of a rule in JSON5: the values of its source pass through `when`, `map`, the steps in `pipe`, and the expressions for the
// destinations, if there are any.
import { Subscription } from 'rxjs';
import type { Graph } from '../../../../graph/graph.ts';
import type { ParameterNode } from '../../../../graph/parameter-node.ts';
import type { SettleTask } from '../../../../graph/settle-queue.ts';
import { KeptResults } from '../../../../model/kept-results.ts';
import type { Change } from '../../../../model/parameter.ts';
import type { Value } from '../../../../model/value.ts';
import type { ExpressionBody, RuleListener, Source } from '../../../plan.ts';
import type { RuleContext, RuleOutput } from '../rule-context.ts';
import { createFired, type Fired, readNamed, type Scope } from '../rule-sources.ts';
import { ExpressionLookup, RuleRunner, type RunnerParts } from './rule-runner.ts';

/** The body of a rule after its start. */
export interface RunningBody {
  readonly subscription: Subscription;
  /** Runs the rule with the known values, at its position in this turn. Undefined if the rule does not run when it starts. */
  readonly begin?: (() => void) | undefined;
}

export function runExpressions(body: ExpressionBody, context: RuleContext): RunningBody {
  const { sources, trace } = context;
  const { copies } = trace;
  if (copies !== undefined) return { subscription: sources.any([copies.address], new Copier(context)) };

  const subscription = new Subscription();
  const lookup = new ExpressionLookup(context);
  const { from, runsAtStart } = body;
  const parts = { body, context, lookup, subscription };
  const begin = 'any' in from ? listenToAny(from, parts) : listenToNamed(from, parts);
  return { subscription, begin: runsAtStart ? begin : undefined };
}

/** Runs a rule that only copies. The runs are traced only after the trace was requested. */
class Copier implements RuleListener {
  readonly #trace: RuleContext['trace'];
  readonly #output: RuleOutput;

  constructor({ trace, output }: RuleContext) {
    this.#trace = trace;
    this.#output = output;
  }

  next(value: Value): void {
    if (!this.#trace.isRecorded) {
      this.#output.write(value);
      return;
    }
    this.#trace.begin();
    this.#output.write(value);
    this.#trace.end();
  }
}

// What starts a rule in JSON5: a change of any of its sources, or a turn in which named sources changed. Both functions return the run at
// the start of the rule: at the rule's position in the turn, with the values known then, unless a change has run the rule before.

function listenToAny({ any }: Extract<Source, { any: unknown }>, parts: RunnerParts): () => void {
  const { context, subscription, body } = parts;
  const listener = new AnyListener(
    any.map((address) => context.runtime.graph.get(address)),
    parts,
  );
  context.sources.any(any, listener, body.listensToWrites, subscription);
  return () => context.sources.atSettle(() => listener.begin());
}

/**
 * The names `value` and `previous`, and the values that expressions look up. All rules share one scope, because no rule needs the scope
 * after its run, and a shared scope stays in the CPU caches.
 */
const scope: Scope = { value: undefined, previous: undefined, now: undefined };

/**
 * Runs a rule once for each value from any of its sources. `previous` is known from the start if a single source has a value at that time.
 */
class AnyListener extends RuleRunner implements RuleListener {
  readonly #nodes: readonly ParameterNode[];
  readonly #parts: RunnerParts;
  #last: Value | undefined;
  #hasRun = false;

  constructor(nodes: readonly ParameterNode[], parts: RunnerParts) {
    super(parts);
    this.#nodes = nodes;
    this.#parts = parts;
    this.#last = nodes.length === 1 ? nodes[0]!.value : undefined;
  }

  next(value: Value): void {
    this.#hasRun = true;
    this.#run(value, this.#last);
  }

  /** Runs the rule with the latest value, unless it has already run. */
  begin(): void {
    if (this.#hasRun || this.#parts.subscription.closed) return;
    const value = newestOf(this.#nodes);
    if (value === undefined) waitFor(this.#nodes[0]!.address, this.#parts);
    else this.#run(value, undefined);
  }

  #run(value: Value, previous: Value | undefined): void {
    this.#last = value;
    scope.value = value;
    scope.previous = previous;
    this.run(scope, value);
  }
}

function listenToNamed(from: Extract<Source, { named: unknown }>, parts: RunnerParts): () => void {
  const { context, subscription, body } = parts;
  const listener = new NamedListener(from, parts);
  context.sources.place(listener);
  context.sources.each(listener.nodes, listener.fired, listener, body.listensToWrites, subscription);
  subscription.add(() => listener.end());
  return () => listener.begin();
}

/**
 * Runs a rule with named sources once per turn, as soon as all names are known, or as many names as the rule's expressions need. The
 * listener itself is the task in the settle queue.
 */
class NamedListener extends RuleRunner implements RuleListener, SettleTask {
  order = 0;
  isWaiting = false;
  number = 0;
  delivering: Change | undefined = undefined;
  earlier: Change | undefined = undefined;
  readonly #graph: Graph;
  readonly nodes: readonly ParameterNode[];
  readonly fired: Fired;
  readonly #names: Names;
  readonly #requiresAll: boolean;
  #hasRun = false;
  #hasEnded = false;
  readonly #addresses: Readonly<Record<string, string>>;
  readonly #parts: RunnerParts;

  constructor({ named, requiresAll }: Extract<Source, { named: unknown }>, parts: RunnerParts) {
    super(parts);
    const { graph } = parts.context.runtime;
    this.#graph = graph;
    this.nodes = Object.values(named).map((address) => graph.get(address));
    this.fired = createFired(this.nodes);
    this.#names = namesOf(Object.keys(named));
    this.#requiresAll = requiresAll;
    this.#addresses = named;
    this.#parts = parts;
  }

  next(): void {
    this.#graph.atSettle(this);
  }

  settle(): void {
    if (this.#hasEnded) return;
    this.#hasRun = true;
    const { names, scope } = this.#names;
    if (readNamed(names, this.nodes, this.fired, scope)) this.run(scope, undefined);
    else this.#runIncomplete(scope);
  }

  /** Runs the rule in this turn, unless it has already run. */
  begin(): void {
    if (!this.#hasRun) this.#graph.atSettle(this);
  }

  end(): void {
    this.#hasEnded = true;
  }

  #runIncomplete(scope: Scope): void {
    const addresses = this.#addresses;
    if (!this.#requiresAll) this.#parts.lookup.whileIncomplete(addresses, () => this.run(scope, undefined));
    else waitFor(addresses[this.#names.names.find((name) => scope[name] === undefined)!]!, this.#parts);
  }
}

/** The names of a rule's sources in order, and a scope for the names, which is shared by all rules with the same names. */
interface Names {
  readonly names: readonly string[];
  readonly scope: Scope;
}

const allNames = new KeptResults<Names>(1000);

function namesOf(names: readonly string[]): Names {
  const key = JSON.stringify(names);
  const scope = Object.fromEntries(names.map((name) => [name, undefined]));
  return allNames.get(key) ?? allNames.keep(key, { names, scope: Object.setPrototypeOf(scope, null) }); // so that no name is that of a method
}

/** Records in the trace that the rule is waiting for the unknown source with this address. */
function waitFor(address: string, { context: { trace }, lookup }: RunnerParts): void {
  trace.begin();
  lookup.reportUnknown(address);
  trace.end();
}

/**
 * Returns the latest value of the nodes, 1 if all nodes are triggers (as if a trigger had fired), or undefined if all values are unknown.
 */
function newestOf(nodes: readonly ParameterNode[]): Value | undefined {
  const states = nodes.filter(({ type }) => type !== 'T');
  if (states.length === 0) return 1;
  const revisionOf = ({ lastChange }: ParameterNode) => lastChange?.revision ?? 0;
  return states.reduce((newest, node) => (revisionOf(node) > revisionOf(newest) ? node : newest)).value;
}
