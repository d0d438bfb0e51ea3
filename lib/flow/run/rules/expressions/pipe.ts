// The steps of a rule, from what goes in to what is written: at once, or later on behalf of the change that went in last. It is both
// ends in one, so that a run finds what it needs in one place.

import { Observable, Subscriber, type Subscription } from 'rxjs';
import { createCausalScheduler } from '../../../../graph/causal-scheduler.ts';
import type { Graph } from '../../../../graph/graph.ts';
import { held, textBytes } from '../../../../model/held-bytes.ts';
import type { Change } from '../../../../model/parameter.ts';
import type { Value } from '../../../../model/value.ts';
import type { PreparedStep, StepRuntime } from '../../../steps/step.ts';
import type { RuleContext } from '../rule-context.ts';
import { bindExpression, type ExpressionRuntime } from './bind-expression.ts';

/** Where values go. */
export interface ValueWriter {
  write(value: Value): void;
}

/** Takes values in, of which `to` gets what comes out; the steps end with the subscription. */
export class Pipe extends Subscriber<Value> implements ValueWriter {
  readonly #graph: Graph;
  readonly #to: ValueWriter;
  readonly #fail: (error: unknown) => void;
  /** The first step. */
  #first: Subscriber<Value> | undefined;
  #lastIn: Change | undefined;

  constructor(
    steps: readonly PreparedStep[],
    to: ValueWriter,
    context: RuleContext,
    lookup: ExpressionRuntime,
    subscription: Subscription,
  ) {
    super();
    this.#graph = context.runtime.graph;
    this.#to = to;
    this.#fail = (error) => context.output.fail(error);
    const input$ = new Observable<Value>((first) => {
      this.#first = first;
    });
    const runtime = stepRuntime(context, lookup);
    subscription.add(this);
    steps.reduce((stream, step) => stream.pipe(step.create(runtime)), input$).subscribe(this);
  }

  /** Takes a value in. */
  write(value: Value): void {
    this.#lastIn = this.#graph.cause;
    this.#first?.next(value);
  }

  protected override _next(value: Value): void {
    if (this.#graph.cause === undefined) this.#graph.onBehalfOf(this.#lastIn, () => this.#to.write(value));
    else this.#to.write(value);
  }

  protected override _error(error: unknown): void {
    this.unsubscribe();
    this.#fail(error);
  }
}

/** What the texts of a change take, and of those that led to it. */
function textBytesOf(change: Change | undefined): number {
  let bytes = 0;
  for (let link = change; link !== undefined; link = link.cause)
    if (typeof link.value === 'string') bytes += textBytes(link.value);
  return bytes;
}

function stepRuntime({ plan, runtime, trace }: RuleContext, lookup: ExpressionRuntime): StepRuntime {
  const { graph, scheduler, reports } = runtime;
  const owner = `rule "${plan.name}" of ${plan.file}`;
  return {
    scheduler,
    causalScheduler: createCausalScheduler(graph, scheduler),
    bind: (expression) => bindExpression(expression, lookup),
    overflow(message) {
      trace.limit(message);
      reports.limited(plan, message);
    },
    causeBytes: () => textBytesOf(graph.cause),
    open: (letGo) => held.open({ kind: 'steps', owner, letGo }),
  };
}
