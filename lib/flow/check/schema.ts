// The shape of a flow file: connections by ID, and rules in folders.

import { isObservable, type Observable } from 'rxjs';
import { z } from 'zod';
import type { AnyConnectionType } from '../../connections/connection.ts';
import { commonSettings } from '../../connections/setting.ts';
import { addressShape, connectionIdShape } from '../../model/address.ts';
import { describe } from '../../model/error.ts';
import { record } from '../../model/record-schema.ts';
import { allowVariables } from '../../template/allow-variables.ts';
import { eachSchema } from '../../template/each.ts';
import type { On } from '../define-flow.ts';
import { instancesSchema } from '../instances-schema.ts';
import { hubId } from '../plan.ts';
import { expression, stepList } from '../steps/define-step.ts';
import { stepTypes } from '../steps/steps.ts';
import { testSchema } from './tests/test-schema.ts';

const address = z.string({ error: 'an address <Connection ID>/<Parameter ID>' }).meta({ pattern: addressShape });
const addresses = z.array(address).min(1, { error: 'at least one address' });
/** Names that no source can have, for editors; the check knows more. */
const otherNames = ['value', 'previous', 'now', 'sum', 'param', 'true', 'false', 'null', 'in'];
const variable = z.string().meta({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$', not: { enum: otherNames } });
/** An object with one entry at least: sources by name, or what is written by address. */
const byName = <Key extends z.core.$ZodRecordKey, Item extends z.ZodType>(key: Key, item: Item) =>
  record(key, item)
    .refine((entries) => Object.keys(entries).length > 0, { error: 'expected at least one address' })
    .meta({ minProperties: 1 });

const shadow = z.boolean().default(false);

export const ruleSchema = z.strictObject(
  {
    name: z.string().optional().describe('What the rule does, for log and console; left out: its addresses'),
    enabled: z.boolean().default(true).describe('false: the rule is checked but does not run'),
    from: z
      .union([address, addresses, byName(variable, address)], {
        error: 'an address, a list of them, or an object of them by name',
      })
      .describe('What starts the rule: a parameter, any of a list, or named ones: { a: "desk/a", b: "desk/b" }'),
    require: z.enum(['all', 'any']).optional().describe('With names: run when all are known (default), or any'),
    when: expression.optional().describe('Condition on `value`: the rule goes on only if it is true'),
    map: expression.optional().describe('Expression on `value`: what is written; left out: the value itself'),
    pipe: z
      .array(z.unknown(), { error: 'a list of steps' })
      .default([])
      .describe('Steps, top to bottom, that what comes from `map` goes through'),
    to: z
      .union([address, addresses, byName(address, expression)], {
        error: "an address, a list of them, or { 'desk/a': 'value * 2', … }",
      })
      .describe(
        'The parameter, or parameters, that are written; with an expression for each: { "desk/a": "value * 2" }',
      ),
    atStart: z
      .boolean()
      .default(false)
      .describe('true: the rule also runs once when it starts, with what is known then'),
    hear: z
      .enum(['changes', 'writes'])
      .default('changes')
      .describe('writes: the rule also hears writes that change nothing'),
    shadow: shadow.describe('true: what the rule would write is noted, and not written'),
  },
  { error: "a rule such as { from: 'desk/a', to: 'desk/b' }" },
);

export const folderSchema = z.strictObject({
  folder: z.string().describe('Name of the folder'),
  enabled: z.boolean().default(true).describe('false: no rule in the folder runs'),
  rules: z.array(z.unknown(), { error: 'a list of rules and folders' }).default([]),
});

export const flowFileSchema = z.strictObject(
  {
    $schema: z.string().optional().describe('The JSON Schema of flow files, for editors'),
    connections: record(z.string(), z.unknown(), { error: 'an object of connections by Connection ID' })
      .default({})
      .describe('Connections by Connection ID'),
    rules: z.array(z.unknown(), { error: 'a list of rules and folders' }).default([]).describe('Rules, top to bottom'),
    tests: z
      .array(z.unknown(), { error: 'a list of tests' })
      .default([])
      .describe('Tests in virtual time, for `patchbay test`'),
    shadow: shadow.describe('true: all rules of the file are shadow rules'),
    instances: z.unknown().optional().describe('Instances of templates; they are flow files of their own'),
  },
  { error: 'an object such as { connections: { … }, rules: [ … ] }' },
);

/** A flow file in TypeScript: its rules are made by a function. */
export const flowProgramSchema = flowFileSchema.extend({
  rules: z
    .custom<RulesFunction>((rules) => typeof rules === 'function', {
      error: ({ input }) => `expected a function (on) => [ … ], got ${describe(input)}`,
    })
    .optional(),
});

export const flowRuleSchema = z.strictObject({
  name: ruleSchema.shape.name,
  enabled: ruleSchema.shape.enabled,
  from: z.custom<Observable<unknown>>(isObservable, {
    error: ({ input }) =>
      `expected a stream, such as on.flag("desk/mic-open"), got ${typeof input === 'function' ? 'a function' : describe(input)}`,
  }),
  to: ruleSchema.shape.to,
  shadow: ruleSchema.shape.shadow,
});

type RulesFunction = (on: On) => unknown;

/** The whole settings schema of a connection type: its own, the common ones, and `type`. */
export function connectionSchema(type: AnyConnectionType, more: z.ZodRawShape = {}): z.ZodObject {
  const schema = type.settingsSchema.extend({ type: z.literal(type.type), ...commonSettings, ...more });
  return schema.meta(type.settingsSchema.meta() ?? {});
}

/** The JSON Schema of flow files with these connection types, for editors that complete and check. */
export function flowFileJsonSchema(types: ReadonlyMap<string, AnyConnectionType>): object {
  const step: z.ZodType = z.lazy(() =>
    z.union(
      [...stepTypes].map(([name, { setting, summary }]) =>
        z.strictObject({ [name]: (setting === stepList ? z.array(step).min(1) : setting).describe(summary) }),
      ),
    ),
  );
  const each = { each: eachSchema.optional() };
  const ruleWithSteps = ruleSchema.extend({ ...each, pipe: z.array(step).default([]) }).meta({
    if: { properties: { from: { type: 'object' } }, required: ['from'] },
    // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
    then: { anyOf: [{ required: ['map'] }, { properties: { to: { type: 'object' } }, not: { required: ['pipe'] } }] },
    else: { not: { required: ['require'] } },
  });
  const rule: z.ZodType = z.lazy(() =>
    z.union([
      ruleWithSteps,
      folderSchema.extend({ ...each, rules: z.array(rule).default([]) }),
      z.strictObject({ each: eachSchema, rules: z.array(rule) }),
    ]),
  );
  const test = z.union([
    testSchema.extend(each),
    z.strictObject({ each: eachSchema, tests: z.array(testSchema.extend(each)) }),
  ]);
  const [first, ...others] = [...types.values()].map((type) => connectionSchema(type, each));
  const connection = z.discriminatedUnion('type', [first!, ...others]);
  const schema = flowFileSchema.extend({
    connections: record(z.string().meta({ pattern: connectionIdShape, not: { const: hubId } }), connection).default({}),
    rules: z.array(rule).default([]),
    tests: z.array(test).default([]),
    instances: z.union([instancesSchema, z.array(instancesSchema)]).optional(),
    variables: record(z.string(), z.unknown())
      .optional()
      .describe('What ${…} stands for in the file; of a template: where an instance gives nothing else'),
  });
  return allowVariables(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
}
