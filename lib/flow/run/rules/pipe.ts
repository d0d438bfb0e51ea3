// The steps of a rule, from what goes in to what is written: at once, or later on behalf of the change that went in last.

import { Subject, type Subscription } from 'rxjs';
import { createCausalScheduler } from '../../../graph/causal-scheduler.ts';
import type { Change } from '../../../model/parameter.ts';
import type { Value } from '../../../model/value.ts';
import type { PreparedStep, StepRuntime } from '../../steps/step.ts';
import { bindExpression, type ExpressionRuntime } from './bind-expression.ts';
import type { RuleContext } from './rule-context.ts';

/** Returns what takes values in, of which `write` gets what comes out; the steps end with the subscription. */
export function createPipe(
  steps: readonly PreparedStep[],
  write: (value: Value) => void,
  { plan, runtime, trace, output }: RuleContext,
  lookup: ExpressionRuntime,
  subscription: Subscription,
): (value: Value) => void {
  const { graph, scheduler, reportLimit } = runtime;
  const stepRuntime: StepRuntime = {
    scheduler,
    causalScheduler: createCausalScheduler(graph, scheduler),
    bind: (expression) => bindExpression(expression, lookup),
    overflow(message) {
      trace.limit(message);
      reportLimit(plan, message);
    },
  };
  const input = new Subject<Value>();
  let lastIn: Change | undefined;
  const writeNowOrLater = (value: Value) => {
    if (graph.cause === undefined) graph.onBehalfOf(lastIn, () => write(value));
    else write(value);
  };
  const output$ = steps.reduce((stream, step) => stream.pipe(step.create(stepRuntime)), input.asObservable());
  subscription.add(output$.subscribe({ next: writeNowOrLater, error: (error) => output.fail(error) }));
  return (value) => {
    lastIn = graph.cause;
    input.next(value);
  };
}
