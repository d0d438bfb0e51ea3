// Checks what clients send against a schema.

import type { z } from 'zod';
import { describe, HubError } from '../../../model/error.ts';

/** Returns the message of a client as its schema has it. Errors: `bad-request` with the first mistake. */
export function parse<Schema extends z.ZodType>(shape: Schema, message: unknown): z.output<Schema> {
  const result = shape.safeParse(message, { reportInput: true });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = issue!.path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');
  const expected =
    issue!.code === 'unrecognized_keys'
      ? `expected no key ${issue!.keys.map((key) => JSON.stringify(key)).join(', ')}`
      : `expected ${issue!.message}, got ${describe(issue!.input)}`;
  throw new HubError('bad-request', path === '' ? expected : `${path}: ${expected}`);
}
