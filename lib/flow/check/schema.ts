// The shape of a flow file: connections by ID, and rules in folders.

import { isObservable, type Observable } from 'rxjs';
import { z } from 'zod';
import type { AnyConnectionType } from '../../connections/connection.ts';
import { commonSettings } from '../../connections/setting.ts';
import { addressShape, connectionIdShape } from '../../model/address.ts';
import { describe } from '../../model/error.ts';
import { valueClasses } from '../../model/parameter.ts';
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
/** Names that no source can have, for use in editors. The check also rejects other invalid names. */
const otherNames = ['value', 'previous', 'now', 'sum', 'param', 'true', 'false', 'null', 'in'];
const variable = z.string().meta({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$', not: { enum: otherNames } });
/** Returns the schema for an object with at least one entry, such as sources keyed by name, or expressions keyed by address. */
const byName = <Key extends z.core.$ZodRecordKey, Item extends z.ZodType>(key: Key, item: Item) =>
  record(key, item)
    .refine((entries) => Object.keys(entries).length > 0, { error: 'expected at least one address' })
    .meta({ minProperties: 1 });

const shadow = z.boolean().default(false);

export const ruleSchema = z.strictObject(
  {
    name: z
      .string()
      .optional()
      .describe('The name of the rule in the log and the console, such as its purpose. Default: its addresses'),
    enabled: z.boolean().default(true).describe('false: the rule is checked but does not run'),
    from: z
      .union([address, addresses, byName(variable, address)], {
        error: 'an address, a list of them, or an object of them by name',
      })
      .describe(
        'The sources of the rule: a parameter, any of a list, or named parameters: { a: "desk/a", b: "desk/b" }',
      ),
    require: z
      .enum(['all', 'any'])
      .optional()
      .describe('With named sources: run once all values are known (default), or any of them'),
    when: expression.optional().describe('Condition on `value`: the rule continues only if it is true'),
    map: expression
      .optional()
      .describe('Expression on `value` that computes the value to write. Default: the value itself'),
    pipe: z
      .array(z.unknown(), { error: 'a list of steps' })
      .default([])
      .describe('Steps that the result of `map` passes through, top to bottom'),
    to: z
      .union([address, addresses, byName(address, expression)], {
        error: "an address, a list of them, or { 'desk/a': 'value * 2', … }",
      })
      .describe('The parameter or parameters to write, or an expression for each: { "desk/a": "value * 2" }'),
    atStart: z
      .boolean()
      .default(false)
      .describe('true: the rule also runs once when it starts, with the values known then'),
    hear: z
      .enum(['changes', 'writes'])
      .default('changes')
      .describe('writes: writes that change nothing also start the rule'),
    shadow: shadow.describe('true: the rule writes nothing; the hub records what it would write'),
  },
  { error: "a rule such as { from: 'desk/a', to: 'desk/b' }" },
);

export const folderSchema = z.strictObject({
  folder: z.string().describe('Name of the folder'),
  enabled: z.boolean().default(true).describe('false: no rule in the folder runs'),
  rules: z.array(z.unknown(), { error: 'a list of rules and folders' }).default([]),
});

const about = z.strictObject({
  label: z.string().optional().describe('The display name'),
  unit: z.string().optional().describe('The unit: dB, Hz, s'),
  min: z.number().optional().describe('The minimum value'),
  max: z.number().optional().describe('The maximum value'),
  step: z.number().positive().optional().describe('The increment'),
  choices: record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .describe('All values by name: { off: 0, on: 1 }'),
  description: z.string().optional().describe('A description of the parameter in one sentence'),
  class: z.enum(valueClasses).optional().describe('state, meter or event'),
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
    describe: record(z.string(), about)
      .default({})
      .describe("Metadata of parameters, by address or glob: { 'desk/level': { label: 'Mic 1', unit: 'dB' } }"),
    shadow: shadow.describe('true: all rules of the file run in shadow'),
    instances: z.unknown().optional().describe('Instances of templates. Each is a flow file'),
  },
  { error: 'an object such as { connections: { … }, rules: [ … ] }' },
);

/** The schema for a TypeScript flow file, in which a function creates the rules. */
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

/**
 * Complete settings schemas, cached by connection type: creating and compiling a schema takes longer than checking a connection's settings.
 */
const connectionSchemas = new WeakMap<AnyConnectionType, z.ZodObject>();

/** Returns the complete settings schema of a connection type: its own settings, the common settings, and `type`. */
export function connectionSchema(type: AnyConnectionType): z.ZodObject {
  let schema = connectionSchemas.get(type);
  if (schema === undefined) {
    schema = connectionSchemaWith(type, {});
    connectionSchemas.set(type, schema);
  }
  return schema;
}

function connectionSchemaWith(type: AnyConnectionType, more: z.ZodRawShape): z.ZodObject {
  const schema = type.settingsSchema.extend({ type: z.literal(type.type), ...commonSettings, ...more });
  return schema.meta(type.settingsSchema.meta() ?? {});
}

/** Returns the JSON Schema for flow files with these connection types, for use in editors. */
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
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
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
  const [first, ...others] = [...types.values()].map((type) => connectionSchemaWith(type, each));
  const connection = z.discriminatedUnion('type', [first!, ...others]);
  const schema = flowFileSchema.extend({
    connections: record(z.string().meta({ pattern: connectionIdShape, not: { const: hubId } }), connection).default({}),
    rules: z.array(rule).default([]),
    tests: z.array(test).default([]),
    instances: z.union([instancesSchema, z.array(instancesSchema)]).optional(),
    variables: record(z.string(), z.unknown())
      .optional()
      .describe('Variables for ${…} in the file. In a template: the defaults, which an instance may override'),
  });
  return allowVariables(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
}
