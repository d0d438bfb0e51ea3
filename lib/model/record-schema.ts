// Schemas for objects whose keys are chosen by users, such as users, outputs or strings in a dashboard (`z.record` silently drops the key
// `__proto__`), and for strings with a meaning, such as times, sizes and durations.

import { z } from 'zod';
import { describe } from './error.ts';

const unsafeKey = '__proto__';

type Key = z.core.$ZodRecordKey;

const Record: new (def: z.core.$ZodRecordDef) => z.ZodRecord = z.core.$constructor('Record', (inst, def) => {
  z.ZodRecord.init(inst as never, def as never);
  const { keyType, valueType } = def as z.core.$ZodRecordDef;
  const parse = inst._zod.parse as typeof inst._zod.parse;
  inst._zod.parse = (payload: z.core.ParsePayload, context: z.core.ParseContextInternal) => {
    const input = payload.value;
    const result = parse(payload, context) as z.core.ParsePayload;
    if (typeof input !== 'object' || input === null || !Object.hasOwn(input, unsafeKey)) return result;
    const key = keyType._zod.run({ value: unsafeKey, issues: [] }, context) as z.core.ParsePayload;
    const value = valueType._zod.run(
      { value: (input as Record<string, unknown>)[unsafeKey], issues: [] },
      context,
    ) as z.core.ParsePayload;
    if (key.issues.length > 0)
      result.issues.push({
        code: 'invalid_key',
        origin: 'record',
        issues: key.issues.map((issue) => z.core.util.finalizeIssue(issue, context, z.core.config())),
        input: unsafeKey,
        path: [unsafeKey],
        inst,
      } as never);
    else result.issues.push(...z.core.util.prefixIssues(unsafeKey, value.issues));
    Object.defineProperty(result.value, unsafeKey, {
      value: value.value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
    return result;
  };
}) as never;

/** A `z.record` that accepts every key. Look up keys in the result with `Object.hasOwn`, because every object inherits `constructor`. */
export function record<K extends Key, Value extends z.ZodType>(
  keyType: K,
  valueType: Value,
  params?: { error: string },
): z.ZodRecord<K, Value> {
  return new Record({ type: 'record', keyType, valueType, ...z.core.util.normalizeParams(params) }) as never;
}

/**
 * Returns a schema whose output is the result of `read`. If `read` returns undefined, the error shows the expected form and the received
 * input.
 */
export function readBy<Schema extends z.ZodType, Result>(
  schema: Schema,
  expected: string,
  read: (input: z.output<Schema>) => Result | undefined,
) {
  return schema.transform((input, context): Result => {
    const result = read(input);
    if (result !== undefined) return result;
    context.addIssue({ code: 'custom', message: `expected ${expected}, got ${describe(input)}` });
    return z.NEVER;
  });
}
