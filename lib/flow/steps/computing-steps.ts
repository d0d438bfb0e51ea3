// Steps that compute with an expression.

import { filter, mergeMap, pairwise, scan } from 'rxjs';
import { z } from 'zod';
import type { Value } from '../../model/value.ts';
import {
  computeEach,
  conditional,
  define,
  expression,
  ifKnown,
  type NamedStep,
  scalar,
  typeOfScalar,
} from './define-step.ts';
import type { Operator } from './step.ts';

export const computingSteps: readonly NamedStep[] = [
  conditional('filter', 'lets a value through when the condition is true', (condition) => filter(condition)),
  define('map', 'computes a new value', expression, (text, { compile }) => {
    const compute = compile(text);
    return {
      type: compute.type,
      create({ bind }) {
        const bound = bind(compute);
        return computeEach((value) => bound.evaluate({ value }));
      },
    };
  }),
  define('pairwise', 'computes from `previous` and `value`, from the second value on', expression, (text, context) => {
    const compute = context.compile(text, { previous: context.type });
    return {
      type: compute.type,
      create({ bind }): Operator {
        const bound = bind(compute);
        return (source) =>
          source.pipe(
            pairwise(),
            mergeMap(([previous, value]) => ifKnown(bound.evaluate({ previous, value }))),
          );
      },
    };
  }),
  define(
    'scan',
    'computes from `sum`, its own last result, and `value`',
    z.strictObject({ seed: scalar, expression }, { error: '{ seed: 0, expression: "sum + value" }' }),
    ({ seed, expression: text }, { compile }) => {
      const type = typeOfScalar(seed);
      const compute = compile(text, { sum: type });
      return {
        type: compute.type,
        create({ bind }) {
          const bound = bind(compute);
          return scan<Value, Value, Value>((sum, value) => bound.evaluate({ sum, value }) ?? sum, seed);
        },
      };
    },
  ),
];
