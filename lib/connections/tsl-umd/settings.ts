// The settings of a TSL UMD connection: where packets come from or go to, and which displays correspond to which parameters.

import { z } from 'zod';
import type { Place } from '../../device/ports.ts';
import { parameterIdMistake } from '../../model/address.ts';
import { describe, HubError } from '../../model/error.ts';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import { record } from '../../model/record-schema.ts';
import { convert, type Value } from '../../model/value.ts';
import { combinationsOf, filled, readTemplate, type Template, type Variable } from '../id-template.ts';
import { lossSetting } from '../loss.ts';
import { listeningPlace, networksSetting, placeExpected, placeSetting, portSetting } from '../places.ts';
import { durationSetting, integerSetting, type SettingMistake } from '../setting.ts';
import {
  colours,
  everywhere,
  fullBrightness,
  highestIndex,
  maxTextLength,
  type Part,
  partsOfVersion,
} from './packet.ts';

/** The maximum number of displays in a connection. */
export const maxDisplays = 4096;
/** The maximum number of destinations for packets. */
const maxPlaces = 16;

const numberExpected = `an integer 0..${everywhere}, or text with variables such as "{n}"`;
const numberSetting = () =>
  z.union([integerSetting(0, everywhere), z.string({ error: numberExpected })], { error: numberExpected });

const displaySchema = z.strictObject({
  index: numberSetting().describe(
    'The index, or the address in versions 3.1 and 4; may contain variables from the ID: "{n}"',
  ),
  screen: numberSetting().default(0).describe('The screen of the display, only in version 5'),
  text: z
    .string({ error: 'text' })
    .max(maxTextLength, { error: `text of at most ${maxTextLength} characters` })
    .optional()
    .describe('The text until another text is written; may contain variables from the ID: "CAM {n}"'),
  label: z.string({ error: 'text' }).optional().describe('The display name'),
});

const placesSetting = (about: string) =>
  z
    .union([placeSetting(), z.array(placeSetting()).min(1).max(maxPlaces)], { error: `${placeExpected}, or a list` })
    .optional()
    .describe(about);

export const settingsSchema = z
  .strictObject({
    version: z
      .literal([3.1, 4, 5], { error: 'one of 3.1, 4, 5' })
      .default(5)
      .describe('The version of the protocol: 3.1, 4 or 5'),
    listen: portSetting('Receive over UDP on this port, or address:port'),
    tcpListen: portSetting('Receive over TCP on this port, or address:port'),
    udp: placesSetting('Send over UDP to this host:port, or to each entry of a list'),
    tcp: placesSetting('Send over TCP to this host:port, or to each entry of a list'),
    framing: z
      .enum(['dle', 'length'], { error: 'dle or length' })
      .default('dle')
      .describe(
        'How packets of version 5 are framed over TCP: dle, with DLE and STX before each packet, or length, which uses only the length in the packet',
      ),
    allowFrom: networksSetting('Who may send to the hub: addresses and networks; default: everyone'),
    displays: record(
      z.string().meta({
        description: 'The first part of the Parameter IDs; {n:1..32} and {side:L|R} stand for several displays',
      }),
      displaySchema,
    )
      .default({})
      .describe('The displays, by ID'),
    refresh: z
      .union([z.literal(false), durationSetting(100)], { error: 'false, or a duration such as "10s"' })
      .default(10_000)
      .describe('How often the values of all displays are sent again; false: never'),
    spacing: durationSetting(0, 10_000).default(5).describe('The minimum time between two packets to a destination'),
    connectTimeout: durationSetting(100, 60_000).default(5000).describe('How long connecting over TCP may take'),
    idleTimeout: durationSetting(100)
      .optional()
      .describe('How long the sender may be silent before the received values are stale; default: no limit'),
    onLoss: lossSetting('the sender'),
    packetsPerSecond: integerSetting(1, 100_000)
      .default(10_000)
      .describe('How many received packets are accepted per second; further packets are refused and counted'),
    simulate: z.boolean().default(false).describe('true: run without a network; nothing is sent or received'),
  })
  .superRefine(({ udp, tcp, listen, tcpListen }, context) => {
    const ways = [udp, tcp, listen, tcpListen].filter((way) => way !== undefined).length;
    if (ways !== 1)
      context.addIssue({ code: 'custom', message: 'expected exactly one of `listen`, `tcpListen`, `udp` and `tcp`' });
  });

export type TslSettings = z.output<typeof settingsSchema>;

/** A display in the settings, with its parameters. */
export interface OwnDisplay {
  readonly screen: number;
  readonly index: number;
  /** The parts of the display with their Parameter IDs: `[['text', 'cam/1/text'], …]`. */
  readonly parts: readonly (readonly [part: Part, id: string])[];
  readonly text: string | undefined;
  readonly label: string | undefined;
}

export interface Displays {
  readonly list: readonly OwnDisplay[];
  readonly mistakes: readonly SettingMistake[];
}

const compiled = new WeakMap<object, Displays>();

/** Returns the displays in the settings and all errors in them. The result is cached for each settings object. */
export function displaysOf(settings: TslSettings): Displays {
  let displays = compiled.get(settings.displays);
  if (displays === undefined) {
    displays = compile(settings);
    compiled.set(settings.displays, displays);
  }
  return displays;
}

function compile({ version, displays }: TslSettings): Displays {
  const list: OwnDisplay[] = [];
  const mistakes: SettingMistake[] = [];
  const ids = new Set<string>();
  const places = new Set<string>();
  for (const [key, { index, screen, text, label }] of Object.entries(displays)) {
    const add = (message: string, ...path: string[]) =>
      void mistakes.push({ path: ['displays', key, ...path], message });
    const reported = mistakes.length;
    const template = readTemplate(key, true);
    if (typeof template === 'string') {
      add(template);
      continue;
    }
    const names = template.flatMap((part) => (typeof part === 'string' ? [] : [part.name]));
    const read = (name: string, written: string): Template => {
      const found = readTemplate(written, false);
      if (typeof found === 'string') add(found, name);
      else
        for (const variable of found.filter((part): part is Variable => typeof part !== 'string'))
          if (!names.includes(variable.name))
            mistakes.push({ path: ['displays', key, name], unknown: 'variable', name: variable.name, known: names });
      return typeof found === 'string' ? [] : found;
    };
    const templates = {
      index: read('index', String(index)),
      screen: read('screen', String(screen)),
      text: text === undefined ? undefined : read('text', text),
      label: label === undefined ? undefined : read('label', label),
    };
    if (version !== 5 && screen !== 0) add(`expected no screen in version ${version}`, 'screen');
    if (new Set(names).size < names.length) add(`expected each variable once, got ${describe(key)}`);
    for (const values of combinationsOf(template)) {
      if (mistakes.length > reported) break; // all other displays from the template would report the same errors
      if (list.length >= maxDisplays) {
        add(`expected at most ${maxDisplays} displays in the connection`);
        break;
      }
      const id = filled(template, values);
      const numbers = { index: filled(templates.index, values), screen: filled(templates.screen, values) };
      for (const [name, most] of [
        ['index', highestIndex[version]],
        ['screen', everywhere],
      ] as const)
        if (!/^\d{1,5}$/.test(numbers[name]) || Number(numbers[name]) > most)
          add(`expected an integer 0..${most}, got ${describe(numbers[name])}`, name);
      const place = `${Number(numbers.screen)}/${Number(numbers.index)}`;
      const idMistake = parameterIdMistake(`${id}/brightness`);
      if (idMistake !== undefined) add(idMistake);
      else if (ids.has(id)) add(`expected each display once, got ${describe(id)} twice`);
      else if (places.has(place)) add(`expected each index once, got ${numbers.index} twice`, 'index');
      ids.add(id);
      places.add(place);
      list.push({
        screen: Number(numbers.screen),
        index: Number(numbers.index),
        parts: partsOfVersion[version].map((part) => [part, `${id}/${part}`] as const),
        text: templates.text && filled(templates.text, values),
        label: templates.label && filled(templates.label, values),
      });
    }
  }
  return { list, mistakes };
}

const colourChoices = Object.fromEntries(colours.map((colour, number) => [colour, number]));
const lampNames: Readonly<Record<string, string>> = { lh: 'left lamp', txt: 'text lamp', rh: 'right lamp' };

/** Returns the declarations of the displays' parameters, which are read-only if the connection receives and read-write if it sends. */
export function declarationsOf(settings: TslSettings): readonly ParameterDeclaration[] {
  const access = isReceiving(settings) ? ('read-only' as const) : ('read-write' as const);
  return displaysOf(settings).list.flatMap(({ parts, text, label }) =>
    parts.map(([part, id]): ParameterDeclaration => {
      const about = (name: string) => (label === undefined ? {} : { label: `${label}, ${name}` });
      if (part === 'text')
        return {
          ...{ id, type: 'S', access, accept: acceptText },
          ...(text !== undefined && access === 'read-write' && { defaultValue: text }),
          about: about('text'),
        };
      if (part.startsWith('tally/')) return { id, type: 'B', access, about: about(part.replace('/', ' ')) };
      const isBrightness = part === 'brightness';
      const [most, name] = isBrightness
        ? [fullBrightness, 'brightness']
        : [colours.length - 1, lampNames[part.replace('right/', '')]!];
      const choices = isBrightness ? {} : { choices: colourChoices };
      return {
        ...{ id, type: 'I', access, accept: (input) => acceptNumber(input, most, !isBrightness) },
        about: { ...about(name), min: 0, max: most, step: 1, ...choices },
      };
    }),
  );
}

function acceptText(input: unknown): Value {
  const text = convert('S', input) as string;
  if (text.length > maxTextLength)
    throw new HubError('out-of-range', `expected text of at most ${maxTextLength} characters, got ${text.length}`);
  return text;
}

function acceptNumber(input: unknown, most: number, isColour: boolean): Value {
  const isText = isColour && typeof input === 'string' && Number.isNaN(Number.parseFloat(input));
  const value = isText ? (colours as readonly string[]).indexOf(input) : (convert('I', input) as number);
  if (value < 0 || value > most) {
    const expected = isColour ? `one of ${colours.join(', ')}` : `an integer 0..${most}`;
    throw new HubError('out-of-range', `expected ${expected}, got ${describe(input)}`);
  }
  return value;
}

export function isReceiving({ listen, tcpListen }: TslSettings): boolean {
  return listen !== undefined || tcpListen !== undefined;
}

/** Returns the local address on which the hub receives packets, or undefined if the connection sends. */
export function listenPlace({ listen, tcpListen }: TslSettings): Place | undefined {
  const written = listen ?? tcpListen;
  return written === undefined ? undefined : listeningPlace(written, []);
}
