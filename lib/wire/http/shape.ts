// The building blocks of responses. A shape is a zod schema from which the type of a response and its schema in the OpenAPI document are
// derived. Browsers and threads import only the types from these files, so zod stays in the hub.

import { z } from 'zod';
import { type Origin, originKinds } from '../../model/parameter.ts';
import { type Value, valueTypes } from '../../model/value.ts';
import type { IsoTime } from '../time.ts';

/** The type of the data that a shape describes. */
export type Shape<Schema extends z.ZodType> = Immutable<z.output<Schema>>;

export type Immutable<Type> = Type extends object ? { readonly [Key in keyof Type]: Immutable<Type[Key]> } : Type;

/** The shapes that have names in the OpenAPI document, with these names. */
export const namedShapes = z.registry<{ id: string }>();

/** Registers a shape under a name for the OpenAPI document, and returns the shape. */
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
  hub: z.exactOptional(text.describe('The hub on which the writer wrote; omitted for this hub')),
  reportedBy: z.exactOptional(
    text.describe('The hub that reported this, unverified; omitted if this hub knows it itself'),
  ),
  traceparent: z.exactOptional(text.describe('The trace of the request (W3C Trace Context)')),
});
