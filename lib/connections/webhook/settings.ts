// The settings of a webhook connection: webhooks that the hub receives (`in`) and webhooks that it sends (`out`).

import { z } from 'zod';
import { readPath } from '../../device/payload.ts';
import { compileExpression, ExpressionMistake } from '../../expression/expression.ts';
import { describe, messageOf } from '../../model/error.ts';
import type { About } from '../../model/parameter.ts';
import { record } from '../../model/record-schema.ts';
import { convert, valueTypes } from '../../model/value.ts';
import type { InputTypes } from '../connection.ts';
import { compileTemplate, inputsSetting, type Template, templateNames } from '../message-template.ts';
import {
  durationSetting,
  integerSetting,
  parameterIdSetting,
  type SettingHint,
  type SettingMistake,
  trustSetting,
} from '../setting.ts';
import { isTimed, schemeOf, secretMistake, signatureSetting } from './signature.ts';

/** The upper bound for the maximum size of a received body, in bytes. HTTP requests have the same limit. */
export const maxHookBytes = 65_536;
/** The maximum size of a sent body and the maximum length of a URL, in bytes. */
export const maxSentBytes = 262_144;
const maxUrlLength = 2048;
const maxHooks = 1000;
const maxValues = 1000;

const text = (error = 'text') => z.string({ error });
const scalar = z.union([z.string(), z.number(), z.boolean()], { error: 'text, a number, true or false' });

/** Returns the schema for a secret. The messages never show the secret, even if it is invalid. */
const secretSetting = (what: string) =>
  text('text, { env } or { file }')
    .min(1, { error: `${what}, got an empty one` })
    .max(1024, { error: what });

const nameSetting = () =>
  z.string().regex(/^[a-z\d][a-z\d-]{0,63}$/, {
    error: ({ input }) => `expected a name of at most 64 characters a to z, 0 to 9 and -, got ${describe(input)}`,
  });

const headerNameSetting = () =>
  text('the name of a header').regex(/^[\w!#$%&'+*.^`|~-]{1,128}$/, {
    error: "the name of a header, such as 'X-Token'",
  });

const valueSchema = z.strictObject({
  type: z.enum(valueTypes, { error: 'S, B, I, F or T' }).describe('The value type; T fires'),
  path: text('a path such as "sensor.level" or "items.0.id"')
    .max(1024)
    .optional()
    .describe(
      "The path of the value in JSON, or the name of a form field; '' is the whole body; default: the name of the value",
    ),
  value: text('an expression such as "value / 10"').optional().describe('Computes the value from the received value'),
  required: z.boolean().default(false).describe('true: a delivery without this value is refused with 422'),
  on: text().optional().describe('The text that means true; for a trigger, the only text that fires it'),
  off: text().optional().describe('The text that means false'),
  label: text().optional().describe('The display name'),
  unit: text().optional().describe('The unit'),
  min: z.number().optional().describe('The minimum value'),
  max: z.number().optional().describe('The maximum value'),
  step: z.number().positive().optional().describe('The increment'),
  choices: z.record(z.string(), scalar).optional().describe('All values, by the word in the body: { off: 0, on: 1 }'),
  description: text().optional().describe('A description in one sentence'),
});

export type ValueSettings = z.output<typeof valueSchema>;

const hookSchema = z.strictObject({
  secret: secretSetting('a secret')
    .optional()
    .describe('The secret of the signature; as { env } or { file }. Set either this or `token`'),
  signature: signatureSetting()
    .default('standard')
    .describe("How the sender signs: 'standard' (Standard Webhooks), 'github', 'slack', 'stripe', or its parts"),
  tolerance: durationSetting(1000, 3_600_000)
    .default(300_000)
    .describe("How far the time of a delivery may differ from the hub's time"),
  token: secretSetting('a token').optional().describe('A token sent instead of a signature; as { env } or { file }'),
  where: z
    .union(
      [
        z.strictObject({ header: headerNameSetting().describe('The header that contains only the token') }),
        z.strictObject({ query: headerNameSetting().describe('The name of the query parameter') }),
      ],
      { error: "{ header: 'X-Token' } or { query: 'token' }" },
    )
    .optional()
    .describe('Where the sender puts the token; default: Authorization: Bearer <token>'),
  id: headerNameSetting()
    .optional()
    .describe(
      'The header with the ID of the delivery, which identifies repetitions; default: the header of `signature`',
    ),
  idPath: text('a path such as "id"').max(1024).optional().describe('The path of the delivery ID in a JSON body'),
  maxBytes: integerSetting(1, maxHookBytes, 'bytes').default(maxHookBytes).describe('The maximum size of a body'),
  perSecond: integerSetting(1, 10_000, 'per second')
    .default(10)
    .describe('The maximum number of deliveries per second; further deliveries are refused with 429'),
  values: record(parameterIdSetting, valueSchema)
    .refine((values) => Object.keys(values).length <= maxValues, { error: `expected at most ${maxValues} values` })
    .default({})
    .describe('The parameters that a delivery sets, by name: the parameter is <hook>/<name>'),
  description: text().optional().describe('A description of the sender'),
});

export type HookSettings = z.output<typeof hookSchema>;

const urlError = "an address such as 'https://example.org/hook'";

const targetSchema = z.strictObject({
  url: text(urlError)
    .max(maxUrlLength, { error: urlError })
    .refine((url) => URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol), {
      error: 'expected the address of a target with http:// or https://, got something else',
      abort: true,
    })
    .refine((url) => new URL(url).username === '' && new URL(url).password === '', {
      error: 'expected an address without credentials: use `headers`',
    })
    .describe('The address of the target'),
  method: z
    .enum(['POST', 'PUT', 'PATCH', 'DELETE', 'GET'], { error: 'POST, PUT, PATCH, DELETE or GET' })
    .default('POST')
    .describe('The method of the request'),
  type: z
    .enum(valueTypes, { error: 'S, B, I, F or T' })
    .default('T')
    .describe('The value type of the parameter that sends the webhook; its value is {value} in the body'),
  body: z
    .unknown()
    .optional()
    .describe(
      'Text, or JSON whose texts may contain {value}, {time}, the names of inputs and expressions, {= value * 2}; default: type, timestamp and data',
    ),
  contentType: text('a media type')
    .regex(/^[\x21-\x7e][\x20-\x7e]{0,254}$/, { error: "a media type such as 'application/json'" })
    .optional()
    .describe('The type of the body; default: application/json, or text/plain for text'),
  headers: record(
    headerNameSetting(),
    text().refine((value) => /^[\t\x20-\x7e\x80-\xff]{0,4096}$/.test(value), {
      error: 'expected one line of at most 4096 characters, got something else',
    }),
  )
    .default({})
    .describe('Further headers; secrets as { env } or { file }'),
  secret: secretSetting('a secret').optional().describe('The secret of the signature; as { env } or { file }'),
  signature: signatureSetting().default('standard').describe('How the hub signs; same values as in `in`'),
  description: text().optional().describe('A description of the receiver'),
});

export type TargetSettings = z.output<typeof targetSchema>;

export const settingsSchema = z.strictObject({
  in: record(nameSetting(), hookSchema)
    .refine((hooks) => Object.keys(hooks).length <= maxHooks, { error: `expected at most ${maxHooks} webhooks` })
    .default({})
    .describe('The webhooks that the hub receives, by name: POST /hub/hooks/<name>'),
  out: record(nameSetting(), targetSchema)
    .refine((targets) => Object.keys(targets).length <= maxHooks, { error: `expected at most ${maxHooks} webhooks` })
    .default({})
    .describe('The webhooks that the hub sends, by name; a write to the parameter with this name sends one'),
  inputs: inputsSetting(),
  timeout: durationSetting(100, 60_000).default(10_000).describe('How long a target may take to answer'),
  giveUpAfter: durationSetting(1000, 7 * 86_400_000)
    .default(3_600_000)
    .describe('How long the hub tries to deliver a message'),
  tls: trustSetting(
    'How the certificate of https:// is verified; default: as browsers do',
    'SHA-256 fingerprint of the only certificate to trust',
  ),
  simulate: z.boolean().default(false).describe('true: nothing is sent, and every message counts as delivered'),
});

export type WebhookSettings = z.output<typeof settingsSchema>;

/** Returns the metadata for a value in the settings. */
export function aboutOf({ label, unit, min, max, step, choices, description }: ValueSettings): About {
  return Object.fromEntries(
    Object.entries({ label, unit, min, max, step, choices, description }).filter(([, one]) => one !== undefined),
  );
}

/** Returns all mistakes in settings that match the schema. */
export function mistakesOf(settings: WebhookSettings, inputTypes: InputTypes): readonly SettingMistake[] {
  const found: SettingMistake[] = [];
  const hooks = Object.entries(settings.in);
  const targets = Object.entries(settings.out);
  if (hooks.length + targets.length === 0)
    found.push({ path: [], message: 'expected at least one webhook in `in` or `out`' });
  const ids = new Set<string>();
  for (const [name, hook] of hooks) {
    ids.add(name);
    for (const id of Object.keys(hook.values)) ids.add(`${name}/${id}`);
    found.push(...hookMistakes(name, hook));
  }
  for (const [name, target] of targets) {
    for (const id of [name, ...['delivered', 'failed', 'dropped', 'pending', 'online'].map((one) => `${name}/${one}`)])
      if (ids.has(id))
        found.push({ path: ['out', name], message: `expected each Parameter ID once, got "${id}" in \`in\` as well` });
    const { secret, signature } = target;
    const message = secret === undefined ? undefined : secretMistake(schemeOf(signature), secret);
    if (message !== undefined) found.push({ path: ['out', name, 'secret'], message });
    compileBody(name, target, inputTypes, (mistake) => found.push(mistake));
    if (target.body !== undefined && target.method === 'GET')
      found.push({ path: ['out', name, 'body'], message: 'expected no body with the method GET' });
  }
  return found;
}

/** Compiles the template for a target's body. Returns undefined if the target's requests have no body. */
export function compileBody(
  name: string,
  { body, method, type }: TargetSettings,
  inputTypes: InputTypes,
  add: (mistake: SettingMistake) => void,
): Template | undefined {
  if (body === undefined && (method === 'GET' || method === 'DELETE')) return undefined;
  const data = type === 'T' ? {} : { value: '{value}' };
  return compileTemplate(body ?? { type: name, timestamp: '{time}', data }, templateNames(type, inputTypes), add, [
    'out',
    name,
    'body',
  ]);
}

function hookMistakes(name: string, hook: HookSettings): SettingMistake[] {
  const { secret, token, signature, where, values } = hook;
  const path = ['in', name];
  const found: SettingMistake[] = [];
  const scheme = schemeOf(signature);
  if (secret === undefined && token === undefined)
    found.push({
      path,
      message: 'expected a secret or a token, because anyone could call the webhook without one, got neither',
    });
  if (secret !== undefined && token !== undefined)
    found.push({ path, message: 'expected either `secret` or `token`, got both' });
  if (where !== undefined && token === undefined)
    found.push({ path: [...path, 'where'], message: 'expected `token`, because `where` is set' });
  const message = secret === undefined ? undefined : secretMistake(scheme, secret);
  if (message !== undefined) found.push({ path: [...path, 'secret'], message });
  for (const [id, value] of Object.entries(values)) found.push(...valueMistakes([...path, 'values', id], value));
  return found;
}

function valueMistakes(path: readonly string[], { type, value, on, off, choices }: ValueSettings): SettingMistake[] {
  const found: SettingMistake[] = [];
  for (const [word, one] of [
    ['on', on],
    ['off', off],
  ] as const)
    if (one !== undefined && type !== 'B' && !(type === 'T' && word === 'on'))
      found.push({ path: [...path, word], message: `expected no ${word} with the value type ${type}` });
  for (const [word, one] of Object.entries(choices ?? {}))
    try {
      convert(type, one);
    } catch (error) {
      found.push({ path: [...path, 'choices', word], message: messageOf(error) });
    }
  try {
    if (value !== undefined) compileExpression(value, { value: undefined });
  } catch (error) {
    const offset = error instanceof ExpressionMistake ? error.offset : undefined;
    found.push({ path: [...path, 'value'], message: messageOf(error), offset });
  }
  return found;
}

/** Returns warnings about settings that work but are open to abuse. */
export function hintsOf(settings: WebhookSettings): readonly SettingHint[] {
  const hints: SettingHint[] = [];
  const names = new Map<string, string>();
  for (const [name, { secret, token }] of Object.entries(settings.in)) {
    const own = secret ?? token ?? '';
    const other = names.get(own);
    names.set(own, name);
    if (other !== undefined)
      hints.push({
        path: ['in', name],
        message: `a delivery to ${other} is valid here as well, because both have the same secret`,
      });
  }
  for (const [name, { secret, token, signature, id, idPath, where }] of Object.entries(settings.in)) {
    const scheme = schemeOf(signature);
    const hasId = id !== undefined || idPath !== undefined;
    if (secret !== undefined && !isTimed(scheme) && scheme.isUnique !== true && !hasId && scheme.id === undefined)
      hints.push({
        path: ['in', name, 'signature'],
        message: 'a recorded delivery can be sent again, because the signature covers neither a time nor an ID',
      });
    if (token !== undefined && where !== undefined && 'query' in where)
      hints.push({
        path: ['in', name, 'where'],
        message: 'proxies and senders log request addresses, which contain the token',
      });
  }
  for (const [name, { url, secret, headers }] of Object.entries(settings.out)) {
    const { protocol, hostname } = new URL(url);
    const isLocal = hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
    if (protocol === 'http:' && !isLocal && (secret !== undefined || Object.keys(headers).length > 0))
      hints.push({
        path: ['out', name, 'url'],
        message: 'http:// is not encrypted: others on the network can read it',
      });
  }
  return hints;
}

/** Returns the steps of the path to a value in the body. */
export function pathOf(name: string, { path }: Pick<ValueSettings, 'path'>): readonly string[] {
  return readPath(path ?? name);
}
