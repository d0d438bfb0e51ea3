// Binds the expressions of a rule to what they look up while it runs.

import type { Value } from '../../../model/value.ts';
import { type BoundExpression, missingName, type RuleExpression } from '../../rule-expression.ts';

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
  const { evaluate, lookedUp, readsNow, readsPrevious } = expression;
  return (scope) => {
    if (readsNow) scope.now = runtime.now();
    for (const { name, address, asks } of lookedUp) {
      const value = runtime.valueOf(address);
      if (asks === 'known') scope[name] = value !== undefined;
      else scope[name] = value!; // if it is unknown, the evaluation shows whether it is needed
    }
    try {
      return evaluate(scope);
    } catch (error) {
      const missing = lookedUp.length === 0 && !readsPrevious ? undefined : missingName(error);
      if (missing === 'previous' && readsPrevious) return undefined;
      const unknown = lookedUp.find(({ name }) => name === missing);
      if (unknown === undefined) runtime.reportFault(error);
      else runtime.reportUnknown(unknown.address);
      return undefined;
    }
  };
}
