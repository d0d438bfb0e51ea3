// The settings of a virtual core: inputs and outputs. An output is either an expression or a function block.

import { z } from 'zod';
import { expressionSchema } from '../../expression/regex-pattern.ts';
import { addressShape } from '../../model/address.ts';
import { record } from '../../model/record-schema.ts';
import { type ValueType, valueTypes } from '../../model/value.ts';
import { blockTypes } from './blocks/blocks.ts';
import { maxRanks } from './core-engine.ts';

/**
 * The maximum number of outputs. With this limit, one evaluation, including the additional parameters of blocks, fits into a turn (131,072
 * writes).
 */
const maxOutputs = maxRanks;
const maxInputs = 32_768;

/** An output that is computed by an expression: `{type: 'B', expression: 'mic1 || mic2'}`. */
export interface ExpressionOutput {
  readonly block?: undefined;
  readonly type: ValueType;
  readonly expression: string;
}

/**
 * An output that is computed by a function block: `{block: 'TOF', in: 'mic-open', pt: 2000}`. A string is a name; any other value is a
 * literal.
 */
export interface BlockOutput {
  readonly block: string;
  readonly [argument: string]: string | number | boolean;
}

export type Output = ExpressionOutput | BlockOutput;

const expressionOutput = z.strictObject({
  block: z.undefined().optional(),
  type: z.enum(valueTypes, { error: 'S, B, I, F or T' }).describe('Value type; T fires when the expression turns true'),
  expression: z
    .string({ error: 'an expression in text' })
    .meta(expressionSchema)
    .describe('Computes the output; in a name, write _ for each character other than letters, digits and _'),
});

const blockOutputs = Object.entries(blockTypes).map(([name, block]) =>
  z.strictObject({
    block: z.literal(name).describe('Function block of IEC 61131-3'),
    ...Object.fromEntries(
      Object.entries(block.arguments).map(([argument, { schema }]) => [
        argument,
        block.optional.includes(argument) ? schema.optional() : schema,
      ]),
    ),
  }),
);

const [firstBlock, ...otherBlocks] = blockOutputs;
const output = z.discriminatedUnion('block', [firstBlock!, ...otherBlocks, expressionOutput], {
  error: `an output with type and expression, or with a block of ${Object.keys(blockTypes).join(', ')}`,
}) as z.ZodType<Output>;

export const settingsSchema = z.strictObject({
  inputs: record(
    z.string(),
    z.string({ error: 'an address <Connection ID>/<Parameter ID>' }).meta({ pattern: addressShape }),
    {
      error: 'an object of addresses by name',
    },
  )
    .refine((inputs) => Object.keys(inputs).length <= maxInputs, { error: `expected at most ${maxInputs} inputs` })
    .default({})
    .describe('The parameters that the core listens to: name → address'),
  outputs: record(z.string(), output, { error: 'an object of outputs by name' })
    .refine((outputs) => Object.keys(outputs).length <= maxOutputs, { error: `expected at most ${maxOutputs} outputs` })
    .default({})
    .describe('Read-only parameters by name, each computed by an expression or a function block'),
});

export type CoreSettings = z.output<typeof settingsSchema>;
