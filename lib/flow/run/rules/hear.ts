// What runs a rule in JSON5: a change of any of its sources, or a turn in which named ones changed. Both return what runs it when
// it starts, in its place of the turn and with what is known then, unless a change has run it before.

import type { ParameterNode } from '../../../graph/parameter-node.ts';
import { KeptResults } from '../../../model/kept-results.ts';
import type { Value } from '../../../model/value.ts';
import type { Hearer, Source } from '../../plan.ts';
import { RuleRunner, type RunnerParts } from './rule-runner.ts';
import type { Scope } from './rule-sources.ts';

export function hearAny({ any }: Extract<Source, { any: unknown }>, parts: RunnerParts): () => void {
  const { context, subscription, body } = parts;
  const hearer = new AnyHearer(
    any.map((address) => context.runtime.graph.get(address)),
    parts,
  );
  subscription.add(context.sources.any(any, hearer, body.hearsWrites));
  return () => context.sources.atSettle(() => hearer.begin());
}

/**
 * The names of `value` and `previous`, and of what expressions look up: one scope for all rules, since none needs it beyond its
 * run, and what all of them share stays in the caches of the processor.
 */
const scope: Scope = { value: undefined, previous: undefined, now: undefined };

/** Runs a rule with each value, and knows the one before, `previous`, from the start where there is one. */
class AnyHearer extends RuleRunner implements Hearer {
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

/** Runs the rule once per turn, when all names are known, or as many as its expressions need. */
export function hearNamed({ named, requiresAll }: Extract<Source, { named: unknown }>, parts: RunnerParts): () => void {
  const { context, lookup, subscription, body } = parts;
  const run = new RuleRunner(parts);
  const values = scopeOf(Object.keys(named));
  let hasRun = false;
  const next = (isComplete: boolean) => {
    hasRun = true;
    if (isComplete) run.run(values, undefined);
    else if (requiresAll) waitFor(named[Object.keys(named).find((name) => values[name] === undefined)!]!, parts);
    else lookup.whileIncomplete(named, () => run.run(values, undefined));
  };
  const heard = context.sources.namedIn(values, named, next, body.hearsWrites);
  subscription.add(heard);
  return () => {
    if (!hasRun) heard.callBack();
  };
}

/** Scopes of named sources, as that of `value`: one for all rules with the same names. */
const scopes = new KeptResults<Scope>(1000);

function scopeOf(names: readonly string[]): Scope {
  const key = JSON.stringify(names);
  const unknown = Object.fromEntries(names.map((name) => [name, undefined]));
  return scopes.get(key) ?? scopes.keep(key, Object.setPrototypeOf(unknown, null)); // no name is that of a method
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
