// What answers are made of. A shape is a schema of zod: the type of an answer is inferred from it, and so is its schema in the OpenAPI
// document. Browsers and threads import the types of these files alone: zod stays in the hub.

import { z } from 'zod';
import { type Origin, originKinds } from '../../model/parameter.ts';
import { type Value, valueTypes } from '../../model/value.ts';
import type { IsoTime } from '../time.ts';

/** What an answer of a shape is. */
export type Shape<Schema extends z.ZodType> = Immutable<z.output<Schema>>;

export type Immutable<Type> = Type extends object ? { readonly [Key in keyof Type]: Immutable<Type[Key]> } : Type;

/** The shapes that have a name in the OpenAPI document. */
export const namedShapes = z.registry<{ id: string }>();

/** Names a shape. */
export function named<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  namedShapes.add(schema, { id });
  return schema;
}

export const text = z.string();
export const texts = z.array(text);
export const flag = z.boolean();
export const yes = z.literal(true);
export const count = z.int().min(0);
export const duration = z.number().min(0);
export const time: z.ZodType<IsoTime> = z.string().meta({ format: 'date-time' });
export const timeMs = z.number().describe('Milliseconds since 1970');
export const address = text.describe('<Connection ID>/<Parameter ID>');
export const addresses = z.array(address);
export const valueType = z.enum(valueTypes).describe('text, boolean, integer, float, trigger');
export const value: z.ZodType<Value> = z.union([z.string(), z.number(), z.boolean()]);
export const valueOrNull: z.ZodType<Value | null> = z.union([z.string(), z.number(), z.boolean(), z.null()]);
export const origin: z.ZodType<Origin> = z.strictObject({
  kind: z.enum(originKinds),
  name: text,
  file: z.exactOptional(text),
  hub: z.exactOptional(text.describe('The hub where it wrote; left out: this one')),
  reportedBy: z.exactOptional(
    text.describe('The hub that says so, which this one cannot check; left out: this hub knows it itself'),
  ),
  traceparent: z.exactOptional(text.describe('The trace of the request, as W3C Trace Context writes it')),
});
