// An expression of a rule between check and run: compiled, and not yet bound to what it looks up.

import type { Expression, LookedUp } from '../expression/expression.ts';
import type { Value, ValueType } from '../model/value.ts';

export { explainFailure, missingName } from '../expression/expression.ts';
export { expressionSchema } from '../expression/regex-pattern.ts';

export interface RuleExpression {
  readonly evaluate: Expression;
  readonly type: ValueType | undefined;
  /** What it reads beside its own variables, looked up when it is evaluated. */
  readonly lookedUp: readonly LookedUp[];
  readonly readsNow: boolean;
  readonly readsPrevious: boolean;
  /** The name that is all of the expression: it gives on what came. */
  readonly passes: string | undefined;
}

/** An expression with what it looks up. */
export interface BoundExpression {
  /** Evaluates over a scope. Undefined: something that it reads is unknown, or it has failed, which it has reported. */
  evaluate(scope: Record<string, Value | undefined>): Value | undefined;
}
