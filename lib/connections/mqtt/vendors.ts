// Devices that announce themselves in a form of their own: Zigbee2MQTT with typed exposes, Tasmota, and Shelly of both generations. Each
// function returns the parameters of a device by its stable identity: an address that it keeps when it is renamed.

import { isJsonObject } from '../../model/json-object.ts';
import type { About } from '../../model/parameter.ts';
import { toText, type Value, type ValueType } from '../../model/value.ts';
import type { Binding, BindingWrite, Device } from './bindings.ts';
import { type Described, segmentOf } from './documents.ts';
import { availabilityOf } from './parameters.ts';
import { type Payload, readValue, type Words, wordOf } from './payload.ts';
import { topicMistake } from './settings.ts';

type Json = Readonly<Record<string, unknown>>;

interface Part {
  readonly id: string;
  readonly type: ValueType;
  readonly about?: About;
  readonly topic?: string;
  readonly moreTopics?: readonly string[];
  /** Left out: the payload is the value. */
  readonly path?: readonly string[];
  readonly words?: Words;
  readonly write?: { readonly topic: string; format(value: Value, word: Value): string };
}

function bind(device: Device, { id, type, about, topic, moreTopics = [], path, words = {}, write }: Part): Binding[] {
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
      read: (payload: Payload) => readValue(type, payload.at(path), words, choices),
      write: bound,
    },
  ];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function defined(about: About): About {
  return Object.fromEntries(Object.entries(about).filter(([, value]) => value !== undefined));
}

// Zigbee2MQTT: `zigbee2mqtt/bridge/devices` lists all devices with what each exposes.

/** The bits of `access`: the device reports the value, and takes it. */
const reports = 1;
const takes = 2;
const maxExposes = 500;

/** Returns the devices of a list, by their IEEE addresses. */
export function zigbeeDevices(json: unknown, base: string): ReadonlyMap<string, Described> {
  const found = new Map<string, Described>();
  for (const one of Array.isArray(json) ? json.filter(isJsonObject) : []) {
    const address = textOf(one.ieee_address);
    const name = textOf(one.friendly_name);
    if (address === undefined || name === undefined || one.type === 'Coordinator' || one.disabled === true) continue;
    const exposes = isJsonObject(one.definition) && Array.isArray(one.definition.exposes) ? one.definition.exposes : [];
    found.set(address, zigbeeDevice(address, `${base}/${name}`, name, exposes.slice(0, maxExposes), base));
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
  if (topicMistake(topic) !== undefined) return { bindings: [], refused: [`${topic} is not a topic`] };
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
  };
  for (const expose of exposes) add(expose, [], 0);
  return { bindings: [...bindings.values()], refused };
}

/** Text: why it is not a parameter. */
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
      const values = Array.isArray(expose.values)
        ? expose.values.filter((one) => ['string', 'number'].includes(typeof one)).map(toText)
        : [];
      const isEvent = (access & takes) === 0 && path.at(-1) === 'action';
      return whole('S', (value) => value, {
        about: {
          ...about,
          choices: Object.fromEntries(values.map((one) => [one, one])),
          ...(isEvent && { class: 'event' as const }),
        },
      });
    }
    case 'text':
      return whole('S', (value) => value);
    default:
      return `the type ${String(expose.type)} does not fit into a parameter`;
  }
}

// Tasmota: `tasmota/discovery/<MAC>/config` and `/sensors`.

const tasmotaUnits: Readonly<Record<string, string>> = {
  Humidity: '%',
  Power: 'W',
  ApparentPower: 'VA',
  ReactivePower: 'var',
  Voltage: 'V',
  Current: 'A',
  Total: 'kWh',
  Today: 'kWh',
  Yesterday: 'kWh',
  Illuminance: 'lx',
  CarbonDioxide: 'ppm',
  Distance: 'cm',
};

export function tasmotaDevice(mac: string, config: unknown, sensors: unknown): Described {
  if (!isJsonObject(config)) return { bindings: [], refused: [] };
  const { t, ft, tp, rl, fn, onln, ofln, state: words } = config;
  const name = textOf(config.dn) ?? mac;
  const prefixes = Array.isArray(tp) ? tp : [];
  if (typeof t !== 'string' || typeof ft !== 'string' || prefixes.length < 3)
    return { bindings: [], refused: [`${name} has no topics`] };
  const topicOf = (place: number, rest: string) =>
    ft.replace('%prefix%', String(prefixes[place])).replace('%topic%', t).replace(/\/?$/, '/') + rest;
  const device: Device = {
    name: `tasmota ${mac} ${t}`,
    availability: [availabilityOf(topicOf(2, 'LWT'), undefined, textOf(onln) ?? 'Online', textOf(ofln) ?? 'Offline')],
  };
  if (topicMistake(topicOf(2, 'LWT')) !== undefined) return { bindings: [], refused: [`${name} has no topics`] };
  const relays = (Array.isArray(rl) ? rl : [])
    .slice(0, 32)
    .flatMap((kind, index) => (kind === 1 || kind === 2 ? [index] : []));
  const [off = 'OFF', on = 'ON'] = Array.isArray(words) ? words.map(String) : [];
  const bindings = relays.flatMap((index) => {
    const power = relays.length === 1 ? 'POWER' : `POWER${index + 1}`;
    const label = (Array.isArray(fn) ? textOf(fn[index]) : undefined) ?? `${name} ${power}`;
    return bind(device, {
      id: `${segmentOf(mac)}/${power.toLowerCase()}`,
      type: 'B',
      about: { label },
      topic: topicOf(1, 'RESULT'),
      moreTopics: [topicOf(2, 'STATE')],
      path: [power],
      words: { on, off },
      write: { topic: topicOf(0, power), format: (_, word) => toText(word) },
    });
  });
  const sn = isJsonObject(sensors) && isJsonObject(sensors.sn) ? sensors.sn : {};
  const units: Readonly<Record<string, string | undefined>> = {
    Temperature: `°${textOf(sn.TempUnit) ?? 'C'}`,
    DewPoint: `°${textOf(sn.TempUnit) ?? 'C'}`,
    Pressure: textOf(sn.PressureUnit) ?? 'hPa',
    ...tasmotaUnits,
  };
  for (const [sensor, values] of Object.entries(sn).slice(0, maxExposes))
    for (const [key, value] of isJsonObject(values) ? Object.entries(values).slice(0, maxExposes) : [])
      if (typeof value === 'number' || value === null)
        bindings.push(
          ...bind(device, {
            id: [mac, sensor, key].map(segmentOf).join('/'),
            type: 'F',
            about: defined({ label: `${name} ${sensor} ${key}`, unit: units[key] }),
            topic: topicOf(2, 'SENSOR'),
            path: [sensor, key],
          }),
        );
  return { bindings, refused: [] };
}

// Shelly of the second generation: `<id>/status/<component>:<number>` has JSON. Of the first: `shellies/<id>/relay/0` has a word.

interface ShellyPart {
  readonly name: string;
  readonly path: readonly string[];
  readonly type: ValueType;
  readonly unit?: string;
  /** Returns the payload of a command. */
  readonly command?: (value: Value) => string;
}

const meters: readonly ShellyPart[] = [
  { name: 'power', path: ['apower'], type: 'F', unit: 'W' },
  { name: 'voltage', path: ['voltage'], type: 'F', unit: 'V' },
  { name: 'current', path: ['current'], type: 'F', unit: 'A' },
  { name: 'energy', path: ['aenergy', 'total'], type: 'F', unit: 'Wh' },
];
const onOff = (value: Value) => (value === true ? 'on' : 'off');
const shellyParts: Readonly<Record<string, readonly ShellyPart[]>> = {
  switch: [{ name: '', path: ['output'], type: 'B', command: onOff }, ...meters],
  light: [
    { name: '', path: ['output'], type: 'B', command: onOff },
    { name: 'brightness', path: ['brightness'], type: 'F', unit: '%', command: (value) => `set,true,${toText(value)}` },
    ...meters,
  ],
  cover: [
    { name: 'state', path: ['state'], type: 'S' },
    { name: 'position', path: ['current_pos'], type: 'F', unit: '%', command: (value) => `pos,${toText(value)}` },
    ...meters,
  ],
  input: [{ name: '', path: ['state'], type: 'B' }],
  temperature: [{ name: '', path: ['tC'], type: 'F', unit: '°C' }],
  humidity: [{ name: '', path: ['rh'], type: 'F', unit: '%' }],
  devicepower: [{ name: 'battery', path: ['battery', 'percent'], type: 'F', unit: '%' }],
  illuminance: [{ name: '', path: ['lux'], type: 'F', unit: 'lx' }],
};
/** Parts of the first generation, by the topic below `shellies/<id>/`. */
const firstParts: readonly (readonly [pattern: RegExp, type: ValueType, unit: string | undefined, isSet: boolean])[] = [
  [/^(?:relay|light|color|white)\/\d+$/, 'B', undefined, true],
  [/^input\/\d+$/, 'B', undefined, false],
  [/^(?:relay|light|emeter|meter|roller)\/\d+\/power$/, 'F', 'W', false],
  [/^(?:relay|light|emeter|meter|roller)\/\d+\/energy$/, 'F', 'Wmin', false],
  [/^emeter\/\d+\/voltage$/, 'F', 'V', false],
  [/^(?:temperature|sensor\/temperature)$/, 'F', '°C', false],
  [/^sensor\/humidity$/, 'F', '%', false],
  [/^sensor\/battery$/, 'F', '%', false],
  [/^sensor\/lux$/, 'F', 'lx', false],
  [/^sensor\/(?:motion|flood|smoke|vibration)$/, 'B', undefined, false],
  [/^sensor\/state$/, 'S', undefined, false],
];

/** The filters at which Shelly devices are found. */
export const shellyFilters = ['+/status/+', 'shellies/#'];

/** Returns the parameters that a topic of a Shelly device announces; undefined: it is of none. */
export function shellyDevice(
  topic: string,
  payload: Payload,
): { readonly key: string; readonly bindings: readonly Binding[] } | undefined {
  const [, id, component, number] = /^(shelly[\w-]+)\/status\/(\w+):(\d+)$/.exec(topic) ?? [];
  if (id !== undefined) return { key: topic, bindings: secondGeneration(id, component!, number!, topic, payload) };
  const [, first, rest] = /^shellies\/([\w-]+)\/(.+)$/.exec(topic) ?? [];
  const part = firstParts.find(([pattern]) => rest !== undefined && pattern.test(rest));
  if (first === undefined || rest === undefined || part === undefined) return undefined;
  const [, type, unit, isSet] = part;
  const device = deviceAt(first, `shellies/${first}/online`);
  const bindings = bind(device, {
    id: `${first}/${rest}`,
    type,
    about: defined({ label: `${first} ${rest}`, unit }),
    topic,
    ...(isSet && { write: { topic: `${topic}/command`, format: onOff } }),
  });
  return { key: topic, bindings };
}

function secondGeneration(id: string, component: string, number: string, topic: string, payload: Payload): Binding[] {
  const device = deviceAt(id, `${id}/online`);
  return (shellyParts[component] ?? []).flatMap(({ name, path, type, unit, command }) => {
    if (payload.at(path) === undefined) return [];
    const id_ = [id, component, number, ...(name === '' ? [] : [name])].join('/');
    return bind(device, {
      id: id_,
      type,
      about: defined({
        label: `${id} ${component} ${number} ${name}`.trim(),
        unit,
        ...(unit === '%' && command !== undefined && { min: 0, max: 100 }),
      }),
      topic,
      path,
      ...(command !== undefined && {
        write: { topic: `${id}/command/${component}:${number}`, format: (value: Value) => command(value) },
      }),
    });
  });
}

function deviceAt(id: string, topic: string): Device {
  return { name: id, availability: [availabilityOf(topic, undefined, 'true', 'false')] };
}
