// The settings of a hosted driver module: the module, its config, the hosts that it may reach, and which of its variables, feedbacks and
// actions are parameters.

import { isIP } from 'node:net';
import { z } from 'zod';
import { fillValue } from '../../device/payload.ts';
import { parameterIdMistake } from '../../model/address.ts';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import { record } from '../../model/record-schema.ts';
import { type Value, valueTypes } from '../../model/value.ts';
import { lossSetting } from '../loss.ts';
import { durationSetting, integerSetting, type SettingMistake } from '../setting.ts';

/** The maximum number of values and the maximum number of writes of a connection. */
export const maxParameters = 2000;

const jsonExpected = 'text, a number, true, false, null, or a list of these';
const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const jsonSetting = z.union([scalar, z.array(scalar).max(1000)], { error: jsonExpected });
const optionsSetting = (about: string) =>
  record(z.string().meta({ description: 'The name of an option' }), jsonSetting)
    .default({})
    .describe(about);
const text = (about: string) => z.string({ error: 'text' }).min(1).max(500).optional().describe(about);

const hostExpected = 'a host name, an IP address, or a network such as "10.0.0.0/24"';
const hostSetting = z.string({ error: hostExpected }).refine(isHost, {
  error: ({ input }) => `expected ${hostExpected}, got ${JSON.stringify(input)}`,
});

function isHost(host: string): boolean {
  const [address = '', bits, ...more] = host.split('/');
  const family = isIP(address);
  if (bits === undefined) return family !== 0 || /^[\da-z_-]+(?:\.[\da-z_-]+)*\.?$/i.test(host);
  return family !== 0 && more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32);
}

const valueSchema = z
  .strictObject({
    variable: text('A variable of the module'),
    feedback: text('A feedback of the module'),
    options: optionsSetting('The options of the feedback'),
    type: z
      .enum(['S', 'B', 'I', 'F'], { error: 'one of S, B, I, F' })
      .optional()
      .describe('The value type; default: B for a feedback, S for a variable'),
    label: text('The display name'),
    unit: text('The unit'),
  })
  .refine(({ variable, feedback }) => (variable === undefined) !== (feedback === undefined), {
    error: 'expected exactly one of `variable` and `feedback`',
  });

const writeSchema = z.strictObject({
  action: z.string({ error: 'the ID of an action' }).min(1).max(500).describe('An action of the module'),
  options: optionsSetting('The options of the action; "{value}" is the written value'),
  type: z
    .enum(valueTypes, { error: `one of ${valueTypes.join(', ')}` })
    .optional()
    .describe('The value type; default: the type of the value with the same ID, or T'),
  confirm: text('The ID of the value that confirms the write, which is always the same ID'),
  label: text('The display name'),
});

const idSetting = (about: string) => z.string().meta({ description: about });

export const settingsSchema = z.strictObject({
  module: z.string({ error: 'a path' }).min(1).describe('The path of the driver module: a .tgz file or a folder'),
  config: record(idSetting('The ID of a config field'), jsonSetting)
    .default({})
    .describe("The module's config, with all of its fields; null: no value"),
  secrets: record(idSetting('The ID of a secret field'), jsonSetting)
    .default({})
    .describe('The secret fields of the config'),
  allowHosts: z
    .array(hostSetting, { error: `a list of ${hostExpected}` })
    .max(100)
    .default([])
    .describe('The hosts to which the module may connect; default: none'),
  values: record(idSetting('The Parameter ID'), valueSchema)
    .default({})
    .describe('Variables and feedbacks of the module as parameters, by ID'),
  writes: record(idSetting('The Parameter ID'), writeSchema)
    .default({})
    .describe('Actions of the module as parameters, by ID'),
  confirmTimeout: durationSetting(100, 600_000)
    .default(5000)
    .describe('How long the module may take to report a written value'),
  memory: integerSetting(32, 4096, 'MiB').default(128).describe('The JavaScript heap that the module may use, in MiB'),
  onLoss: lossSetting('the device of the module'),
  simulate: z.boolean().default(false).describe('true: run without the module; every write is confirmed immediately'),
});

export type CompanionSettings = z.output<typeof settingsSchema>;

/**
 * Declares values as read-only parameters and writes as write-only parameters. A value and a write with the same ID become a single
 * read-write parameter.
 */
export function declarationsOf({ values, writes }: CompanionSettings): ParameterDeclaration[] {
  const read = Object.entries(values).map(
    ([id, { type, feedback, label, unit }]): ParameterDeclaration => ({
      id,
      type: type ?? (feedback === undefined ? 'S' : 'B'),
      ...(Object.hasOwn(writes, id)
        ? { access: 'read-write' as const, isConfirmed: true }
        : { access: 'read-only' as const }),
      about: { label: label ?? writes[id]?.label, unit },
    }),
  );
  const written = Object.entries(writes)
    .filter(([id]) => !Object.hasOwn(values, id))
    .map(([id, { type = 'T', label }]): ParameterDeclaration => ({ id, type, access: 'write-only', about: { label } }));
  return [...read, ...written];
}

export function mistakesOf({ values, writes }: CompanionSettings): SettingMistake[] {
  const mistakes: SettingMistake[] = [];
  for (const [part, all] of Object.entries({ values, writes })) {
    if (Object.keys(all).length > maxParameters)
      mistakes.push({ path: [part], message: `expected at most ${maxParameters} parameters` });
    for (const id of Object.keys(all)) {
      const message = parameterIdMistake(id);
      if (message !== undefined) mistakes.push({ path: [part, id], message });
    }
  }
  for (const [id, { confirm, type }] of Object.entries(writes)) {
    const value = Object.hasOwn(values, id) ? values[id] : undefined;
    if (confirm !== undefined && confirm !== id)
      mistakes.push({
        path: ['writes', id, 'confirm'],
        message: `expected "${id}": a write and the value that confirms it must have the same ID`,
      });
    else if (confirm !== undefined && value === undefined)
      mistakes.push({ path: ['writes', id, 'confirm'], unknown: 'value', name: id, known: Object.keys(values) });
    const expected = value === undefined ? undefined : (value.type ?? (value.feedback === undefined ? 'S' : 'B'));
    if (expected !== undefined && type !== undefined && type !== expected)
      mistakes.push({
        path: ['writes', id, 'type'],
        message: `expected ${expected}, the type of the value with the same ID, or no \`type\``,
      });
  }
  return mistakes;
}

/** Returns the options with the written value in place of `{value}`; an option that consists only of `{value}` takes the value's type. */
export function filledOptions(options: Readonly<Record<string, unknown>>, value: Value): Record<string, unknown> {
  return fillValue(options, value) as Record<string, unknown>;
}
