// The settings of a DMX connection, and the mapping of channels to parameters.

import { isIPv4 } from 'node:net';
import { z } from 'zod';
import { parameterIdMistake } from '../../model/address.ts';
import { describe, HubError } from '../../model/error.ts';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import { record } from '../../model/record-schema.ts';
import { convert, type Value, type ValueType } from '../../model/value.ts';
import { combinationsOf, filled, readTemplate } from '../id-template.ts';
import { lossSetting } from '../loss.ts';
import { networksSetting, placeSetting } from '../places.ts';
import { durationSetting, integerSetting, type SettingMistake } from '../setting.ts';
import { artNet, type DmxProtocol, maxChannels, sacn } from './packets.ts';

/** The maximum number of parameters, and the maximum number of universes in each direction. */
export const maxParameters = 65_536;
export const maxUniverses = 128;

const forms = ['byte', 'word', 'percent', 'switch'] as const;

const parameterSchema = z.strictObject({
  universe: integerSetting(0, 63_999).describe('The universe: 1..63999 over sACN, 0..32767 over Art-Net'),
  channel: integerSetting(1, maxChannels).describe('The first channel'),
  step: integerSetting(1, maxChannels)
    .default(1)
    .describe('In a template such as par/{n:1..8}, the distance between the channels of consecutive parameters'),
  direction: z
    .enum(['out', 'in'], { error: 'out or in' })
    .default('out')
    .describe('out: the hub sends the parameter; in: the hub receives the parameter'),
  as: z
    .enum(forms, { error: `one of ${forms.join(', ')}` })
    .default('byte')
    .describe(
      'byte: 0..255; word: 0..65535 in two channels, coarse and fine; percent: 0..100; switch: true from 128 upwards',
    ),
  label: z.string({ error: 'text' }).optional().describe('The display name'),
  description: z.string({ error: 'text' }).optional().describe('The purpose'),
});

type ParameterSettings = z.output<typeof parameterSchema>;

export const settingsSchema = z.strictObject({
  protocol: z.enum(['sacn', 'art-net'], { error: 'sacn or art-net' }).describe('The protocol: sACN (E1.31) or Art-Net'),
  interface: z
    .string({ error: 'an IPv4 address of this machine' })
    .refine((ip) => ip === '' || isIPv4(ip), {
      error: ({ input }) => `expected an IPv4 address of this machine, got ${JSON.stringify(input)}`,
    })
    .default('')
    .describe("The hub's IPv4 address on the lighting network; default: chosen by the system"),
  to: z
    .array(
      z.union([z.string().refine((ip) => isIPv4(ip), { error: 'an IPv4 address' }), placeSetting()], {
        error: 'an IPv4 address, or host:port',
      }),
      {
        error: 'a list of IPv4 addresses',
      },
    )
    .max(64)
    .default([])
    .describe(
      'The only receivers to which the hub sends; default: sACN by multicast, Art-Net to the nodes that report the universe',
    ),
  port: integerSetting(0, 65_535)
    .optional()
    .describe('The UDP port; 0: any free port; default: 5568 for sACN, 6454 for Art-Net'),
  name: z
    .string({ error: 'text' })
    .min(1)
    .max(63)
    .default('Patchbay')
    .describe('The name under which the hub appears to receivers and nodes'),
  priority: integerSetting(0, 200).default(100).describe('The priority of the values that the hub sends over sACN'),
  rate: integerSetting(1, 44).default(44).describe('The maximum number of packets per second for each universe'),
  allowFrom: networksSetting('Who may send: addresses and networks. Default: everyone'),
  idleTimeout: durationSetting(500)
    .optional()
    .describe('How long a source may be silent; default: 2.5 s over sACN, 10 s over Art-Net'),
  onLoss: lossSetting('the last source of a universe'),
  parameters: record(
    z.string().meta({ description: 'A Parameter ID; {n:1..8} stands for several IDs' }),
    parameterSchema,
  )
    .default({})
    .describe('The parameters, by ID, with their channels'),
  simulate: z.boolean().default(false).describe('true: run without a network'),
});

export type DmxSettings = z.output<typeof settingsSchema>;

/** A parameter and the DMX channels for its value. */
export interface Fixture {
  readonly id: string;
  readonly type: ValueType;
  readonly settings: ParameterSettings;
  readonly universe: number;
  /** The index of the first channel in the universe, starting at 0. */
  readonly at: number;
}

export function protocolOf({ protocol }: DmxSettings): DmxProtocol {
  return protocol === 'sacn' ? sacn : artNet;
}

const compiled = new WeakMap<object, { readonly fixtures: readonly Fixture[]; readonly mistakes: SettingMistake[] }>();

/** Returns the parameters and all errors in the settings. The result is cached for each settings object. */
export function fixturesOf(settings: DmxSettings) {
  const known = compiled.get(settings.parameters);
  if (known !== undefined) return known;
  const fixtures: Fixture[] = [];
  const mistakes: SettingMistake[] = [];
  const used = new Map<string, string>();
  for (const [id, one] of Object.entries(settings.parameters)) {
    const message = addFixtures(id, one, settings, fixtures, used);
    if (message !== undefined) mistakes.push({ path: ['parameters', id, ...message.path], message: message.text });
    if (fixtures.length > maxParameters) {
      mistakes.push({ path: ['parameters'], message: `expected at most ${maxParameters} parameters` });
      break;
    }
  }
  for (const direction of ['in', 'out']) {
    const universes = new Set(fixtures.flatMap((one) => (one.settings.direction === direction ? [one.universe] : [])));
    if (universes.size > maxUniverses)
      mistakes.push({
        path: ['parameters'],
        message: `expected at most ${maxUniverses} universes, got ${universes.size}`,
      });
  }
  const result = { fixtures: mistakes.length === 0 ? fixtures : [], mistakes };
  compiled.set(settings.parameters, result);
  return result;
}

/** Adds the parameters for a template. Returns the first mistake, or undefined if there is none. */
function addFixtures(
  id: string,
  settings: ParameterSettings,
  { protocol }: DmxSettings,
  fixtures: Fixture[],
  used: Map<string, string>,
): { readonly path: readonly string[]; readonly text: string } | undefined {
  const template = readTemplate(id, true);
  if (typeof template === 'string') return { path: [], text: template };
  const { universe, channel, step, as, direction } = settings;
  const [least, most] = (protocol === 'sacn' ? sacn : artNet).universes;
  if (universe < least || universe > most)
    return { path: ['universe'], text: `expected a universe ${least}..${most} over ${protocol}, got ${universe}` };
  const width = as === 'word' ? 2 : 1;
  let at = channel - 1;
  for (const values of combinationsOf(template)) {
    const ownId = filled(template, values);
    const wrong = parameterIdMistake(ownId);
    if (wrong !== undefined) return { path: [], text: wrong };
    if (at + width > maxChannels)
      return {
        path: ['channel'],
        text: `expected channels up to ${maxChannels}, but ${ownId} would reach channel ${at + width}`,
      };
    if (fixtures.length > maxParameters) return undefined;
    const key = `parameter ${ownId}`;
    if (used.has(key)) return { path: [], text: `expected each parameter once, got ${describe(ownId)} twice` };
    used.set(key, ownId);
    for (let place = at; direction === 'out' && place < at + width; place++) {
      const taken = used.get(`${universe}/${place}`);
      if (taken !== undefined)
        return {
          path: ['channel'],
          text: `expected a free channel for ${ownId}, but ${taken} has channel ${place + 1}`,
        };
      used.set(`${universe}/${place}`, ownId);
    }
    fixtures.push({ id: ownId, type: typeOf(as), settings, universe, at });
    at += step;
  }
  return undefined;
}

function typeOf(as: ParameterSettings['as']): ValueType {
  return as === 'percent' ? 'F' : as === 'switch' ? 'B' : 'I';
}

export function declarationOf(fixture: Fixture): ParameterDeclaration {
  const { id, type, settings, universe } = fixture;
  const { label, description, direction, as } = settings;
  const range = as === 'switch' ? {} : { min: 0, max: mostOf(as), ...(as === 'percent' && { unit: '%' }) };
  return {
    id,
    type,
    access: direction === 'in' ? 'read-only' : 'read-write',
    about: { ...range, ...(label !== undefined && { label }), ...(description !== undefined && { description }) },
    ...(direction === 'in'
      ? { device: deviceOf(universe) }
      : { accept: (input: unknown) => acceptedValue(fixture, input), defaultValue: type === 'B' ? false : 0 }),
  };
}

/** Returns the device name of a received universe. Parameters with the same device become stale together. */
export function deviceOf(universe: number): string {
  return `universe ${universe}`;
}

function mostOf(as: ParameterSettings['as']): number {
  return as === 'percent' ? 100 : as === 'word' ? 65_535 : 255;
}

/** Converts the input of a write to a valid value. Errors: `not-convertible`, `out-of-range`. */
function acceptedValue({ type, settings: { as } }: Fixture, input: unknown): Value {
  const value = convert(type, input);
  if (typeof value === 'number' && (value < 0 || value > mostOf(as)))
    throw new HubError('out-of-range', `expected a number 0..${mostOf(as)}, got ${describe(input)}`);
  return value;
}

/** Writes a value to its channels. Returns whether any channel has changed. */
export function writeChannels({ at, settings: { as } }: Fixture, value: Value, channels: Uint8Array): boolean {
  const number = typeof value === 'boolean' ? (value ? 255 : 0) : Number(value);
  const raw = as === 'percent' ? Math.round((number * 255) / 100) : number;
  const [first, second] = as === 'word' ? [raw >> 8, raw & 255] : [raw, undefined];
  const isSame = channels[at] === first && (second === undefined || channels[at + 1] === second);
  if (isSame) return false;
  channels[at] = first;
  if (second !== undefined) channels[at + 1] = second;
  return true;
}

/** Reads a parameter's value from its channels. */
export function readChannels({ at, settings: { as } }: Fixture, channels: Uint8Array): Value {
  const first = channels[at]!;
  if (as === 'byte') return first;
  if (as === 'switch') return first >= 128;
  return as === 'word' ? first * 256 + channels[at + 1]! : Math.round(first / 0.255) / 10;
}
