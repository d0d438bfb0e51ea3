// Steps that compute with an expression.

import type { Subscriber } from 'rxjs';
import { z } from 'zod';
import type { Value } from '../../model/value.ts';
import type { BoundExpression } from '../rule-expression.ts';
import { conditional, define, expression, type NamedStep, scalar, typeOfScalar } from './define-step.ts';
import { EachValue, each } from './each-value.ts';

export const computingSteps: readonly NamedStep[] = [
  conditional('filter', 'lets a value through when the condition is true', (condition) =>
    each((hearer) => new Filtering(hearer, condition)),
  ),
  define('map', 'computes a new value', expression, (text, { compile }) => {
    const compute = compile(text);
    return { type: compute.type, create: ({ bind }) => each((hearer) => new Mapping(hearer, bind(compute))) };
  }),
  define('pairwise', 'computes from `previous` and `value`, from the second value on', expression, (text, context) => {
    const compute = context.compile(text, { previous: context.type });
    return { type: compute.type, create: ({ bind }) => each((hearer) => new Pairing(hearer, bind(compute))) };
  }),
  define(
    'scan',
    'computes from `sum`, its own last result, and `value`',
    z.strictObject({ seed: scalar, expression }, { error: '{ seed: 0, expression: "sum + value" }' }),
    ({ seed, expression: text }, { compile }) => {
      const compute = compile(text, { sum: typeOfScalar(seed) });
      return { type: compute.type, create: ({ bind }) => each((hearer) => new Summing(hearer, bind(compute), seed)) };
    },
  ),
];

/** The names of expressions and of what they look up: one scope for all steps, since none needs it beyond its evaluation. */
const scope: Record<string, Value | undefined> = {
  value: undefined,
  previous: undefined,
  sum: undefined,
  now: undefined,
};

class Filtering extends EachValue {
  readonly #condition: (value: Value) => boolean;

  constructor(hearer: Subscriber<Value>, condition: (value: Value) => boolean) {
    super(hearer);
    this.#condition = condition;
  }

  protected compute(value: Value): Value | undefined {
    return this.#condition(value) ? value : undefined;
  }
}

class Mapping extends EachValue {
  readonly #expression: BoundExpression;

  constructor(hearer: Subscriber<Value>, expression: BoundExpression) {
    super(hearer);
    this.#expression = expression;
  }

  protected compute(value: Value): Value | undefined {
    scope.value = value;
    return this.#expression.evaluate(scope);
  }
}

class Pairing extends EachValue {
  readonly #expression: BoundExpression;
  #previous: Value | undefined;

  constructor(hearer: Subscriber<Value>, expression: BoundExpression) {
    super(hearer);
    this.#expression = expression;
  }

  protected compute(value: Value): Value | undefined {
    const previous = this.#previous;
    this.#previous = value;
    if (previous === undefined) return undefined;
    scope.value = value;
    scope.previous = previous;
    return this.#expression.evaluate(scope);
  }
}

/** Where the expression has no result, the sum is emitted as it is. */
class Summing extends EachValue {
  readonly #expression: BoundExpression;
  #sum: Value;

  constructor(hearer: Subscriber<Value>, expression: BoundExpression, seed: Value) {
    super(hearer);
    this.#expression = expression;
    this.#sum = seed;
  }

  protected compute(value: Value): Value | undefined {
    scope.value = value;
    scope.sum = this.#sum;
    this.#sum = this.#expression.evaluate(scope) ?? this.#sum;
    return this.#sum;
  }
}
