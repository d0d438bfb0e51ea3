// The settings of a Home Assistant connection: the server, the entities that become parameters, and the discovery.

import { z } from 'zod';
import { fillValue } from '../../device/payload.ts';
import { type Transport, wsTransport } from '../../device/transport.ts';
import { parameterIdMistake } from '../../model/address.ts';
import { describe } from '../../model/error.ts';
import { record } from '../../model/record-schema.ts';
import { type Value, type ValueType, valueTypes } from '../../model/value.ts';
import { expectSetting, readExpected } from '../expected.ts';
import { lossSetting } from '../loss.ts';
import {
  durationSetting,
  integerSetting,
  parameterIdSetting,
  type ResolvePath,
  readTlsFile,
  type SettingMistake,
  trustSetting,
} from '../setting.ts';
import { type Call, eventPart, type Part, partOfAttribute, partsOf } from './kinds.ts';

/** The maximum size of a received message, in bytes. The complete state of a large house arrives in a single message. */
export const maxMessageBytes = 16 * 1_048_576;
/** The maximum number of parameters in the setting `values`. */
export const maxValues = 10_000;

const urlError = "the address of Home Assistant such as 'http://homeassistant.local:8123' or 'https://home.example'";
const urlShape = '^(https?|wss?)://[^\\s@?#]+$';

function urlSetting() {
  return z
    .string({ error: urlError })
    .regex(new RegExp(urlShape), { error: urlError, abort: true })
    .refine((url) => URL.canParse(url), { error: ({ input }) => `expected ${urlError}, got ${describe(input)}` });
}

const entityShape = /^[a-z0-9_]+\.[a-z0-9_]+$/;
const entityError = "an entity such as 'light.kitchen', or one of its parts such as 'light.kitchen/brightness'";
const entitySetting = () => z.string({ error: entityError });
const serviceError = "a service action such as 'light.turn_on'";
const serviceSetting = () =>
  z.string({ error: serviceError }).regex(/^[a-z0-9_]+\.[a-z0-9_]+$/, { error: serviceError });
const text = z.string({ error: 'text' });

const valueSchema = z.union(
  [
    entitySetting(),
    z
      .strictObject({
        entity: entitySetting().optional().describe('The entity or one of its parts'),
        attribute: text.optional().describe('The attribute that contains the value; default: the state'),
        type: z
          .enum(valueTypes, { error: 'S, B, I, F or T' })
          .optional()
          .describe('The value type, if the entity does not determine it'),
        service: z
          .union([serviceSetting(), z.strictObject({ on: serviceSetting(), off: serviceSetting() })], {
            error: `${serviceError}, or { on, off } with two of them`,
          })
          .optional()
          .describe('The service action that a write calls, or { on, off } for a boolean'),
        data: record(z.string(), z.unknown(), { error: "an object such as { brightness_pct: '{value}' }" })
          .optional()
          .describe('The data of the service action; {value} stands for the written value'),
      })
      .refine(({ entity, service }) => entity !== undefined || service !== undefined, {
        error: 'expected entity, service, or both',
      }),
  ],
  { error: `${entityError}, or { entity, attribute, type, service, data }` },
);

export type ValueSettings = Exclude<z.output<typeof valueSchema>, string>;

const strings = (error: string) => z.array(z.string({ error }).min(1), { error: `a list: ${error}` }).max(1000);

export const settingsSchema = z.strictObject({
  url: urlSetting().describe('The address of Home Assistant: http:// or https://, and the port'),
  hosts: z
    .array(urlSetting(), { error: 'a list of addresses' })
    .max(16)
    .default([])
    .describe('Further addresses of the same Home Assistant, tried in turn when the address in url does not answer'),
  token: z
    .string({ error: 'a long-lived access token, as { env } or { file }' })
    .min(1, { error: 'a long-lived access token, as { env } or { file }' })
    .describe('A long-lived access token, as { env } or { file }'),
  tls: trustSetting(
    'How https:// is verified; default: as in browsers',
    'SHA-256 fingerprint of the only certificate to trust',
  ),
  values: record(parameterIdSetting, valueSchema)
    .default({})
    .describe("The parameters, by Parameter ID: { lamp: 'light.kitchen', level: 'light.kitchen/brightness' }"),
  discover: z
    .strictObject({
      include: strings("globs of entities such as 'light.*'")
        .default([])
        .describe('Globs for the entities that become parameters'),
      exclude: strings("globs of entities such as 'sensor.*_signal'")
        .default([])
        .describe('Globs for entities that do not become parameters'),
      areas: strings("area IDs such as 'kitchen'")
        .default([])
        .describe('The IDs of areas whose entities become parameters'),
      labels: strings("label IDs such as 'studio'")
        .default([])
        .describe('The IDs of labels whose entities become parameters'),
    })
    .optional()
    .describe('Entities that become parameters automatically: light.kitchen, light.kitchen/brightness'),
  expect: expectSetting(
    'Discovered parameters that flow files may name before Home Assistant reports them: light.kitchen,B; or a file written by `patchbay types --of`',
  ),
  maxDiscovered: integerSetting(1, 100_000).default(20_000).describe('The maximum number of discovered parameters'),
  connectTimeout: durationSetting(100, 60_000).default(5000).describe('How long connecting and signing in may take'),
  idleTimeout: durationSetting(300, 600_000)
    .default(15_000)
    .describe('How long Home Assistant may be silent. The hub sends a ping after each third of this time'),
  confirmTimeout: durationSetting(100, 600_000)
    .default(5000)
    .describe('How long the entity may take to report a written value after its service action has ended'),
  onLoss: lossSetting('Home Assistant'),
  simulate: z
    .boolean()
    .default(false)
    .describe('true: run without Home Assistant; every write is confirmed immediately'),
});

export type HomeAssistantSettings = z.output<typeof settingsSchema>;

/** A parameter that the settings define. */
export interface Item {
  readonly id: string;
  /** The entity; undefined if the parameter only calls a service action. */
  readonly entityId: string | undefined;
  /** The name of the part; undefined for an attribute that does not belong to a part. */
  readonly name: string;
  readonly part: Part;
  readonly type: ValueType;
}

const written = new WeakMap<
  object,
  { readonly items: readonly Item[]; readonly mistakes: readonly SettingMistake[] }
>();

/** Returns the parameters in the setting `values`, and the errors in it. */
export function itemsOf({ values }: HomeAssistantSettings): {
  readonly items: readonly Item[];
  readonly mistakes: readonly SettingMistake[];
} {
  const known = written.get(values);
  if (known !== undefined) return known;
  const items: Item[] = [];
  const mistakes: SettingMistake[] = [];
  const entries = Object.entries(values);
  if (entries.length > maxValues)
    mistakes.push({ path: ['values'], message: `expected at most ${maxValues} parameters` });
  for (const [id, value] of entries.slice(0, maxValues)) {
    const item = readItem(id, typeof value === 'string' ? { entity: value } : value);
    if ('id' in item) items.push(item);
    else mistakes.push({ ...item, path: ['values', id, ...(typeof value === 'string' ? [] : item.path)] });
  }
  const result = { items, mistakes };
  written.set(values, result);
  return result;
}

/** Splits a string such as `light.kitchen/brightness` into the entity and the part; undefined if the string does not name an entity. */
export function splitEntity(text: string): readonly [entityId: string, name: string] | undefined {
  const slash = text.indexOf('/');
  const [entityId, name] = slash < 0 ? [text, ''] : [text.slice(0, slash), text.slice(slash + 1)];
  return entityShape.test(entityId) && entityId.length <= 255 ? [entityId, name] : undefined;
}

export function domainOf(entityId: string): string {
  return entityId.slice(0, entityId.indexOf('.'));
}

function readItem(id: string, { entity, attribute, type, service, data }: ValueSettings): Item | SettingMistake {
  const call = service === undefined ? undefined : callOf(service, data ?? {});
  if (data !== undefined && call === undefined)
    return { path: ['data'], message: 'expected `service`, because `data` is set' };
  if (entity === undefined) {
    if (attribute !== undefined)
      return { path: ['attribute'], message: 'expected `entity`, because `attribute` is set' };
    const usual = typeof service === 'object' ? 'B' : JSON.stringify(data ?? {}).includes('{value}') ? 'S' : 'T';
    const part: Part = { type: type ?? usual, isWriteOnly: true, call: call! };
    return { id, entityId: undefined, name: '', part, type: part.type };
  }
  const split = splitEntity(entity);
  if (split === undefined) return { path: ['entity'], message: `expected ${entityError}, got ${describe(entity)}` };
  const [entityId, name] = split;
  const domain = domainOf(entityId);
  const parts = partsOf(domain);
  if (parts === undefined) return { path: ['entity'], message: `a ${domain} has no value that a parameter could hold` };
  const found = findPart(domain, parts, name, attribute, type);
  if ('path' in found) return found;
  const [ownName, own] = found;
  const part = call === undefined ? own : { ...own, call };
  return { id, entityId, name: ownName, part: type === undefined ? part : { ...part, type }, type: type ?? part.type };
}

function findPart(
  domain: string,
  parts: Readonly<Record<string, Part>>,
  name: string,
  attribute: string | undefined,
  type: ValueType | undefined,
): readonly [name: string, part: Part] | SettingMistake {
  if (attribute !== undefined) {
    if (name !== '') return { path: ['attribute'], message: 'expected no `attribute`, because `entity` names a part' };
    const [partName, part] = partOfAttribute(domain, attribute) ?? [];
    if (part !== undefined && (type === undefined || type === part.type)) return [partName!, part];
    if (type === undefined)
      return {
        path: ['attribute'],
        message: `expected \`type\`, because the hub does not know the attribute ${describe(attribute)} of a ${domain}`,
      };
    return [attribute, { type, attribute }];
  }
  if (Object.hasOwn(parts, name)) {
    const part = parts[name]!;
    const canBeOther = part.read === undefined && part.fired === undefined && part.isWriteOnly !== true;
    return type === undefined || type === part.type || canBeOther
      ? [name, part]
      : { path: ['type'], message: `expected ${part.type}, which is the type of this value, or no \`type\`` };
  }
  if (domain === 'event') return [name, eventPart(name)];
  return {
    path: ['entity'],
    unknown: `part of a ${domain}`,
    name,
    known: Object.keys(parts).filter((one) => one !== ''),
  };
}

/** Returns the call of a service action, with the written value in place of `{value}`. */
function callOf(service: NonNullable<ValueSettings['service']>, data: Readonly<Record<string, unknown>>) {
  return (value: Value): Call => {
    const name = typeof service === 'string' ? service : value === true ? service.on : service.off;
    return { service: name, data: fillValue(data, value) as Record<string, unknown> };
  };
}

/** Reads the setting `expect`. */
export function expectedOf(settings: HomeAssistantSettings, resolvePath: ResolvePath) {
  const taken = new Set(Object.keys(settings.values));
  return readExpected(settings.expect, resolvePath, (id) => {
    if (taken.has(id)) return `expected a parameter that \`values\` does not define, got ${describe(id)}`;
    return splitEntity(id) === undefined ? `expected ${entityError}, got ${describe(id)}` : parameterIdMistake(id);
  });
}

/** Creates the transports to Home Assistant. Errors: `cannot-start` if a certificate cannot be read. */
export function createTransports(
  { url, hosts, tls }: HomeAssistantSettings,
  resolvePath: ResolvePath,
): readonly Transport[] {
  const target = { ca: readTlsFile('caFile', tls?.caFile, resolvePath), fingerprint: tls?.fingerprint };
  return [url, ...hosts].map((one) => {
    const address = one.replace(/^http/, 'ws').replace(/\/+$/, '');
    const whole = address.endsWith('/api/websocket') ? address : `${address}/api/websocket`;
    const transport = wsTransport(whole, [], whole.startsWith('wss:') ? target : undefined, {
      maxBytes: maxMessageBytes,
    });
    return { ...transport, name: transport.name.replace(/\/api\/websocket$/, '') };
  });
}
