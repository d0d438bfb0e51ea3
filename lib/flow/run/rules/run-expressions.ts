// The body of a rule in JSON5: what its source says goes through `when`, then `map`, then the steps of `pipe`, and then through the
// expressions of its destinations, where they have some.

import { Subscription } from 'rxjs';
import type { Value } from '../../../model/value.ts';
import type { ExpressionBody } from '../../plan.ts';
import { bindExpression } from './bind-expression.ts';
import { ExpressionLookup } from './expression-lookup.ts';
import { hearAny, hearNamed, type Run } from './hear.ts';
import { createPipe } from './pipe.ts';
import type { RuleContext } from './rule-context.ts';

/** The body of a rule that runs. */
export interface RunningBody {
  readonly subscription: Subscription;
  /** Runs the rule with what is known, in its place of this turn; undefined: it does not run when it starts. */
  readonly begin?: (() => void) | undefined;
}

export function runExpressions(body: ExpressionBody, context: RuleContext): RunningBody {
  const { sources, trace } = context;
  const { copies } = trace.rule;
  if (copies !== undefined) return { subscription: sources.any([copies.address], createCopy(context)) };

  const subscription = new Subscription();
  const lookup = new ExpressionLookup(context);
  const run = createRun(body, context, lookup, subscription);
  const { from, hearsWrites, runsAtStart } = body;
  const hearing = { context, lookup, run, subscription, hearsWrites, runsAtStart };
  const begin = 'any' in from ? hearAny(from, hearing) : hearNamed(from, hearing);
  return { subscription, begin: runsAtStart ? begin : undefined };
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
  const { trace } = context;
  const split = body.split && createSplit(body.split, context, lookup);
  const write = split === undefined ? context.output.write : (value: Value) => split({ value });
  const emit = body.pipe.length === 0 ? write : createPipe(body.pipe, write, context, lookup, subscription);
  const when = body.when && bindExpression(body.when, lookup);
  const map = body.map && bindExpression(body.map, lookup);
  const splitsAtOnce = map === undefined && body.pipe.length === 0 ? split : undefined;
  const compute: Run = (scope, value) => {
    if (when !== undefined && when(scope) !== true) {
      trace.stop();
      return;
    }
    if (splitsAtOnce !== undefined) {
      splitsAtOnce(scope);
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

/** Computes what each destination gets, all of it before anything is written. */
function createSplit(
  expressions: NonNullable<ExpressionBody['split']>,
  { output }: RuleContext,
  lookup: ExpressionLookup,
): (scope: Record<string, Value>) => void {
  const bound = expressions.map((expression) => bindExpression(expression, lookup));
  return (scope) => {
    const values = bound.map((evaluate) => evaluate(scope));
    if (values.some((value) => value !== undefined)) output.writeEach(values);
  };
}
