// What runs a rule in JSON5: a change of any of its sources, or a turn in which named ones changed. Both return what runs it when
// it starts, in its place of the turn and with what is known then, unless a change has run it before.

import type { Subscription } from 'rxjs';
import type { ParameterNode } from '../../../graph/parameter-node.ts';
import type { Value } from '../../../model/value.ts';
import type { ExpressionBody, Hearer, NamedValues, Source } from '../../plan.ts';
import type { ExpressionLookup } from './expression-lookup.ts';
import type { RuleContext } from './rule-context.ts';
import type { RuleRunner } from './rule-runner.ts';

/** What hears of changes. */
export interface Hearing extends Pick<ExpressionBody, 'hearsWrites' | 'runsAtStart'> {
  readonly context: RuleContext;
  readonly lookup: ExpressionLookup;
  readonly run: RuleRunner;
  readonly subscription: Subscription;
}

export function hearAny({ any }: Extract<Source, { any: unknown }>, hearing: Hearing): () => void {
  const { context, subscription, hearsWrites } = hearing;
  const hearer = new AnyHearer(
    any.map((address) => context.runtime.graph.get(address)),
    hearing,
  );
  subscription.add(context.sources.any(any, hearer, hearsWrites));
  return () => context.sources.atSettle(() => hearer.begin());
}

/** Keeps one scope for all runs, with `value` and `previous`: the value before, known from the start where there is one. */
class AnyHearer implements Hearer {
  readonly #scope: Record<string, Value> = { value: 0 };
  readonly #run: RuleRunner;
  readonly #nodes: readonly ParameterNode[];
  readonly #hearing: Hearing;
  #last: Value | undefined;
  #hasRun = false;

  constructor(nodes: readonly ParameterNode[], hearing: Hearing) {
    this.#nodes = nodes;
    this.#hearing = hearing;
    this.#run = hearing.run;
    this.#last = nodes.length === 1 ? nodes[0]!.value : undefined;
  }

  next(value: Value): void {
    this.#hasRun = true;
    const scope = this.#scope;
    scope.value = value;
    if (this.#last !== undefined) scope.previous = this.#last;
    this.#last = value;
    this.#run.run(scope, value);
  }

  /** Runs the rule with the value that was set last, unless it has run. */
  begin(): void {
    if (this.#hasRun || this.#hearing.subscription.closed) return;
    const value = newestOf(this.#nodes);
    if (value === undefined) {
      waitFor(this.#nodes[0]!.address, this.#hearing);
      return;
    }
    this.#scope.value = this.#last = value;
    this.#run.run(this.#scope, value);
  }
}

/** Runs the rule once per turn, when all names are known, or as many as its expressions need. */
export function hearNamed({ named, requiresAll }: Extract<Source, { named: unknown }>, hearing: Hearing): () => void {
  const { context, lookup, run, subscription, hearsWrites } = hearing;
  let hasRun = false;
  const next = (values: NamedValues, isComplete: boolean) => {
    hasRun = true;
    if (isComplete) run.run(values, undefined);
    else if (requiresAll) waitFor(named[Object.keys(named).find((name) => values[name] === undefined)!]!, hearing);
    else lookup.whileIncomplete(named, () => run.run(values, undefined));
  };
  const heard = context.sources.named(named, next, hearsWrites);
  subscription.add(heard);
  return () => {
    if (!hasRun) heard.callBack();
  };
}

/** The rule waits for a source that is unknown. */
function waitFor(address: string, { context: { trace }, lookup }: Hearing): void {
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
