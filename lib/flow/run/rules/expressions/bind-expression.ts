// Binds the expressions of a rule to what they look up while it runs.

import type { Parameter } from '../../../../model/parameter.ts';
import type { Value } from '../../../../model/value.ts';
import { type BoundExpression, missingName, type RuleExpression } from '../../../rule-expression.ts';

/** What expressions look up, and whom they tell why they have no result. */
export interface ExpressionRuntime {
  now(): number;
  parameterOf(address: string): Parameter;
  reportFault(error: unknown): void;
  /** The expression has no result as long as this parameter is unknown. */
  reportUnknown(address: string): void;
}

const none: readonly Parameter[] = [];

/** Binds an expression; it writes what it looks up into the scope that it is given. */
export function bindExpression(expression: RuleExpression, runtime: ExpressionRuntime): BoundExpression {
  const { lookedUp } = expression;
  const parameters = lookedUp.length === 0 ? none : lookedUp.map(({ address }) => runtime.parameterOf(address));
  return new Bound(expression, parameters, runtime);
}

class Bound implements BoundExpression {
  readonly #expression: RuleExpression;
  /** In the order of what is looked up. */
  readonly #parameters: readonly Parameter[];
  readonly #runtime: ExpressionRuntime;

  constructor(expression: RuleExpression, parameters: readonly Parameter[], runtime: ExpressionRuntime) {
    this.#expression = expression;
    this.#parameters = parameters;
    this.#runtime = runtime;
  }

  evaluate(scope: Record<string, Value | undefined>): Value | undefined {
    const { evaluate, lookedUp, readsNow } = this.#expression;
    if (readsNow) scope.now = this.#runtime.now();
    const parameters = this.#parameters;
    for (let index = 0; index < parameters.length; index++) {
      const { name, asks } = lookedUp[index]!;
      const { value } = parameters[index]!;
      scope[name] = asks === 'known' ? value !== undefined : value; // unknown: the evaluation shows whether it is needed
    }
    try {
      return evaluate(scope as Record<string, Value>);
    } catch (error) {
      this.#explain(error);
      return undefined;
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
