// The body of a rule in JSON5: what its source says goes through `when`, then `map`, then the steps of `pipe`.

import { Subscription } from 'rxjs';
import type { Graph } from '../../../graph/graph.ts';
import type { Value } from '../../../model/value.ts';
import type { ExpressionBody, NamedValues } from '../../plan.ts';
import { bindExpression } from './bind-expression.ts';
import { ExpressionLookup } from './expression-lookup.ts';
import { createPipe } from './pipe.ts';
import type { RuleContext } from './rule-context.ts';

/** Runs a rule on the names that its expressions know, and on the value that a rule without `map` writes. */
type Run = (scope: Record<string, Value>, value: Value | undefined) => void;

export function runExpressions(body: ExpressionBody, context: RuleContext): Subscription {
  const { sources, trace } = context;
  const { copies } = trace.rule;
  if (copies !== undefined) return sources.any([copies.address], createCopy(context));

  const { from } = body;
  const subscription = new Subscription();
  const lookup = new ExpressionLookup(context);
  const run = createRun(body, context, lookup, subscription);
  if ('any' in from) subscription.add(sources.any(from.any, runOnChange(context.runtime.graph, from.any, run)));
  else
    subscription.add(
      sources.named(from.named, (values, isComplete) => {
        if (isComplete) run(values, undefined);
        else if (from.requiresAll) waitFor(from.named, values, context, lookup);
        else lookup.whileIncomplete(from.named, () => run(values, undefined));
      }),
    );
  return subscription;
}

/** The rule waits for the first name that is unknown. */
function waitFor(
  named: Readonly<Record<string, string>>,
  values: NamedValues,
  { trace }: RuleContext,
  lookup: ExpressionLookup,
): void {
  trace.begin();
  lookup.reportUnknown(named[Object.keys(named).find((name) => values[name] === undefined)!]!);
  trace.end();
}

/** A rule that only copies is traced when somebody has asked for it. */
function createCopy({ trace, output: { write } }: RuleContext): (value: Value) => void {
  return (value) => {
    if (!trace.isRecorded) {
      write(value);
      return;
    }
    trace.begin();
    write(value);
    trace.end();
  };
}

function createRun(
  body: ExpressionBody,
  context: RuleContext,
  lookup: ExpressionLookup,
  subscription: Subscription,
): Run {
  const { trace, output } = context;
  const emit = body.pipe.length === 0 ? output.write : createPipe(body.pipe, context, lookup, subscription);
  const when = body.when && bindExpression(body.when, lookup);
  const map = body.map && bindExpression(body.map, lookup);
  const compute: Run = (scope, value) => {
    if (when !== undefined && when(scope) !== true) {
      trace.stop();
      return;
    }
    const result = map === undefined ? value : map(scope);
    if (result !== undefined) emit(result);
  };
  return (scope, value) => {
    trace.begin();
    compute(scope, value);
    trace.end();
  };
}

/** Keeps one scope for all runs, with `value` and `previous`: the value before, known from the start where there is one. */
function runOnChange(graph: Graph, addresses: readonly string[], run: Run): (value: Value) => void {
  const scope: Record<string, Value> = { value: 0 };
  let last = addresses.length === 1 ? graph.get(addresses[0]!).value : undefined;
  return (value) => {
    scope.value = value;
    if (last !== undefined) scope.previous = last;
    last = value;
    run(scope, value);
  };
}
