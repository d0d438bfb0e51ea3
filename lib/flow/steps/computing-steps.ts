// Steps that compute results with an expression.
import { Observable, Subscriber } from 'rxjs';
import { z } from 'zod';
import { groupDigits } from '../../model/digits.ts';
import { record } from '../../model/record-schema.ts';
import { maxTextLength, toText, type Value } from '../../model/value.ts';
import type { BoundExpression } from '../rule-expression.ts';
import { conditional, define, expression, type NamedStep, ofNumbers, scalar, typeOfScalar } from './define-step.ts';
import { OneValue } from './held-values.ts';
import type { Operator, StepRuntime } from './step.ts';

// Steps that turn each value into another value immediately. Such a step is a single object between two others: an RxJS operator consists
// of a dozen objects and functions, and with thousands of rules, each of them is one more cache miss.

/** A running step that turns each value into another value immediately. The step ends with its listener. */
abstract class EachValue extends Subscriber<Value> {
  /** Returns the result for a value, or undefined if no value is to be emitted. */
  protected abstract compute(value: Value): Value | undefined;

  protected override _next(value: Value): void {
    let result: Value | undefined;
    try {
      result = this.compute(value);
    } catch (error) {
      this.destination.error(error);
      return;
    }
    if (result !== undefined) this.destination.next(result);
  }
}

/** Returns an operator that creates the step anew each time a rule starts. */
function each(create: (listener: Subscriber<Value>) => EachValue): Operator {
  return (source) => new Observable<Value>((listener) => source.subscribe(create(listener)));
}

/** Returns an operator that emits the result of `compute` for each value, and emits nothing if the result is undefined. */
function computeEach(compute: (value: Value) => Value | undefined): Operator {
  return each((listener) => new Computing(listener, compute));
}

class Computing extends EachValue {
  readonly #compute: (value: Value) => Value | undefined;

  constructor(listener: Subscriber<Value>, compute: (value: Value) => Value | undefined) {
    super(listener);
    this.#compute = compute;
  }

  protected compute(value: Value): Value | undefined {
    return this.#compute(value);
  }
}

const sumIsTooLong = `a sum is at most ${groupDigits(maxTextLength)} characters long; a longer one was dropped`;

export const computingSteps: readonly NamedStep[] = [
  conditional('filter', 'passes on a value if the condition is true', (condition) =>
    each((listener) => new Filtering(listener, condition)),
  ),
  define('map', 'computes a new value', expression, (text, { compile }) => {
    const compute = compile(text);
    return { type: compute.type, create: ({ bind }) => each((listener) => new Mapping(listener, bind(compute))) };
  }),
  define(
    'pairwise',
    'computes a value from `previous` and `value`, from the second value on',
    expression,
    (text, context) => {
      const compute = context.compile(text, { previous: context.type });
      return {
        type: compute.type,
        create: (runtime) => each((listener) => new Pairing(listener, runtime.bind(compute), runtime)),
      };
    },
  ),
  define(
    'scan',
    'computes a value from `sum`, its previous result, and `value`',
    z.strictObject({ seed: scalar, expression }, { error: '{ seed: 0, expression: "sum + value" }' }),
    ({ seed, expression: text }, { compile }) => {
      const compute = compile(text, { sum: typeOfScalar(seed) });
      return {
        type: compute.type,
        create: (runtime) => each((listener) => new Summing(listener, runtime.bind(compute), seed, runtime)),
      };
    },
  ),
];

/** The names that expressions read. All steps share one scope, because no step needs the scope after its evaluation. */
const scope: Record<string, Value | undefined> = {
  value: undefined,
  previous: undefined,
  sum: undefined,
  now: undefined,
};

class Filtering extends EachValue {
  readonly #condition: (value: Value) => boolean;

  constructor(listener: Subscriber<Value>, condition: (value: Value) => boolean) {
    super(listener);
    this.#condition = condition;
  }

  protected compute(value: Value): Value | undefined {
    return this.#condition(value) ? value : undefined;
  }
}

class Mapping extends EachValue {
  readonly #expression: BoundExpression;

  constructor(listener: Subscriber<Value>, expression: BoundExpression) {
    super(listener);
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

  constructor(listener: Subscriber<Value>, expression: BoundExpression, runtime: StepRuntime) {
    super(listener);
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

/** A running `scan` step: sums up the results. Emits the unchanged sum if the expression has no result, or if the result is too long. */
class Summing extends EachValue {
  readonly #expression: BoundExpression;
  readonly #runtime: StepRuntime;
  readonly #held: OneValue;
  #sum: Value;

  constructor(listener: Subscriber<Value>, expression: BoundExpression, seed: Value, runtime: StepRuntime) {
    super(listener);
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

// Steps that turn each value into another value without an expression.

const range = z.tuple([z.number(), z.number()], { error: 'a pair of numbers such as [0, 100]' });

export const mappingSteps: readonly NamedStep[] = [
  ofNumbers(
    'scale',
    'maps one range of numbers to another: { from: [0, 1], to: [0, 100] }',
    z.strictObject(
      { from: range.refine(([low, high]) => low !== high, { error: 'expected two different numbers' }), to: range },
      { error: '{ from: [0, 1], to: [0, 100] }' },
    ),
    ({ from: [low, high], to: [first, last] }) =>
      computeEach((value) => first + ((Number(value) - low) / (high - low)) * (last - first)),
  ),
  ofNumbers(
    'clamp',
    'limits numbers to a range: [0, 100]',
    range.refine(([low, high]) => low <= high, {
      error: ({ input }) => `expected the lower bound first: ${JSON.stringify((input as number[]).toReversed())}`,
    }),
    ([low, high]) => computeEach((value) => Math.min(high, Math.max(low, Number(value)))),
  ),
  define(
    'lookup',
    'replaces values from a table: { table: { "1": "on" }, otherwise: "off" }; without otherwise, values that the table lacks are dropped',
    z.strictObject(
      { table: record(z.string(), scalar), otherwise: scalar.optional() },
      { error: '{ table: { "1": "on" }, otherwise: "off" }' },
    ),
    ({ table, otherwise }) => {
      const entries = new Map(Object.entries(table));
      const results = [...entries.values(), ...(otherwise === undefined ? [] : [otherwise])].map(typeOfScalar);
      return {
        type: new Set(results).size === 1 ? results[0] : undefined,
        create: () => computeEach((value) => entries.get(toText(value)) ?? otherwise),
      };
    },
  ),
];
