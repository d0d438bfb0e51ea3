// Converts devices that announce themselves in a vendor-specific format: Zigbee2MQTT devices with typed exposes, and Shelly devices of all
// generations. Parameters are named after a stable device ID, so that addresses remain the same when a device is renamed.

import { type Payload, readValue, type Words, wordOf } from '../../device/payload.ts';
import { isJsonObject } from '../../model/json-object.ts';
import type { About } from '../../model/parameter.ts';
import { toText, type Value, type ValueType } from '../../model/value.ts';
import type { Binding, BindingWrite, Device } from './bindings.ts';
import { segmentOf } from './documents.ts';
import type { Described } from './entities.ts';
import { availabilityOf } from './parameters.ts';
import { topicMistake } from './settings.ts';

type Json = Readonly<Record<string, unknown>>;

/** A parameter of a device, with its topics and the conversion of its payloads. */
export interface Part {
  readonly id: string;
  readonly type: ValueType;
  readonly about?: About;
  readonly topic?: string;
  readonly moreTopics?: readonly string[];
  /** The path to the value in the payload. Without a path, the whole payload is the value. */
  readonly path?: readonly string[];
  /** Reads the value from the payload if a path is not sufficient. */
  readonly read?: (payload: Payload) => unknown;
  readonly words?: Words;
  readonly write?: { readonly topic: string; format(value: Value, word: Value): string };
}

/** Returns the binding for a parameter, or an empty list if one of the topics is invalid. */
export function bind(device: Device, part: Part): Binding[] {
  const { id, type, about, topic, moreTopics = [], path, words = {}, write } = part;
  const read = part.read ?? ((payload: Payload) => payload.at(path));
  const topics = [topic, ...moreTopics, write?.topic].filter((one) => one !== undefined);
  if (topics.some((one) => topicMistake(one) !== undefined)) return [];
  const { choices } = about ?? {};
  const bound: BindingWrite | undefined = write && {
    topic: write.topic,
    isRetained: false,
    isOptimistic: false,
    format: (value) => write.format(value, wordOf(value, words, choices)),
  };
  return [
    {
      id,
      type,
      about,
      device,
      topic,
      moreTopics,
      read: (payload: Payload) => readValue(type, read(payload), words, choices),
      write: bound,
    },
  ];
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

export function defined(about: About): About {
  return Object.fromEntries(Object.entries(about).filter(([, value]) => value !== undefined));
}

// Zigbee2MQTT: `zigbee2mqtt/bridge/devices` lists all devices and their exposes.

/** The bits of `access`. The first means that the device reports the value, the second that it accepts writes. */
const reports = 1;
const takes = 2;
/** The maximum number of exposes that are read for each device. */
export const maxExposes = 500;

/** A device in the Zigbee2MQTT device list, with its parameters. */
interface ZigbeeDevice {
  readonly text: string;
  describe(): Described;
}

/** Returns the devices in a Zigbee2MQTT device list, keyed by IEEE address. */
export function zigbeeDevices(json: unknown, base: string): ReadonlyMap<string, ZigbeeDevice> {
  const found = new Map<string, ZigbeeDevice>();
  for (const one of Array.isArray(json) ? json.filter(isJsonObject) : []) {
    const address = textOf(one.ieee_address);
    const name = textOf(one.friendly_name);
    if (address === undefined || name === undefined || one.type === 'Coordinator' || one.disabled === true) continue;
    const exposes = isJsonObject(one.definition) && Array.isArray(one.definition.exposes) ? one.definition.exposes : [];
    found.set(address, {
      text: JSON.stringify([name, exposes]),
      describe: () => zigbeeDevice(address, `${base}/${name}`, name, exposes.slice(0, maxExposes), base),
    });
  }
  return found;
}

function zigbeeDevice(
  address: string,
  topic: string,
  name: string,
  exposes: readonly unknown[],
  base: string,
): Described {
  if (topicMistake(topic) !== undefined) return { bindings: [], refused: [`${topic} is not a valid topic`] };
  const device: Device = {
    name: `${base} ${address} ${name}`,
    availability: [`${topic}/availability`, `${base}/bridge/state`].map((one) =>
      availabilityOf(one, undefined, 'online', 'offline'),
    ),
  };
  const bindings = new Map<string, Binding>();
  const refused: string[] = [];
  const add = (expose: unknown, above: readonly string[], depth: number) => {
    if (!isJsonObject(expose) || depth > 4) return;
    const property = textOf(expose.property);
    const features = Array.isArray(expose.features) ? expose.features.slice(0, maxExposes) : undefined;
    if (features !== undefined && expose.type !== 'list') {
      const inner = expose.type === 'composite' && property !== undefined ? [...above, property] : above;
      for (const feature of features) add(feature, inner, depth + 1);
      return;
    }
    if (property === undefined) return;
    const part = zigbeePart(expose, address, topic, [...above, property], name);
    if (typeof part === 'string') refused.push(`${name} ${property}: ${part}`);
    else for (const one of bind(device, part)) if (!bindings.has(one.id)) bindings.set(one.id, one);
    if (typeof part === 'string' || !isAction(expose)) return;
    for (const value of valuesOf(expose)) {
      const word = toText(value);
      if (word === '' || word.includes('*')) continue;
      const about = { label: `${name} ${property} ${word}` };
      const id = `${part.id}/${segmentOf(word)}`;
      for (const one of bind(device, { ...part, id, type: 'T', about, words: { on: word } })) bindings.set(one.id, one);
    }
  };
  for (const expose of exposes) add(expose, [], 0);
  return { bindings: [...bindings.values()], refused };
}

/** Returns the values of an enum expose, which are strings or numbers. */
function valuesOf({ values }: Json): readonly Value[] {
  return Array.isArray(values) ? values.filter((one): one is Value => ['string', 'number'].includes(typeof one)) : [];
}

/**
 * Returns whether an expose reports an action, such as a button press. Actions become triggers, because the value does not change if the
 * same action occurs twice.
 */
function isAction({ type, property, access }: Json): boolean {
  return type === 'enum' && /^action(?:_|$)/.test(String(property)) && (numberOf(access) ?? reports) % 4 === reports;
}

/** Returns the parameter for an expose, or the reason why there is no parameter. */
function zigbeePart(
  expose: Json,
  address: string,
  topic: string,
  path: readonly string[],
  name: string,
): Part | string {
  const access = numberOf(expose.access) ?? reports;
  const about = defined({
    label: `${name} ${textOf(expose.label) ?? path.join(' ')}`,
    unit: textOf(expose.unit),
    min: numberOf(expose.value_min),
    max: numberOf(expose.value_max),
    step: numberOf(expose.value_step),
    description: textOf(expose.description),
  });
  const send = (value: unknown) => JSON.stringify(path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value));
  const whole = (type: ValueType, format: (value: Value) => unknown, more: Partial<Part> = {}): Part | string => {
    if ((access & (reports | takes)) === 0) return 'it can be neither read nor set';
    return {
      id: [address, ...path].map(segmentOf).join('/'),
      type,
      about,
      ...((access & reports) !== 0 && { topic, path }),
      ...((access & takes) !== 0 && {
        write: { topic: `${topic}/set`, format: (value: Value) => send(format(value)) },
      }),
      ...more,
    };
  };
  switch (expose.type) {
    case 'binary': {
      const [on, off] = [expose.value_on ?? true, expose.value_off ?? false] as Value[];
      return whole('B', (value) => (value === true ? on! : off!), { words: { on: toText(on!), off: toText(off!) } });
    }
    case 'numeric':
      return whole('F', (value) => value);
    case 'enum': {
      const values = valuesOf(expose);
      return whole('S', (value) => values.find((one) => toText(one) === value) ?? value, {
        about: {
          ...about,
          choices: Object.fromEntries(values.map((one) => [toText(one), toText(one)])),
          ...(isAction(expose) && { class: 'event' as const }),
        },
      });
    }
    case 'text':
      return whole('S', (value) => value);
    default:
      return `values of type ${String(expose.type)} cannot be represented as parameters`;
  }
}

// Shelly devices. From the second generation on, `<prefix>/status/<component>:<number>` contains the complete status of a component as
// JSON, with the number as `id`. In the first generation, each topic, such as `shellies/<id>/relay/0`, contains a single word.

interface ShellyPart {
  readonly name: string;
  readonly path: readonly string[];
  readonly type: ValueType;
  readonly unit?: string;
  readonly min?: number;
  readonly max?: number;
  /** Returns the payload that sets a value. */
  readonly command?: (value: Value) => string;
}

const meters: readonly ShellyPart[] = [
  { name: 'power', path: ['apower'], type: 'F', unit: 'W' },
  { name: 'voltage', path: ['voltage'], type: 'F', unit: 'V' },
  { name: 'current', path: ['current'], type: 'F', unit: 'A' },
  { name: 'frequency', path: ['freq'], type: 'F', unit: 'Hz' },
  { name: 'power-factor', path: ['pf'], type: 'F' },
  { name: 'energy', path: ['aenergy', 'total'], type: 'F', unit: 'Wh' },
  { name: 'temperature', path: ['temperature', 'tC'], type: 'F', unit: '°C' },
];
const onOff = (value: Value) => (value === true ? 'on' : 'off');
const percent = { unit: '%', min: 0, max: 100 } as const;
const dimmed: readonly ShellyPart[] = [
  { name: '', path: ['output'], type: 'B', command: onOff },
  { name: 'brightness', path: ['brightness'], type: 'F', ...percent, command: (value) => `set,true,${toText(value)}` },
  ...meters,
];
/** The parameters of an energy meter: its phases and the totals. */
const phases: readonly ShellyPart[] = ['a', 'b', 'c', 'n', 'total'].flatMap((phase) => [
  { name: `${phase}/power`, path: [`${phase}_act_power`], type: 'F' as const, unit: 'W' },
  { name: `${phase}/voltage`, path: [`${phase}_voltage`], type: 'F' as const, unit: 'V' },
  { name: `${phase}/current`, path: [`${phase}_current`], type: 'F' as const, unit: 'A' },
]);
const shellyParts: Readonly<Record<string, readonly ShellyPart[]>> = {
  switch: [{ name: '', path: ['output'], type: 'B', command: onOff }, ...meters],
  light: dimmed,
  cct: [...dimmed, { name: 'color-temp', path: ['ct'], type: 'F', unit: 'K' }],
  rgb: dimmed,
  rgbw: dimmed,
  cover: [
    { name: 'state', path: ['state'], type: 'S' },
    { name: 'position', path: ['current_pos'], type: 'F', ...percent, command: (value) => `pos,${toText(value)}` },
    ...meters,
  ],
  input: [
    { name: '', path: ['state'], type: 'B' },
    { name: 'percent', path: ['percent'], type: 'F', ...percent },
    { name: 'count', path: ['counts', 'total'], type: 'F' },
  ],
  temperature: [{ name: '', path: ['tC'], type: 'F', unit: '°C' }],
  humidity: [{ name: '', path: ['rh'], type: 'F', unit: '%' }],
  devicepower: [{ name: 'battery', path: ['battery', 'percent'], type: 'F', ...percent }],
  illuminance: [{ name: '', path: ['lux'], type: 'F', unit: 'lx' }],
  voltmeter: [{ name: '', path: ['voltage'], type: 'F', unit: 'V' }],
  smoke: [{ name: '', path: ['alarm'], type: 'B' }],
  flood: [{ name: '', path: ['alarm'], type: 'B' }],
  pm1: meters,
  em: phases,
  em1: [{ name: 'power', path: ['act_power'], type: 'F', unit: 'W' }, ...meters],
};
/** The commands for components that report no state, keyed by component. */
const shellyCommands: Readonly<Record<string, readonly string[]>> = { cover: ['open', 'close', 'stop'] };

/** The parameters of first-generation devices, each with its topic below `shellies/<id>/`. */
const firstParts: readonly (readonly [pattern: RegExp, type: ValueType, about: About, command?: string])[] = [
  [/^(?:relay|light|color|white)\/\d+$/, 'B', {}, 'command'],
  [/^input\/\d+$/, 'B', {}],
  [/^(?:relay|light|color|white|emeter|meter|roller)\/\d+\/power$/, 'F', { unit: 'W' }],
  [/^(?:relay|light|color|white|meter|roller)\/\d+\/energy$/, 'F', { unit: 'Wmin' }],
  [/^emeter\/\d+\/(?:energy|returned_energy)$/, 'F', { unit: 'Wmin' }],
  [/^emeter\/\d+\/total(?:_returned)?$/, 'F', { unit: 'Wh' }],
  [/^emeter\/\d+\/voltage$/, 'F', { unit: 'V' }],
  [/^emeter\/\d+\/current$/, 'F', { unit: 'A' }],
  [/^roller\/\d+$/, 'S', { choices: { open: 'open', close: 'close', stop: 'stop' } }, 'command'],
  [/^roller\/\d+\/pos$/, 'F', { ...percent, min: -1 }, '../command/pos'],
  [/^(?:temperature|sensor\/temperature|ext_temperature\/\d+)$/, 'F', { unit: '°C' }],
  [/^(?:temperature_f|ext_temperature_f\/\d+)$/, 'F', { unit: '°F' }],
  [/^(?:sensor\/humidity|ext_humidity\/\d+|sensor\/battery)$/, 'F', { unit: '%' }],
  [/^sensor\/lux$/, 'F', { unit: 'lx' }],
  [/^(?:overtemperature|sensor\/(?:motion|flood|smoke|vibration))$/, 'B', {}],
  [/^sensor\/state$/, 'S', {}],
];

/** The topic filters for messages from Shelly devices. */
export const shellyFilters = ['+/status/+', 'shellies/#'];

/** A Shelly device that was found from a topic. */
interface Announced {
  readonly key: string;
  readonly bindings: readonly Binding[];
}

/** Returns the device that a topic announces, or undefined if the topic belongs to no Shelly device. */
export function shellyDevice(topic: string, payload: Payload): Announced | undefined {
  const [, id, component, number] = /^([^/]+)\/status\/([a-z]\w*):(\d+)$/.exec(topic) ?? [];
  if (id !== undefined && Object.hasOwn(shellyParts, component!) && payload.at(['id']) === Number(number))
    return { key: topic, bindings: secondGeneration(id, component!, number!, topic, payload) };
  const [, first, rest] = /^shellies\/([\w-]+)\/(.+)$/.exec(topic) ?? [];
  const part = firstParts.find(([pattern]) => rest !== undefined && pattern.test(rest));
  if (first === undefined || rest === undefined || part === undefined) return undefined;
  const [, type, about, command] = part;
  const target =
    command?.startsWith('../') === true ? topic.replace(/[^/]+$/, command.slice(3)) : `${topic}/${command}`;
  const bindings = bind(deviceAt(first, `shellies/${first}/online`), {
    id: `${first}/${rest}`,
    type,
    about: { label: `${first} ${rest}`, ...about },
    topic,
    ...(command !== undefined && {
      write: { topic: target, format: type === 'B' ? onOff : (value: Value) => toText(value) },
    }),
  });
  return { key: topic, bindings };
}

/** Returns the parameters for the fields that a status contains. A later status may contain further fields. */
function secondGeneration(id: string, component: string, number: string, topic: string, payload: Payload): Binding[] {
  const device = deviceAt(id, `${id}/online`);
  const place = [id, component, number];
  const command = `${id}/command/${component}:${number}`;
  const stated = shellyParts[component]!.flatMap(({ name, path, type, unit, min, max, command: format }) =>
    payload.at(path) === undefined
      ? []
      : bind(device, {
          id: [...place, ...(name === '' ? [] : [name])].join('/'),
          type,
          about: defined({ label: [...place, name].join(' ').trim(), unit, min, max }),
          topic,
          path,
          ...(format !== undefined && { write: { topic: command, format } }),
        }),
  );
  const commands = (shellyCommands[component] ?? []).flatMap((word) =>
    bind(device, {
      id: [...place, word].join('/'),
      type: 'T',
      about: { label: [...place, word].join(' ') },
      write: { topic: command, format: () => word },
    }),
  );
  return [...stated, ...commands];
}

function deviceAt(id: string, topic: string): Device {
  return { name: id, availability: [availabilityOf(topic, undefined, 'true', 'false')] };
}
