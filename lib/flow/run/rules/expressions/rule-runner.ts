// Runs a rule in JSON5. A run uses only a few objects, because with thousands of rules, each additional object is one more cache miss.
import { Observable, Subscriber, type Subscription } from 'rxjs';
import { createCausalScheduler } from '../../../../graph/causal-scheduler.ts';
import type { Graph } from '../../../../graph/graph.ts';
import { held, textBytes } from '../../../../model/held-bytes.ts';
import { type Change, type Parameter, staleSinceOf } from '../../../../model/parameter.ts';
import type { Value } from '../../../../model/value.ts';
import type { ExpressionBody } from '../../../plan.ts';
import { type BoundExpression, explainFailure, missingName, type RuleExpression } from '../../../rule-expression.ts';
import type { PreparedStep, StepRuntime } from '../../../steps/step.ts';
import type { RuleContext } from '../rule-context.ts';
import type { RuleTrace } from '../trace.ts';

export interface RunnerParts {
  readonly body: ExpressionBody;
  readonly context: RuleContext;
  readonly lookup: ExpressionLookup;
  readonly subscription: Subscription;
}

export class RuleRunner {
  readonly #trace: RuleTrace;
  readonly #when: BoundExpression | undefined;
  readonly #map: BoundExpression | undefined;
  /** Receives the result of `map`, or the value itself if the rule has no `map`. */
  readonly #next: ValueWriter;
  /**
   * Computes and writes the destinations' values from the names of the sources. Set only if there is no `map` and there are no steps in
   * between.
   */
  readonly #splitAtOnce: ((scope: Record<string, Value | undefined>) => void) | undefined;

  constructor({ body, context, lookup, subscription }: RunnerParts) {
    const { output, trace } = context;
    this.#trace = trace;
    this.#when = body.when && bindExpression(body.when, lookup);
    this.#map = body.map && bindExpression(body.map, lookup);
    const split = body.split && createSplit(body.split, context, lookup);
    const hasSteps = body.pipe.length > 0;
    if (this.#map === undefined && !hasSteps) this.#splitAtOnce = split;
    const last = split === undefined ? output : { write: (value: Value) => split({ value }) };
    this.#next = hasSteps ? new Pipe(body.pipe, last, context, lookup, subscription) : last;
  }

  /**
   * Runs the rule. `scope` contains the names that the rule's expressions may read; `value` is the value that a rule without `map` writes.
   */
  run(scope: Record<string, Value | undefined>, value: Value | undefined): void {
    this.#trace.begin();
    this.#compute(scope, value);
    this.#trace.end();
  }

  #compute(scope: Record<string, Value | undefined>, value: Value | undefined): void {
    if (this.#when !== undefined && this.#when.evaluate(scope) !== true) this.#trace.stop();
    else if (this.#splitAtOnce !== undefined) this.#splitAtOnce(scope);
    else {
      const result = this.#map === undefined ? value : this.#map.evaluate(scope);
      if (result !== undefined) this.#next.write(result);
    }
  }
}

/** Returns a function that computes the values of all destinations before any value is written. */
function createSplit(
  expressions: NonNullable<ExpressionBody['split']>,
  { output }: RuleContext,
  lookup: ExpressionLookup,
): (scope: Record<string, Value | undefined>) => void {
  const bound = expressions.map((expression) => bindExpression(expression, lookup));
  return (scope) => {
    const values = bound.map((expression) => expression.evaluate(scope));
    if (values.some((value) => value !== undefined)) output.writeEach(values);
  };
}

// The parameters that a rule's expressions look up, and the reasons why expressions have no result.

export class ExpressionLookup implements ExpressionRuntime {
  readonly #context: RuleContext;
  /** The addresses that were already reported as unknown. */
  #reported: Set<string> | undefined;
  /** The addresses of named sources, keyed by name; set during a run in which not all sources have a value. */
  #incomplete: Readonly<Record<string, string>> | undefined;

  constructor(context: RuleContext) {
    this.#context = context;
  }

  /**
   * Runs the rule while some of the named sources have no value. An expression that needs such a name has no result, which is not a fault.
   */
  whileIncomplete(named: Readonly<Record<string, string>>, run: () => void): void {
    this.#incomplete = named;
    run();
    this.#incomplete = undefined;
  }

  now(): number {
    return this.#context.runtime.graph.now();
  }

  parameterOf(address: string): Parameter {
    return this.#context.runtime.graph.get(address);
  }

  reportFault(error: unknown): void {
    const missing = this.#incomplete?.[missingName(error) ?? ''];
    if (missing === undefined) this.#context.output.fail(explainFailure(error));
    else this.reportUnknown(missing);
  }

  reportUnknown(address: string): void {
    const { plan, trace, runtime } = this.#context;
    const node = runtime.graph.get(address);
    const message = `waits for ${address}, which is unknown`;
    trace.wait(message);
    if (this.#reported?.has(address)) return;
    this.#reported ??= new Set();
    this.#reported.add(address);
    runtime.reports.waiting(plan, message, () => node.value === undefined);
  }
}

// Binds a rule's expressions to the parameters that they look up at run time.

/** Finds the parameters that expressions look up, and receives the reasons why expressions have no result. */
interface ExpressionRuntime {
  now(): number;
  parameterOf(address: string): Parameter;
  reportFault(error: unknown): void;
  /** Reports that an expression has no result while the parameter with this address is unknown. */
  reportUnknown(address: string): void;
}

const none: readonly Parameter[] = [];

/** Binds an expression to the parameters that it looks up. On each evaluation, the expression writes their values into its scope. */
function bindExpression(expression: RuleExpression, runtime: ExpressionRuntime): BoundExpression {
  const { lookedUp } = expression;
  const parameters = lookedUp.length === 0 ? none : lookedUp.map(({ address }) => runtime.parameterOf(address));
  return new Bound(expression, parameters, runtime);
}

/** Returns what an expression asks about a parameter other than its value: the wanted value, or whether the value is known or fresh. */
function answerOf(
  asks: Exclude<RuleExpression['lookedUp'][number]['asks'], 'value'>,
  parameter: Parameter,
): Value | undefined {
  if (asks === 'wanted') return parameter.wanted?.value ?? parameter.value;
  return parameter.value !== undefined && (asks === 'known' || staleSinceOf(parameter) === undefined);
}

class Bound implements BoundExpression {
  readonly #expression: RuleExpression;
  readonly #evaluate: RuleExpression['evaluate'];
  readonly #readsNow: boolean;
  /** The parameters that the expression looks up, in the order of `lookedUp`. */
  readonly #parameters: readonly Parameter[];
  readonly #runtime: ExpressionRuntime;

  constructor(expression: RuleExpression, parameters: readonly Parameter[], runtime: ExpressionRuntime) {
    this.#expression = expression;
    this.#evaluate = expression.evaluate;
    this.#readsNow = expression.readsNow;
    this.#parameters = parameters;
    this.#runtime = runtime;
  }

  evaluate(scope: Record<string, Value | undefined>): Value | undefined {
    if (this.#readsNow) scope.now = this.#runtime.now();
    if (this.#parameters.length > 0) this.#lookUp(scope);
    const evaluate = this.#evaluate;
    try {
      return evaluate(scope as Record<string, Value>);
    } catch (error) {
      this.#explain(error);
      return undefined;
    }
  }

  #lookUp(scope: Record<string, Value | undefined>): void {
    const { lookedUp } = this.#expression;
    for (let index = 0; index < lookedUp.length; index++) {
      const parameter = this.#parameters[index]!;
      const { name, asks } = lookedUp[index]!;
      scope[name] = asks === 'value' ? parameter.value : answerOf(asks, parameter); // the evaluation shows whether an unknown value is needed
    }
  }

  #explain(error: unknown): void {
    const { lookedUp, readsPrevious } = this.#expression;
    const missing = lookedUp.length === 0 && !readsPrevious ? undefined : missingName(error);
    if (missing === 'previous' && readsPrevious) return;
    const unknown = lookedUp.find(({ name }) => name === missing);
    if (unknown === undefined) this.#runtime.reportFault(error);
    else this.#runtime.reportUnknown(unknown.address);
  }
}

// The steps of a rule, from input to output. A step passes a value on immediately, or later on behalf of the last input's change. One
// object serves as both ends, so that a run finds everything in one place.

/** Receives the values that a rule's `map` or steps emit. */
interface ValueWriter {
  write(value: Value): void;
}

/** Passes values through a rule's steps to `to`. The steps end with the subscription. */
class Pipe extends Subscriber<Value> implements ValueWriter {
  readonly #graph: Graph;
  readonly #to: ValueWriter;
  readonly #fail: (error: unknown) => void;
  /** The input of the first step. */
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

  /** Passes a value to the first step of the rule. */
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

/** Returns the size of the strings in a change and its causes, in bytes. */
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
