// Binds the expressions of a rule to what they look up while it runs.

import type { Value } from '../../../model/value.ts';
import type { BoundExpression, RuleExpression } from '../../rule-expression.ts';

/** What expressions look up, and whom they tell why they have no result. */
export interface ExpressionRuntime {
  now(): number;
  valueOf(address: string): Value | undefined;
  reportFault(error: unknown): void;
  /** The expression has no result as long as this parameter is unknown. */
  reportUnknown(address: string): void;
}

/** Binds an expression; it writes what it looks up into the scope that it is given. */
export function bindExpression(expression: RuleExpression, runtime: ExpressionRuntime): BoundExpression {
  const { evaluate, params, readsNow, readsPrevious } = expression;
  return (scope) => {
    if (readsPrevious && scope.previous === undefined) return undefined;
    if (readsNow) scope.now = runtime.now();
    for (const { name, address } of params) {
      const value = runtime.valueOf(address);
      if (value === undefined) {
        runtime.reportUnknown(address);
        return undefined;
      }
      scope[name] = value;
    }
    try {
      return evaluate(scope);
    } catch (error) {
      runtime.reportFault(error);
      return undefined;
    }
  };
}
