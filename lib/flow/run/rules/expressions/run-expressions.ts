// The body of a rule in JSON5: what its source says goes through `when`, then `map`, then the steps of `pipe`, and then through the
// expressions of its destinations, where they have some.
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

/** The body of a rule that runs. */
export interface RunningBody {
  readonly subscription: Subscription;
  /** Runs the rule with what is known, in its place of this turn; undefined: it does not run when it starts. */
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
  const begin = 'any' in from ? hearAny(from, parts) : hearNamed(from, parts);
  return { subscription, begin: runsAtStart ? begin : undefined };
}

/** A rule that only copies is traced when somebody has asked for it. */
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

// What runs a rule in JSON5: a change of any of its sources, or a turn in which named ones changed. Both return what runs it when
// it starts, in its place of the turn and with what is known then, unless a change has run it before.

function hearAny({ any }: Extract<Source, { any: unknown }>, parts: RunnerParts): () => void {
  const { context, subscription, body } = parts;
  const listener = new AnyHearer(
    any.map((address) => context.runtime.graph.get(address)),
    parts,
  );
  context.sources.any(any, listener, body.listensToWrites, subscription);
  return () => context.sources.atSettle(() => listener.begin());
}

/**
 * The names of `value` and `previous`, and of what expressions look up: one scope for all rules, since none needs it beyond its
 * run, and what all of them share stays in the caches of the processor.
 */
const scope: Scope = { value: undefined, previous: undefined, now: undefined };

/** Runs a rule with each value, and knows the one before, `previous`, from the start where there is one. */
class AnyHearer extends RuleRunner implements RuleListener {
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

  /** Runs the rule with the value that was set last, unless it has run. */
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

function hearNamed(from: Extract<Source, { named: unknown }>, parts: RunnerParts): () => void {
  const { context, subscription, body } = parts;
  const listener = new NamedHearer(from, parts);
  context.sources.place(listener);
  context.sources.each(listener.nodes, listener.fired, listener, body.listensToWrites, subscription);
  subscription.add(() => listener.end());
  return () => listener.begin();
}

/** Runs a rule once per turn, when all names are known, or as many as its expressions need. It is what waits in the turn itself. */
class NamedHearer extends RuleRunner implements RuleListener, SettleTask {
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

  /** Runs the rule in this turn, unless it has run. */
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

/** What rules with the same names share: the names in their order, and a scope of them, as that of `value`. */
interface Names {
  readonly names: readonly string[];
  readonly scope: Scope;
}

const allNames = new KeptResults<Names>(1000);

function namesOf(names: readonly string[]): Names {
  const key = JSON.stringify(names);
  const scope = Object.fromEntries(names.map((name) => [name, undefined]));
  return allNames.get(key) ?? allNames.keep(key, { names, scope: Object.setPrototypeOf(scope, null) }); // no name is that of a method
}

/** The rule waits for a source that is unknown. */
function waitFor(address: string, { context: { trace }, lookup }: RunnerParts): void {
  trace.begin();
  lookup.reportUnknown(address);
  trace.end();
}

/** The value that was set last; of triggers alone, 1, as if one had fired; undefined: all are unknown. */
function newestOf(nodes: readonly ParameterNode[]): Value | undefined {
  const states = nodes.filter(({ type }) => type !== 'T');
  if (states.length === 0) return 1;
  const revisionOf = ({ lastChange }: ParameterNode) => lastChange?.revision ?? 0;
  return states.reduce((newest, node) => (revisionOf(node) > revisionOf(newest) ? node : newest)).value;
}
