// The settings of a MIDI connection, and the mapping of messages to parameters.

import { z } from 'zod';
import { parameterIdMistake } from '../../model/address.ts';
import { describe, HubError } from '../../model/error.ts';
import type { About, ParameterDeclaration } from '../../model/parameter.ts';
import { record } from '../../model/record-schema.ts';
import { convert, type Value, type ValueType } from '../../model/value.ts';
import { combinationsOf, filled, readTemplate } from '../id-template.ts';
import { lossSetting } from '../loss.ts';
import { placeSetting } from '../places.ts';
import { durationSetting, integerSetting, type SettingMistake } from '../setting.ts';
import { type Control, type RealTime, realTimeBytes } from './messages.ts';

/** The maximum number of parameters. */
export const maxParameters = 20_000;
/** The maximum length of a system exclusive message, in bytes. */
export const maxSysexBytes = 8192;

const portError = "the name of a MIDI port such as 'X-TOUCH' or 'nanoKONTROL*', or { in, out }";
const name = () => z.string({ error: portError }).min(1, { error: portError }).max(200);
const pathError = "the path of a MIDI device such as '/dev/snd/midiC1D0', or { in, out }";
const path = () => z.string({ error: pathError }).min(1, { error: pathError });

/** A number, or a template such as '{n}'. */
const numberSetting = (least: number, most: number) =>
  z.union([integerSetting(least, most), z.string().regex(/^[^{}]*(?:\{\w+\}[^{}]*)+$/)], {
    error: `integer ${least}..${most}, or a template such as '{n}'`,
  });

const hexPattern = /^(?:[\da-f]{2}|\?\?|\s)+$/i;
const sysexError =
  "bytes in hex from F0 to F7 such as 'F0 7F ?? 06 02 F7', where ?? is any byte; or true for all messages";

const parameterSchema = z.strictObject({
  note: numberSetting(0, 127).optional().describe('The number of a note: 60 is middle C'),
  control: numberSetting(0, 127).optional().describe('The number of a control change'),
  nrpn: numberSetting(0, 16_383).optional().describe('The number of a non-registered parameter (NRPN)'),
  rpn: numberSetting(0, 16_383).optional().describe('The number of a registered parameter (RPN)'),
  keyPressure: numberSetting(0, 127).optional().describe('The number of the note of a polyphonic key pressure'),
  bend: z.literal(true, { error: 'true' }).optional().describe('true: the pitch bend, 0..16383'),
  program: z.literal(true, { error: 'true' }).optional().describe('true: the program change, 0..127'),
  pressure: z.literal(true, { error: 'true' }).optional().describe('true: the channel pressure, 0..127'),
  sysex: z
    .union([z.literal(true), z.string().regex(hexPattern, { error: sysexError })], { error: sysexError })
    .optional()
    .describe('A system exclusive message in hex, as a trigger; true: all such messages as text'),
  realTime: z
    .enum(Object.keys(realTimeBytes) as RealTime[], { error: `one of ${Object.keys(realTimeBytes).join(', ')}` })
    .optional()
    .describe('A real-time message as a trigger: clock, start, continue, stop, reset'),
  channel: numberSetting(1, 16).default(1).describe('The channel, 1..16'),
  bits: z
    .union([z.literal(7), z.literal(14)], { error: '7 or 14' })
    .optional()
    .describe('The size of a control change, an RPN or an NRPN in bits; default: 7 for a control change, otherwise 14'),
  range: z
    .tuple([z.number(), z.number()], { error: 'two numbers such as [0, 1]' })
    .refine(([from, to]) => from !== to, { error: 'expected two different numbers' })
    .optional()
    .describe('The values at both ends; default: the numbers in the messages'),
  as: z
    .enum(['switch', 'value', 'trigger'], { error: 'switch, value or trigger' })
    .optional()
    .describe(
      'switch: true or false; value: a number; trigger: fires when the number is greater than 0. Default: switch for a note, otherwise value',
    ),
  on: integerSetting(0, 16_383)
    .optional()
    .describe('The number that the hub sends for true; default: the largest number'),
  off: integerSetting(0, 16_383).default(0).describe('The number that the hub sends for false'),
  direction: z
    .enum(['in', 'out', 'both'], { error: 'in, out or both' })
    .default('in')
    .describe('in: from the device; out: to the device; both: a control that also moves or lights up'),
  touch: numberSetting(0, 127)
    .optional()
    .describe('The note that is on while a hand touches the control; during this time, the hub sends nothing to it'),
  label: z.string({ error: 'text' }).optional().describe('The display name'),
  description: z.string({ error: 'text' }).optional().describe('The purpose'),
});

type ParameterSettings = z.output<typeof parameterSchema>;

const ways = ['port', 'virtual', 'path', 'tcp', 'serial'] as const;
const kinds = [
  'note',
  'control',
  'nrpn',
  'rpn',
  'keyPressure',
  'bend',
  'program',
  'pressure',
  'sysex',
  'realTime',
] as const;

export const settingsSchema = z
  .strictObject({
    port: z
      .union([name(), z.strictObject({ in: name().optional(), out: name().optional() })], { error: portError })
      .optional()
      .describe(
        'A MIDI port of this machine: its name or the beginning of its name, in which * stands for any text; or { in, out }',
      ),
    virtual: name().optional().describe('Create a MIDI port with this name for other programs (Linux and macOS)'),
    path: z
      .union([path(), z.strictObject({ in: path().optional(), out: path().optional() })], { error: pathError })
      .optional()
      .describe('The path of a raw MIDI device, such as /dev/snd/midiC1D0; or { in, out }'),
    tcp: placeSetting().optional().describe('Connect to a device that supports MIDI over TCP: host:port'),
    serial: z
      .union(
        [
          z.string().min(1),
          z.strictObject({
            path: z.string().min(1).describe('The path of the port'),
            baudRate: integerSetting(300, 4_000_000).default(31_250).describe('The speed in baud'),
          }),
        ],
        {
          error: 'the path of a serial port, or { path, baudRate }',
        },
      )
      .optional()
      .describe('A serial port at 31,250 baud, or { path, baudRate }'),
    parameters: record(
      z.string().meta({ description: 'A Parameter ID; {n:1..8} stands for several IDs' }),
      parameterSchema,
    )
      .default({})
      .describe('The parameters, by ID, with their messages'),
    hold: durationSetting(0, 60_000)
      .default(300)
      .describe(
        'How long the hub sends nothing to a control after a hand has moved it; afterwards, the hub sends the newest value',
      ),
    quiet: durationSetting(0, 60_000)
      .default(0)
      .describe("How long the hub ignores a control after moving it, for faders that report their motor's movement"),
    rate: integerSetting(1, 100_000)
      .default(1000)
      .describe('The maximum number of messages that the hub sends per second'),
    connectTimeout: durationSetting(100, 60_000).default(5000).describe('How long opening the device may take'),
    idleTimeout: durationSetting(100, 600_000)
      .optional()
      .describe('How long the device may be silent, for devices that send active sensing; default: no limit'),
    onLoss: lossSetting('the device'),
    simulate: z.boolean().default(false).describe('true: run without a device'),
  })
  .superRefine((settings, context) => {
    if (ways.filter((one) => settings[one] !== undefined).length !== 1)
      context.addIssue({
        code: 'custom',
        message: `expected exactly one of ${ways.map((one) => `\`${one}\``).join(', ')}`,
      });
  });

export type MidiSettings = z.output<typeof settingsSchema>;

/** A parameter and the messages that carry its value. */
export interface Item {
  readonly id: string;
  readonly type: ValueType;
  readonly settings: ParameterSettings;
  readonly control: Control;
  /** The largest number in the messages. */
  readonly max: number;
  readonly isIn: boolean;
  readonly isOut: boolean;
  /** The note that is on while a hand touches the control, in the form of a control, for use with `keyOf`. */
  readonly touch: Control | undefined;
}

const compiled = new WeakMap<
  object,
  { readonly items: readonly Item[]; readonly mistakes: readonly SettingMistake[] }
>();

/** Returns the parameters, and all errors in the settings. The result is cached for each settings object. */
export function itemsOf({ parameters }: MidiSettings) {
  const known = compiled.get(parameters);
  if (known !== undefined) return known;
  const items: Item[] = [];
  const mistakes: SettingMistake[] = [];
  const ids = new Set<string>();
  for (const [id, one] of Object.entries(parameters)) {
    const mistake = addItems(id, one, items, ids);
    if (mistake !== undefined) mistakes.push({ path: ['parameters', id, ...mistake.path], message: mistake.text });
    if (items.length > maxParameters) {
      mistakes.push({ path: ['parameters'], message: `expected at most ${maxParameters} parameters` });
      break;
    }
  }
  const result = { items: mistakes.length === 0 ? items : [], mistakes };
  compiled.set(parameters, result);
  return result;
}

interface Wrong {
  readonly path: readonly string[];
  readonly text: string;
}

function addItems(id: string, settings: ParameterSettings, items: Item[], ids: Set<string>): Wrong | undefined {
  const named = kinds.filter((kind) => settings[kind] !== undefined);
  if (named.length !== 1)
    return { path: [], text: `expected exactly one of ${kinds.map((one) => `\`${one}\``).join(', ')}` };
  const kind = named[0]!;
  const template = readTemplate(id, true);
  if (typeof template === 'string') return { path: [], text: template };
  const { as, bits, direction, range } = settings;
  const isSysex = kind === 'sysex';
  const isEvent = kind === 'realTime' || (isSysex && settings.sysex !== true);
  if ((isEvent || isSysex) && (as ?? bits ?? range) !== undefined)
    return { path: [], text: `expected no \`as\`, \`bits\` or \`range\` for \`${kind}\`` };
  if (isEvent && direction === 'both') return { path: ['direction'], text: `expected in or out for \`${kind}\`` };
  if (direction !== 'in' && isSysex && String(settings.sysex).includes('??'))
    return { path: ['sysex'], text: 'expected a message without ?? if the hub sends it' };
  if (as === 'trigger' && direction === 'both')
    return { path: ['direction'], text: 'expected in or out for a trigger' };
  const hasBits = ['control', 'nrpn', 'rpn'].includes(kind);
  if (bits !== undefined && !hasBits)
    return { path: ['bits'], text: 'expected `bits` only for a control change, an NRPN or an RPN' };
  const is14 = kind === 'bend' || (hasBits && (bits ?? (kind === 'control' ? 7 : 14)) === 14);
  const max = is14 ? 16_383 : 127;
  const form = isEvent ? 'trigger' : isSysex ? 'text' : (as ?? (kind === 'note' ? 'switch' : 'value'));
  const type: ValueType =
    form === 'trigger' ? 'T' : form === 'switch' ? 'B' : form === 'text' ? 'S' : range === undefined ? 'I' : 'F';
  let index = 0;
  for (const values of combinationsOf(template)) {
    if (items.length > maxParameters) return undefined;
    const own = filled(template, values);
    const wrongId =
      parameterIdMistake(own) ?? (ids.has(own) ? `expected unique IDs, got ${describe(own)} twice` : undefined);
    if (wrongId !== undefined) return { path: [], text: wrongId };
    ids.add(own);
    const read = (
      key: 'channel' | 'touch' | (typeof kind & keyof ParameterSettings),
      most: number,
      least: number,
      counts: boolean,
    ) => {
      const written = settings[key as 'channel'] as number | string;
      const number =
        typeof written === 'number'
          ? written + (counts ? index : 0)
          : Number(written.replaceAll(/\{(\w+)\}/g, (_, variable) => values.get(variable) ?? '?'));
      return Number.isInteger(number) && number >= least && number <= most
        ? number
        : `${key}: expected ${least}..${most} for ${own}, got ${number}`;
    };
    const isNumbered = ['note', 'control', 'nrpn', 'rpn', 'keyPressure'].includes(kind);
    const channel = read('channel', 16, 1, !isNumbered && !isSysex && kind !== 'realTime');
    const most = kind === 'nrpn' || kind === 'rpn' ? 16_383 : kind === 'control' && is14 ? 31 : 127;
    const number = isNumbered ? read(kind as 'note', most, 0, true) : 0;
    const touch = settings.touch === undefined ? undefined : read('touch', 127, 0, true);
    for (const one of [channel, number, touch]) if (typeof one === 'string') return { path: [], text: one };
    const control: Control = isSysex
      ? { kind, pattern: settings.sysex === true ? undefined : String(settings.sysex) }
      : kind === 'realTime'
        ? { kind, name: settings.realTime! }
        : { kind, channel: channel as number, number: number as number, is14 };
    items.push({
      ...{ id: own, type, settings, control, max },
      ...{ isIn: direction !== 'out', isOut: direction !== 'in' },
      touch:
        touch === undefined
          ? undefined
          : { kind: 'note', channel: channel as number, number: touch as number, is14: false },
    });
    index++;
  }
  return undefined;
}

export function declarationOf(item: Item): ParameterDeclaration {
  const { id, type, isIn, isOut, settings, max } = item;
  const { label, description, range } = settings;
  const [min, most] = range ?? [0, max];
  const about: About = {
    ...(type === 'I' || type === 'F'
      ? { min: Math.min(min, most), max: Math.max(min, most), ...(type === 'I' && { step: 1 }) }
      : {}),
    ...(label !== undefined && { label }),
    ...(description !== undefined && { description }),
  };
  return {
    ...{
      id,
      type,
      access: isIn && isOut ? 'read-write' : isOut ? (type === 'T' ? 'write-only' : 'read-write') : 'read-only',
    },
    ...(Object.keys(about).length > 0 && { about }),
    ...(isOut && type !== 'T' && { accept: (input: unknown) => acceptValue(item, input) }),
  };
}

/** Converts a value before it is written. Errors: `not-convertible`, `out-of-range`. */
function acceptValue(item: Item, input: unknown): Value {
  const { id, type, settings, max } = item;
  const value = convert(type, input);
  if (typeof value === 'number') {
    const [from, to] = settings.range ?? [0, max];
    const [least, most] = [Math.min(from, to), Math.max(from, to)];
    if (value < least || value > most)
      throw new HubError('out-of-range', `${id}: expected ${least}..${most}, got ${value}`);
  } else if (typeof value === 'string' && readHex(value) === undefined)
    throw new HubError(
      'not-convertible',
      `${id}: expected bytes in hex from F0 to F7, at most ${maxSysexBytes}, got ${describe(value)}`,
    );
  return value;
}

/** Parses a system exclusive message; undefined if the string is not a system exclusive message. */
export function readHex(text: string): Buffer | undefined {
  const plain = text.replaceAll(/\s/g, '');
  if (!/^(?:[\da-f]{2})+$/i.test(plain) || plain.length > 2 * maxSysexBytes) return undefined;
  const bytes = Buffer.from(plain, 'hex');
  const isWhole = bytes[0] === 0xf0 && bytes.at(-1) === 0xf7 && bytes.subarray(1, -1).every((byte) => byte < 0x80);
  return isWhole && bytes.length > 2 ? bytes : undefined;
}

/** Returns the value for a number in a message. */
export function valueAt({ type, settings: { range }, max }: Item, number: number): Value {
  if (type === 'B') return number > 0;
  if (type === 'T') return 1;
  if (range === undefined) return Math.min(number, max);
  return range[0] + (Math.min(number, max) / max) * (range[1] - range[0]);
}

/** Returns the number for a value in a message. */
export function numberOf({ type, settings: { range, on, off }, max }: Item, value: Value): number {
  if (type === 'B') return value === true ? Math.min(on ?? max, max) : Math.min(off, max);
  if (type === 'T') return Math.min(on ?? max, max);
  const part = range === undefined ? Number(value) : ((Number(value) - range[0]) / (range[1] - range[0])) * max;
  return Math.max(0, Math.min(max, Math.round(part)));
}
