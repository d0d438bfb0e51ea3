// What runs a rule in JSON5: a change of any of its sources, or a turn in which named ones changed. Both return what runs it when
// it starts, in its place of the turn and with what is known then, unless a change has run it before.

import type { Subscription } from 'rxjs';
import type { ParameterNode } from '../../../graph/parameter-node.ts';
import type { Value } from '../../../model/value.ts';
import type { ExpressionBody, NamedValues, Source } from '../../plan.ts';
import type { ExpressionLookup } from './expression-lookup.ts';
import type { RuleContext } from './rule-context.ts';

/** Runs a rule on the names that its expressions know, and on the value that a rule without `map` writes. */
export type Run = (scope: Record<string, Value>, value: Value | undefined) => void;

/** What hears of changes. */
export interface Hearing extends Pick<ExpressionBody, 'hearsWrites' | 'runsAtStart'> {
  readonly context: RuleContext;
  readonly lookup: ExpressionLookup;
  readonly run: Run;
  readonly subscription: Subscription;
}

/** Keeps one scope for all runs, with `value` and `previous`: the value before, known from the start where there is one. */
export function hearAny({ any }: Extract<Source, { any: unknown }>, hearing: Hearing): () => void {
  const { context, run, subscription, hearsWrites, runsAtStart } = hearing;
  const nodes = any.map((address) => context.runtime.graph.get(address));
  const scope: Record<string, Value> = { value: 0 };
  let last = nodes.length === 1 ? nodes[0]!.value : undefined;
  let hasRun = false;
  const next = (value: Value) => {
    scope.value = value;
    if (last !== undefined) scope.previous = last;
    last = value;
    run(scope, value);
  };
  const noted = (value: Value) => {
    hasRun = true;
    next(value);
  };
  const begin = () => {
    if (hasRun || subscription.closed) return;
    const value = newestOf(nodes);
    if (value === undefined) waitFor(nodes[0]!.address, hearing);
    else {
      scope.value = last = value;
      run(scope, value);
    }
  };
  subscription.add(context.sources.any(any, runsAtStart ? noted : next, hearsWrites));
  return () => context.sources.atSettle(begin);
}

/** Runs the rule once per turn, when all names are known, or as many as its expressions need. */
export function hearNamed({ named, requiresAll }: Extract<Source, { named: unknown }>, hearing: Hearing): () => void {
  const { context, lookup, run, subscription, hearsWrites } = hearing;
  let hasRun = false;
  const next = (values: NamedValues, isComplete: boolean) => {
    hasRun = true;
    if (isComplete) run(values, undefined);
    else if (requiresAll) waitFor(named[Object.keys(named).find((name) => values[name] === undefined)!]!, hearing);
    else lookup.whileIncomplete(named, () => run(values, undefined));
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
