// The settings of a satellite connection: the ports on which surfaces connect, and the parameters for the keys of each surface.

import { z } from 'zod';
import type { Place } from '../../device/ports.ts';
import { parameterIdMistake } from '../../model/address.ts';
import { describe, HubError, messageOf } from '../../model/error.ts';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import { record } from '../../model/record-schema.ts';
import { convert, type Value } from '../../model/value.ts';
import { combinationsOf, filled, readTemplate, type Template } from '../id-template.ts';
import { listeningPlace, networksSetting, portSetting } from '../places.ts';
import { durationSetting, integerSetting, type SettingMistake } from '../setting.ts';
import { type Picture, readImage } from './png.ts';

/** The maximum number of keys in a connection. */
export const maxKeys = 16_384;
/** The highest number that a key can have. */
const highestKey = 1023;
/** The maximum length of a key's text, in characters. */
export const maxTextLength = 256;
/** The device ID in the settings that stands for all surfaces that have no separate entry. */
export const anyDevice = '*';

const names: Readonly<Record<string, string>> = {
  ...{ black: '#000000', white: '#ffffff', grey: '#808080', red: '#ff0000', green: '#00a000', blue: '#0000ff' },
  ...{ yellow: '#ffff00', amber: '#ffb000', orange: '#ff8000', purple: '#a000c0', cyan: '#00ffff' },
};
const colorExpected = `#rrggbb, #rgb, a number 0..16777215 or one of ${Object.keys(names).join(', ')}`;

/** Converts a colour in one of the accepted notations to `#rrggbb`. Returns undefined if the text is not a colour. */
function readColor(text: string): string | undefined {
  const plain = text.trim().toLowerCase();
  if (/^#[\da-f]{6}$/.test(plain)) return plain;
  if (/^#[\da-f]{3}$/.test(plain)) return plain.replaceAll(/[\da-f]/g, '$&$&');
  if (/^\d{1,8}$/.test(plain) && Number(plain) <= 0xffffff) return `#${Number(plain).toString(16).padStart(6, '0')}`;
  return Object.hasOwn(names, plain) ? names[plain] : undefined;
}

const colorSetting = () =>
  z.string({ error: colorExpected }).refine((text) => readColor(text) !== undefined, {
    error: ({ input }) => `expected ${colorExpected}, got ${JSON.stringify(input)}`,
  });
const textSetting = () =>
  z.string({ error: 'text' }).max(maxTextLength, { error: `text of at most ${maxTextLength} characters` });

const keyExpected = `an integer 0..${highestKey}, "row/column" counted from 0, or text with variables such as "{n}"`;
const keySchema = z.strictObject({
  key: z
    .union([integerSetting(0, highestKey), z.string({ error: keyExpected })], { error: keyExpected })
    .describe(
      'The number of the key, or its position as "row/column", counted from 0; may contain variables from the ID: "{n}"',
    ),
  text: textSetting()
    .optional()
    .describe('The text until another text is written; may contain variables from the ID: "CAM {n}"'),
  color: colorSetting().default('#000000').describe('The colour until another colour is written'),
  textColor: colorSetting().default('#ffffff').describe('The colour of the text until another colour is written'),
  lampColor: colorSetting().default('#ff0000').describe('The colour while `lamp` is true'),
  image: z.boolean().default(false).describe('true: the key has the parameter `image`'),
  encoder: z.boolean().default(false).describe('true: the key can be turned, and has the triggers `left` and `right`'),
  label: z.string({ error: 'text' }).optional().describe('The display name; may contain variables from the ID'),
});

const surfaceSchema = z.strictObject({
  device: z
    .string({ error: 'the device ID of a surface' })
    .min(1)
    .max(200)
    .default(anyDevice)
    .describe('The device ID that the surface reports; *: all surfaces that no other entry names'),
  keys: record(
    z.string().meta({ description: 'The second part of the Parameter IDs; {n:1..8} stands for several keys' }),
    keySchema,
  )
    .default({})
    .describe('The keys, by ID'),
  brightness: integerSetting(0, 100, '%').default(100).describe('The brightness until another value is written'),
});

export const settingsSchema = z
  .strictObject({
    listen: portSetting('Accept surfaces over TCP on this port, or address:port; the usual port is 16622'),
    webSocketListen: portSetting(
      'Accept surfaces over WebSocket on this port, or address:port; the usual port is 16623',
    ),
    allowFrom: networksSetting('The addresses and networks from which surfaces may connect; default: everyone'),
    surfaces: record(
      z.string().meta({ description: 'The first part of the Parameter IDs; {n:1..4} stands for several surfaces' }),
      surfaceSchema,
    )
      .default({})
      .describe('The surfaces, by ID'),
    idleTimeout: durationSetting(1000, 600_000)
      .default(5000)
      .describe('How long a surface may be silent before its link ends'),
    simulate: z.boolean().default(false).describe('true: run without a network; no surface can connect'),
  })
  .superRefine(({ listen, webSocketListen }, context) => {
    if (listen === undefined && webSocketListen === undefined)
      context.addIssue({ code: 'custom', message: 'expected `listen`, `webSocketListen` or both' });
  });

export type SatelliteSettings = z.output<typeof settingsSchema>;

/** A key in the settings. If its place is given as row and column, its number depends on the surface. */
export interface OwnKey {
  readonly surface: OwnSurface;
  readonly place: number | { readonly row: number; readonly column: number };
  readonly id: string;
  readonly text: string | undefined;
  readonly color: string;
  readonly textColor: string;
  readonly lampColor: string;
  readonly hasImage: boolean;
  readonly isEncoder: boolean;
  readonly label: string | undefined;
}

/** A surface in the settings, with its keys. */
export interface OwnSurface {
  readonly id: string;
  readonly device: string;
  readonly brightness: number;
  readonly keys: OwnKey[];
}

export interface OwnSurfaces {
  readonly list: readonly OwnSurface[];
  readonly mistakes: readonly SettingMistake[];
}

const compiled = new WeakMap<object, OwnSurfaces>();

/** Returns the surfaces in the settings and all errors in them. The result is cached for each settings object. */
export function surfacesOf(settings: SatelliteSettings): OwnSurfaces {
  let surfaces = compiled.get(settings.surfaces);
  if (surfaces === undefined) {
    surfaces = compile(settings);
    compiled.set(settings.surfaces, surfaces);
  }
  return surfaces;
}

function compile({ surfaces }: SatelliteSettings): OwnSurfaces {
  const list: OwnSurface[] = [];
  const mistakes: SettingMistake[] = [];
  const ids = new Set<string>();
  const devices = new Set<string>();
  let keyCount = 0;
  for (const [name, { device, keys, brightness }] of Object.entries(surfaces)) {
    const reader = new TemplateReader(['surfaces', name], mistakes);
    const template = reader.id(name);
    const deviceTemplate = reader.text(device, 'device');
    const entries = Object.entries(keys).map(([key, settings]) => readKey(reader.within('keys', key), key, settings));
    for (const values of reader.combinations(template)) {
      const surface: OwnSurface = {
        id: filled(template, values),
        device: filled(deviceTemplate, values),
        brightness,
        keys: [],
      };
      const idMistake = parameterIdMistake(`${surface.id}/brightness`);
      if (idMistake !== undefined) reader.add(idMistake);
      else if (ids.has(surface.id)) reader.add(`expected each surface once, got ${describe(surface.id)} twice`);
      else if (devices.has(surface.device))
        reader.add(`expected each device once, got ${describe(surface.device)} twice`, 'device');
      ids.add(surface.id);
      devices.add(surface.device);
      list.push(surface);
      const keyIds = new Set(['brightness', 'connected']);
      const places = new Set<string>();
      for (const entry of entries)
        for (const own of entry.reader.combinations(entry.template)) {
          if (++keyCount > maxKeys) {
            reader.add(`expected at most ${maxKeys} keys in the connection`);
            return { list, mistakes };
          }
          const key = entry.create(surface, new Map([...values, ...own]));
          if (key === undefined) break;
          if (keyIds.has(key.id)) entry.reader.add(`expected each key once, got ${describe(key.id)} twice`);
          const place = JSON.stringify(key.place);
          if (places.has(place)) entry.reader.add(`expected each key of the surface once, got ${place} twice`, 'key');
          keyIds.add(key.id);
          places.add(place);
          surface.keys.push(key);
        }
    }
  }
  return { list, mistakes };
}

/** Reads the templates in an entry of the settings, and reports each mistake only once per entry. */
class TemplateReader {
  readonly #path: readonly string[];
  readonly #mistakes: SettingMistake[];
  readonly #names: string[];
  #hasMistake = false;

  constructor(path: readonly string[], mistakes: SettingMistake[], names: readonly string[] = []) {
    this.#path = path;
    this.#mistakes = mistakes;
    this.#names = [...names];
  }

  within(...path: string[]): TemplateReader {
    return new TemplateReader([...this.#path, ...path], this.#mistakes, this.#names);
  }

  add(message: string, ...path: string[]): void {
    this.#hasMistake = true;
    this.#mistakes.push({ path: [...this.#path, ...path], message });
  }

  /** Reads the template for an ID. Its variables may be used in the entry's other templates. */
  id(written: string): Template {
    const template = readTemplate(written, true);
    if (typeof template === 'string') {
      this.add(template);
      return [];
    }
    for (const part of template) {
      if (typeof part === 'string') continue;
      if (this.#names.includes(part.name)) this.add(`expected each variable once, got ${describe(written)}`);
      this.#names.push(part.name);
    }
    return template;
  }

  text(written: string, name: string): Template {
    const template = readTemplate(written, false);
    if (typeof template === 'string') {
      this.add(template, name);
      return [];
    }
    for (const part of template)
      if (typeof part !== 'string' && !this.#names.includes(part.name)) {
        this.#hasMistake = true;
        const path = [...this.#path, name];
        this.#mistakes.push({ path, unknown: 'variable', name: part.name, known: this.#names });
      }
    return template;
  }

  /** Yields the values of the variables for each ID. Ends after a mistake, because further values would lead to the same mistake. */
  *combinations(template: Template): Generator<ReadonlyMap<string, string>> {
    for (const values of combinationsOf(template)) {
      if (this.#hasMistake) return;
      yield values;
    }
  }
}

function readKey(reader: TemplateReader, name: string, settings: z.output<typeof keySchema>) {
  const template = reader.id(name);
  const place = reader.text(String(settings.key), 'key');
  const text = settings.text === undefined ? undefined : reader.text(settings.text, 'text');
  const label = settings.label === undefined ? undefined : reader.text(settings.label, 'label');
  const [color, textColor, lampColor] = [settings.color, settings.textColor, settings.lampColor].map(
    (written) => readColor(written)!,
  ) as [string, string, string];
  return {
    reader,
    template,
    /** Returns the key for these values of the variables. Reports mistakes and then returns undefined. */
    create(surface: OwnSurface, values: ReadonlyMap<string, string>): OwnKey | undefined {
      const id = filled(template, values);
      const idMistake = parameterIdMistake(`${surface.id}/${id}/textColor`);
      if (idMistake !== undefined) reader.add(idMistake);
      const found = readPlaceOfKey(filled(place, values));
      if (found === undefined) reader.add(`expected ${keyExpected}, got ${describe(filled(place, values))}`, 'key');
      if (idMistake !== undefined || found === undefined) return undefined;
      return {
        ...{
          surface,
          id,
          place: found,
          color,
          textColor,
          lampColor,
          hasImage: settings.image,
          isEncoder: settings.encoder,
        },
        text: text && filled(text, values),
        label: label && filled(label, values),
      };
    },
  };
}

/**
 * Parses the place of a key: its number, such as `12`, or its row and column, such as `1/4`. Returns undefined if the text has neither
 * form.
 */
export function readPlaceOfKey(text: string): OwnKey['place'] | undefined {
  const [, first, second] = /^(\d{1,4})(?:\/(\d{1,4}))?$/.exec(text) ?? [];
  if (first === undefined || Math.max(Number(first), Number(second ?? 0)) > highestKey) return undefined;
  return second === undefined ? Number(first) : { row: Number(first), column: Number(second) };
}

/** Returns the ID of a key's parameter, such as `deck/go/pressed`. */
export function idOf({ surface, id }: OwnKey, part: string): string {
  return `${surface.id}/${id}/${part}`;
}

/** Returns the names of the parameters that determine what a key shows. */
export function shownParts({ hasImage }: OwnKey): readonly string[] {
  return ['text', 'color', 'textColor', 'lamp', ...(hasImage ? ['image'] : [])];
}

/** Returns the declarations of all parameters. When a surface disconnects, only the parameters that it reports become stale. */
export function declarationsOf(settings: SatelliteSettings): ParameterDeclaration[] {
  return surfacesOf(settings).list.flatMap((surface): ParameterDeclaration[] => [
    {
      ...{ id: `${surface.id}/connected`, type: 'B', access: 'read-only', defaultValue: false },
      about: { description: 'Whether the surface is connected' },
    },
    {
      ...{ id: `${surface.id}/brightness`, type: 'I', access: 'read-write', defaultValue: surface.brightness },
      accept: acceptBrightness,
      about: { unit: '%', min: 0, max: 100, step: 1 },
    },
    ...surface.keys.flatMap(declarationsOfKey),
  ]);
}

function declarationsOfKey(key: OwnKey): ParameterDeclaration[] {
  const about = (what: string) => ({ about: { label: `${key.label ?? key.text ?? key.id}, ${what}` } });
  const reported = { access: 'read-only', device: key.surface.id } as const;
  const shown = { access: 'read-write' } as const;
  const image: ParameterDeclaration = {
    ...{ id: idOf(key, 'image'), type: 'S', ...shown, defaultValue: '', accept: acceptImage },
    ...about('image'),
  };
  const turns = ['left', 'right'].map(
    (side): ParameterDeclaration => ({
      ...{ id: idOf(key, side), type: 'T', ...reported },
      ...about(`turned ${side}`),
    }),
  );
  return [
    { id: idOf(key, 'pressed'), type: 'B', ...reported, ...about('pressed') },
    ...(key.isEncoder ? turns : []),
    { id: idOf(key, 'text'), type: 'S', ...shown, defaultValue: key.text ?? '', accept: acceptText, ...about('text') },
    { id: idOf(key, 'color'), type: 'S', ...shown, defaultValue: key.color, accept: acceptColor, ...about('colour') },
    {
      ...{ id: idOf(key, 'textColor'), type: 'S', ...shown, defaultValue: key.textColor, accept: acceptColor },
      ...about('colour of the text'),
    },
    { id: idOf(key, 'lamp'), type: 'B', ...shown, defaultValue: false, ...about('lamp') },
    ...(key.hasImage ? [image] : []),
  ];
}

function acceptBrightness(input: unknown): Value {
  const value = convert('I', input) as number;
  if (value < 0 || value > 100)
    throw new HubError('out-of-range', `expected an integer 0..100, got ${describe(input)}`);
  return value;
}

function acceptText(input: unknown): Value {
  const text = convert('S', input) as string;
  if (text.length > maxTextLength)
    throw new HubError('out-of-range', `expected text of at most ${maxTextLength} characters, got ${text.length}`);
  return text;
}

function acceptColor(input: unknown): Value {
  const color = readColor(convert('S', input) as string);
  if (color === undefined) throw new HubError('out-of-range', `expected ${colorExpected}, got ${describe(input)}`);
  return color;
}

function acceptImage(input: unknown): Value {
  const text = convert('S', input) as string;
  try {
    if (text !== '') pictureOf(text);
    return text;
  } catch (error) {
    throw new HubError('out-of-range', messageOf(error));
  }
}

/** The maximum size of all decoded images in the cache, in bytes. */
export const keptImageBytes = 16 * 1_048_576;
const pictures = new Map<string, Picture>();
let pictureBytes = 0;

/** Decodes an image, or returns it from the cache. Errors: `Error` with a readable message. */
export function pictureOf(text: string): Picture {
  let picture = pictures.get(text);
  if (picture !== undefined) return picture;
  picture = readImage(text);
  pictureBytes += picture.data.length + text.length;
  if (pictureBytes > keptImageBytes) {
    pictures.clear();
    pictureBytes = picture.data.length + text.length;
  }
  pictures.set(text, picture);
  return picture;
}

/** Returns the local addresses to which surfaces connect; undefined for a setting that is missing. */
export function listenPlaces({ listen, webSocketListen }: SatelliteSettings): {
  readonly tcp: Place | undefined;
  readonly webSocket: Place | undefined;
} {
  const placeOf = (written: number | string | undefined) =>
    written === undefined ? undefined : listeningPlace(written, []);
  return { tcp: placeOf(listen), webSocket: placeOf(webSocketListen) };
}
