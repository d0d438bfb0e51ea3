// One run of a rule in JSON5 after the other. What a run needs stands in few objects, each of one kind: among thousands of rules each
// object more is one more place in memory to wait for.

import type { Subscription } from 'rxjs';
import type { Value } from '../../../../model/value.ts';
import type { ExpressionBody } from '../../../plan.ts';
import type { BoundExpression } from '../../../rule-expression.ts';
import type { RuleContext } from '../rule-context.ts';
import type { RuleTrace } from '../trace.ts';
import { bindExpression } from './bind-expression.ts';
import type { ExpressionLookup } from './expression-lookup.ts';
import { Pipe, type ValueWriter } from './pipe.ts';

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
  /** Takes what comes out of `map`. */
  readonly #next: ValueWriter;
  /** Where nothing stands between the sources and the expressions of the destinations: they know the names of the sources. */
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

  /** Runs the rule on the names that its expressions know, and on the value that a rule without `map` writes. */
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

/** Computes what each destination gets, all of it before anything is written. */
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
