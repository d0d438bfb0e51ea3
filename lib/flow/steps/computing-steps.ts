// Steps that compute with an expression.

import type { Subscriber } from 'rxjs';
import { z } from 'zod';
import { groupDigits } from '../../model/digits.ts';
import { maxTextLength, type Value } from '../../model/value.ts';
import type { BoundExpression } from '../rule-expression.ts';
import { conditional, define, expression, type NamedStep, scalar, typeOfScalar } from './define-step.ts';
import { EachValue, each } from './each-value.ts';
import { OneValue } from './held-values.ts';
import type { StepRuntime } from './step.ts';

const sumIsTooLong = `a sum is a text of at most ${groupDigits(maxTextLength)} characters, a longer one was dropped`;

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
    return {
      type: compute.type,
      create: (runtime) => each((hearer) => new Pairing(hearer, runtime.bind(compute), runtime)),
    };
  }),
  define(
    'scan',
    'computes from `sum`, its own last result, and `value`',
    z.strictObject({ seed: scalar, expression }, { error: '{ seed: 0, expression: "sum + value" }' }),
    ({ seed, expression: text }, { compile }) => {
      const compute = compile(text, { sum: typeOfScalar(seed) });
      return {
        type: compute.type,
        create: (runtime) => each((hearer) => new Summing(hearer, runtime.bind(compute), seed, runtime)),
      };
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
  readonly #held: OneValue;
  #previous: Value | undefined;

  constructor(hearer: Subscriber<Value>, expression: BoundExpression, runtime: StepRuntime) {
    super(hearer);
    this.#expression = expression;
    this.#held = new OneValue(runtime, () => {
      this.#previous = undefined;
    });
    this.add(() => this.#held.note(undefined));
  }

  protected compute(value: Value): Value | undefined {
    const previous = this.#previous;
    this.#previous = value;
    this.#held.note(value);
    if (previous === undefined) return undefined;
    scope.value = value;
    scope.previous = previous;
    return this.#expression.evaluate(scope);
  }
}

/** Where the expression has no result, or one that no parameter takes, the sum is emitted as it is. */
class Summing extends EachValue {
  readonly #expression: BoundExpression;
  readonly #runtime: StepRuntime;
  readonly #held: OneValue;
  #sum: Value;

  constructor(hearer: Subscriber<Value>, expression: BoundExpression, seed: Value, runtime: StepRuntime) {
    super(hearer);
    this.#expression = expression;
    this.#runtime = runtime;
    this.#sum = seed;
    this.#held = new OneValue(runtime, () => {
      this.#sum = seed;
    });
    this.add(() => this.#held.note(undefined));
  }

  protected compute(value: Value): Value | undefined {
    scope.value = value;
    scope.sum = this.#sum;
    const sum = this.#expression.evaluate(scope);
    if (typeof sum === 'string' && sum.length > maxTextLength) this.#runtime.overflow(sumIsTooLong);
    else if (sum !== undefined) {
      this.#sum = sum;
      this.#held.note(sum);
    }
    return this.#sum;
  }
}
