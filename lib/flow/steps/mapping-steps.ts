// Steps that make another value of each value, without an expression.

import { z } from 'zod';
import { record } from '../../model/record-schema.ts';
import { toText } from '../../model/value.ts';
import { define, type NamedStep, ofNumbers, scalar, typeOfScalar } from './define-step.ts';
import { computeEach } from './each-value.ts';

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
    'keeps numbers within bounds: [0, 100]',
    range.refine(([low, high]) => low <= high, {
      error: ({ input }) => `expected the lower bound first: ${JSON.stringify((input as number[]).toReversed())}`,
    }),
    ([low, high]) => computeEach((value) => Math.min(high, Math.max(low, Number(value)))),
  ),
  define(
    'lookup',
    'replaces values by those of a table: { table: { "1": "on" }, otherwise: "off" }; without otherwise others are dropped',
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
