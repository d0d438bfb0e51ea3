// An expression in a rule, between the check and the run: compiled, but not yet bound to the parameters that it looks up.

import type { Expression, LookedUp } from '../expression/expression.ts';
import type { Value, ValueType } from '../model/value.ts';

export { countLoops, explainFailure, missingName } from '../expression/expression.ts';
export { expressionSchema } from '../expression/regex-pattern.ts';

export interface RuleExpression {
  readonly evaluate: Expression;
  readonly type: ValueType | undefined;
  /** The parameters that the expression reads in addition to its own variables. Their values are looked up during evaluation. */
  readonly lookedUp: readonly LookedUp[];
  readonly readsNow: boolean;
  readonly readsPrevious: boolean;
  /** The name if the expression consists only of a name, so that the name's value is passed on. Otherwise undefined. */
  readonly passes: string | undefined;
}

/** An expression bound to the parameters that it looks up. */
export interface BoundExpression {
  /**
   * Evaluates the expression in a scope. Returns undefined if a value that the expression reads is unknown, or if the expression failed and
   * has reported the failure.
   */
  evaluate(scope: Record<string, Value | undefined>): Value | undefined;
}
