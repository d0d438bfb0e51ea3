// The shape of `each`, for editors: the expansion reads it itself.

import { z } from 'zod';
import { record } from '../model/record-schema.ts';

/** What repeats the item that it stands in. */
export const eachSchema = record(
  z.string().meta({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$', not: { const: 'instance' } }),
  z.union([z.array(z.unknown()).min(1), z.string().meta({ pattern: '^\\$\\{.*\\}$' })]),
)
  .meta({ minProperties: 1 })
  .describe('Repeats this for each of the values: { n: [1, 2] } makes ${n} 1, then 2; several names are combined');
