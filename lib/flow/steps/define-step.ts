// Helpers that define steps, and the settings that many steps share.

import { z } from 'zod';
import { HubError, messageOf } from '../../model/error.ts';
import { durationPattern, longestDurationMs, readDurationMs } from '../../model/time/duration.ts';
import type { Value, ValueType } from '../../model/value.ts';
import { type BoundExpression, expressionSchema } from '../rule-expression.ts';
import type { Operator, PreparedStep, StepContext, StepRuntime, StepType } from './step.ts';

export type NamedStep = readonly [name: string, type: StepType];

export const durationMs = z
  .union([z.number().meta({ minimum: 0, maximum: longestDurationMs }), z.string().meta({ pattern: durationPattern })], {
    error: 'milliseconds or a duration such as "1m30s"',
  })
  .transform((input, context) => {
    try {
      return readDurationMs(input);
    } catch (error) {
      context.addIssue({ code: 'custom', message: messageOf(error) });
      return z.NEVER;
    }
  });

/** Returns the schema for a duration of at least `leastMs` milliseconds. */
export const atLeast = (leastMs: number) =>
  durationMs.refine((ms) => ms >= leastMs, {
    error: ({ input }) => `expected at least ${leastMs} ms, got ${input}`,
  });

/** The schema for an expression. The pattern serves only the JSON Schema; the check reports further errors. */
export const expression = z.string({ error: 'an expression in text' }).meta(expressionSchema);
export const scalar = z.union([z.string(), z.number(), z.boolean()], { error: 'text, number or boolean' });

/** The schema for steps within a step. Each of these steps is checked afterwards. */
export const stepList = z
  .array(z.unknown(), { error: 'a list of steps' })
  .min(1, { error: 'a list of steps such as [{ delay: "1s" }]' });

/** Defines a step, given its name, schema, preparation and documentation. */
export function define<Schema extends z.ZodType>(
  name: string,
  summary: string,
  setting: Schema,
  prepare: (setting: z.output<Schema>, context: StepContext) => PreparedStep,
): NamedStep {
  return [name, { summary, setting, prepare: prepare as StepType['prepare'] }];
}

/** Defines a step that needs nothing but its setting. `result` is the output type, which defaults to the input type. */
export function plain<Schema extends z.ZodType>(
  name: string,
  summary: string,
  setting: Schema,
  create: (setting: z.output<Schema>) => Operator,
  result?: ValueType,
): NamedStep {
  return define(name, summary, setting, (value, { type }) => ({ type: result ?? type, create: () => create(value) }));
}

/** Defines a step that accepts and emits numbers. */
export function ofNumbers<Schema extends z.ZodType>(
  name: string,
  summary: string,
  setting: Schema,
  create: (setting: z.output<Schema>, runtime: StepRuntime) => Operator,
): NamedStep {
  return define(name, summary, setting, (value, { type }) => {
    if (type === 'S')
      throw new HubError('bad-flow', 'expected numbers, got text: put { map: "double(value)" } before this step');
    return { type: 'F', create: (runtime) => create(value, runtime) };
  });
}

/** Defines a step whose setting is a condition that may read `value`. */
export function conditional(
  name: string,
  summary: string,
  create: (condition: (value: Value) => boolean) => Operator,
): NamedStep {
  return define(name, summary, expression, (text, { type, compile }) => {
    const condition = compile(text, {}, 'B');
    return { type, create: ({ bind }) => create(isTrue(bind(condition))) };
  });
}

/** Returns the type of a value as written in a flow file. Any number may be a float. */
export function typeOfScalar(value: Value): ValueType {
  if (typeof value === 'string') return 'S';
  return typeof value === 'boolean' ? 'B' : 'F';
}

function isTrue(condition: BoundExpression): (value: Value) => boolean {
  return (value) => condition.evaluate({ value }) === true;
}
