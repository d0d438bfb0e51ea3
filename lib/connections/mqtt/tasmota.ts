// Converts Tasmota devices to parameters. `tasmota/discovery/<MAC>/config` and `/sensors` describe a device's topics, words and units.
// Relays, dimmers, colour temperature, shutters, fans, switches, buttons and sensors become parameters.

import type { Payload } from '../../device/payload.ts';
import { isJsonObject } from '../../model/json-object.ts';
import { toText, type Value } from '../../model/value.ts';
import type { Binding, Device } from './bindings.ts';
import { segmentOf } from './documents.ts';
import type { Described } from './entities.ts';
import { availabilityOf } from './parameters.ts';
import { topicMistake } from './settings.ts';
import { bind, defined, maxExposes, type Part, textOf } from './vendors.ts';

/** The kinds of relays, as numbers under the key `rl`. */
const [simpleRelay, lightRelay, shutterRelay] = [1, 2, 3];
/** The maximum number of relays, switches, buttons and shutters. */
const maxIndex = 32;

const units: Readonly<Record<string, string>> = {
  ActivePower: 'W',
  Ambient: 'lx',
  ApparentPower: 'VA',
  Battery: '%',
  CarbonDioxide: 'ppm',
  CCT: 'K',
  Current: 'A',
  CurrentNeutral: 'A',
  Distance: 'cm',
  eCO2: 'ppm',
  Energy: 'kWh',
  ExportActive: 'kWh',
  ExportReactive: 'kVArh',
  ExportTariff: 'kWh',
  Frequency: 'Hz',
  Humidity: '%',
  Illuminance: 'lx',
  ImportActive: 'kWh',
  ImportReactive: 'kVArh',
  Moisture: '%',
  PhaseAngle: '°',
  PM1: 'µg/m³',
  'PM2.5': 'µg/m³',
  PM10: 'µg/m³',
  Power: 'W',
  ReactivePower: 'VAr',
  Today: 'kWh',
  Total: 'kWh',
  TotalTariff: 'kWh',
  TVOC: 'ppb',
  Voltage: 'V',
  Weight: 'kg',
  Yesterday: 'kWh',
};
/** The keys that contain the unit of a sensor value, with the default units. */
const statedUnits: Readonly<Record<string, readonly [key: string, usual: string]>> = {
  DewPoint: ['TempUnit', 'C'],
  Pressure: ['PressureUnit', 'hPa'],
  SeaPressure: ['PressureUnit', 'hPa'],
  Speed: ['SpeedUnit', 'km/h'],
  Temperature: ['TempUnit', 'C'],
};
/** The keys in a sensor message that are not sensors. */
const noSensors: ReadonlySet<string> = new Set(['Time', 'PN532', 'RDM6300', 'TempUnit', 'PressureUnit', 'SpeedUnit']);
const buttonActions = ['SINGLE', 'DOUBLE', 'TRIPLE', 'QUAD', 'PENTA', 'HOLD', 'CLEAR'];

/** Returns the parameters of a device, given the contents of its two discovery documents. */
export function tasmotaDevice(mac: string, config: unknown, sensors: unknown): Described {
  if (!isJsonObject(config)) return { bindings: [], refused: [] };
  const name = textOf(config.dn) ?? mac;
  const { t, ft, tp } = config;
  const prefixes = Array.isArray(tp) ? tp : [];
  if (typeof t !== 'string' || typeof ft !== 'string' || prefixes.length < 3)
    return { bindings: [], refused: [`${name} has no topics`] };
  const topicOf = (place: number, rest: string) =>
    ft
      .replaceAll('%prefix%', () => String(prefixes[place]))
      .replaceAll('%topic%', () => t)
      .replace(/\/?$/, '/') + rest;
  const will = topicOf(2, 'LWT');
  if (topicMistake(will) !== undefined) return { bindings: [], refused: [`${name} has no topics`] };
  const found = new TasmotaDevice(mac, name, config, topicOf, {
    name: `tasmota ${mac} ${t}`,
    availability:
      config.dslp === 1 // a device in deep sleep reports its availability by itself
        ? []
        : [availabilityOf(will, undefined, textOf(config.onln) ?? 'Online', textOf(config.ofln) ?? 'Offline')],
  });
  found.addRelays();
  found.addLight();
  found.addShutters();
  found.addSwitches();
  found.addStatus();
  if (isJsonObject(sensors) && isJsonObject(sensors.sn)) found.addSensors(sensors.sn);
  return { bindings: found.bindings, refused: [] };
}

class TasmotaDevice {
  readonly bindings: Binding[] = [];
  readonly #mac: string;
  readonly #name: string;
  readonly #config: Readonly<Record<string, unknown>>;
  readonly #topicOf: (place: number, rest: string) => string;
  readonly #device: Device;
  readonly #relays: readonly unknown[];

  constructor(
    mac: string,
    name: string,
    config: Readonly<Record<string, unknown>>,
    topicOf: (place: number, rest: string) => string,
    device: Device,
  ) {
    this.#mac = mac;
    this.#name = name;
    this.#config = config;
    this.#topicOf = topicOf;
    this.#device = device;
    this.#relays = this.#list('rl');
  }

  #list(key: string): readonly unknown[] {
    const list = this.#config[key];
    return Array.isArray(list) ? list.slice(0, maxIndex) : [];
  }

  #option(number: string): boolean {
    return isJsonObject(this.#config.so) && this.#config.so[number] === 1;
  }

  #add(ids: readonly string[], label: string, part: Omit<Part, 'id' | 'about'> & Partial<Pick<Part, 'about'>>): void {
    const id = [this.#mac, ...ids].map(segmentOf).join('/');
    const about = defined({ label: label === this.#name ? label : `${this.#name} ${label}`, ...part.about });
    this.bindings.push(...bind(this.#device, { ...part, id, about }));
  }

  /** Returns the topics that report a value: `RESULT` or a separate topic after a command, and `STATE` periodically. */
  #stated(key: string, also: readonly string[] = []): Pick<Part, 'topic' | 'moreTopics' | 'read'> {
    const keys = [key, ...also];
    const own = this.#option('4') ? keys.map((one) => this.#topicOf(1, one.toUpperCase())) : [];
    return {
      topic: this.#topicOf(1, 'RESULT'),
      moreTopics: [...own, this.#topicOf(2, 'STATE')],
      read: (payload) => keys.map((one) => payload.at([one])).find((part) => part !== undefined),
    };
  }

  #send(key: string) {
    return { topic: this.#topicOf(0, key), format: (_: Value, word: Value) => toText(word) };
  }

  addRelays(): void {
    const [off = 'OFF', on = 'ON'] = this.#list('state').map(String);
    const isOne = this.#relays.filter((kind) => kind !== 0).length === 1;
    const names = this.#list('fn');
    for (const [index, kind] of this.#relays.entries()) {
      if (kind !== simpleRelay && kind !== lightRelay) continue;
      const numbered = `POWER${index + 1}`;
      const power = isOne ? 'POWER' : numbered;
      const own = textOf(names[index]);
      this.#add([power.toLowerCase()], own ?? power, {
        type: 'B',
        ...this.#stated(power, isOne ? [numbered] : []),
        words: { on, off },
        write: this.#send(power),
        ...(own !== undefined && { about: { label: own } }),
      });
    }
    if (this.#config.if === 1)
      this.#add(['fanspeed'], 'FanSpeed', {
        type: 'I',
        ...this.#stated('FanSpeed'),
        write: this.#send('FanSpeed'),
        about: { min: 0, max: 3, step: 1 },
      });
  }

  /** Adds the dimmer, colour temperature and colour of the light, depending on its subtype. */
  addLight(): void {
    const subtype = typeof this.#config.lt_st === 'number' ? this.#config.lt_st : 0;
    const first = this.#relays.indexOf(lightRelay);
    if (subtype === 0 || first < 0) return;
    const dimmer = (key: string, command = key) =>
      this.#add([key.toLowerCase()], key, {
        type: 'F',
        ...this.#stated(key),
        write: this.#send(command),
        about: { unit: '%', min: 0, max: 100 },
      });
    if (this.#option('68')) {
      for (const [index, kind] of this.#relays.entries()) if (kind === lightRelay) dimmer(`Channel${index + 1}`);
      return;
    }
    if (this.#config.lk !== 1 && subtype >= 4) for (const key of ['Dimmer1', 'Dimmer2']) dimmer(key);
    else dimmer('Dimmer', this.#config.ty === 1 ? 'Dimmer3' : 'Dimmer');
    if (subtype === 2 || subtype === 5)
      this.#add(['ct'], 'CT', {
        type: 'F',
        ...this.#stated('CT'),
        write: this.#send('CT'),
        about: { unit: 'mired', ...(this.#option('82') ? { min: 200, max: 380 } : { min: 153, max: 500 }) },
      });
    if (subtype >= 3)
      for (const key of ['Color', 'HSBColor'])
        this.#add([key.toLowerCase()], key, { type: 'S', ...this.#stated(key), write: this.#send(key) });
  }

  /** Adds shutters, each of which uses two relays. The position of an inverted shutter is measured from the opposite end. */
  addShutters(): void {
    const options = this.#list('sho');
    const count = Math.floor(this.#relays.filter((kind) => kind === shutterRelay).length / 2);
    for (let index = 0; index < count; index++) {
      const key = `Shutter${index + 1}`;
      const isInverted = typeof options[index] === 'number' && ((options[index] as number) & 1) === 1;
      const turned = (value: unknown) => (isInverted && typeof value === 'number' ? 100 - value : value);
      this.#add([key.toLowerCase(), 'position'], `${key} position`, {
        type: 'F',
        topic: this.#topicOf(1, 'RESULT'),
        moreTopics: [this.#topicOf(2, 'SENSOR')],
        read: (payload) => turned(payload.at([key, 'Position'])),
        write: {
          topic: this.#topicOf(0, `ShutterPosition${index + 1}`),
          format: (value) => toText(turned(value) as Value),
        },
        about: { unit: '%', min: 0, max: 100 },
      });
      const commands = isInverted
        ? { open: 'Close', close: 'Open', stop: 'Stop' }
        : { open: 'Open', close: 'Close', stop: 'Stop' };
      for (const [one, command] of Object.entries(commands))
        this.#add([key.toLowerCase(), one], `${key} ${one}`, {
          type: 'T',
          write: { topic: this.#topicOf(0, `Shutter${command}${index + 1}`), format: () => '' },
        });
    }
  }

  /** Adds the switches and buttons that send their own messages (SetOption114 and SetOption73). */
  addSwitches(): void {
    const [off = 'OFF', on = 'ON', toggle = 'TOGGLE', hold = 'HOLD'] = this.#list('state').map(String);
    const names = this.#list('swn');
    const topic = this.#topicOf(1, 'RESULT');
    for (const [index, mode] of this.#list('swc').entries()) {
      if (typeof mode !== 'number' || mode < 0) continue;
      const key = textOf(names[index]) ?? `Switch${index + 1}`;
      const ids = [`switch${index + 1}`];
      const action = (payload: Payload) => payload.at([key, 'Action']);
      const said = (payload: Payload) => {
        const word = action(payload) ?? payload.at([key]);
        return word === on || word === off ? word : undefined;
      };
      this.#add(ids, key, {
        type: 'B',
        topic,
        moreTopics: [this.#topicOf(2, 'SENSOR')],
        read: said,
        words: { on, off },
      });
      for (const word of [toggle, hold])
        this.#add([...ids, word.toLowerCase()], `${key} ${word}`, {
          type: 'T',
          topic,
          read: action,
          words: { on: word },
        });
    }
    for (const [index, isUsed] of this.#list('btn').entries())
      for (const word of isUsed === 1 ? buttonActions : [])
        this.#add([`button${index + 1}`, word.toLowerCase()], `Button${index + 1} ${word}`, {
          type: 'T',
          topic,
          path: [`Button${index + 1}`, 'Action'],
          words: { on: word },
        });
  }

  addStatus(): void {
    for (const [key, unit] of [
      ['RSSI', '%'],
      ['Signal', 'dBm'],
    ] as const)
      this.#add(['wifi', key.toLowerCase()], `Wifi ${key}`, {
        type: 'F',
        topic: this.#topicOf(2, 'STATE'),
        path: ['Wifi', key],
        about: { unit },
      });
  }

  /** Adds the sensors. They may be nested and contain lists: `{"ENERGY": {"Power": [1, 2]}}`. */
  addSensors(sn: Readonly<Record<string, unknown>>): void {
    const topic = this.#topicOf(2, 'SENSOR');
    let left = maxExposes;
    const add = (path: readonly string[], value: unknown) => {
      if (left-- <= 0 || path.length > 4) return;
      if (Array.isArray(value)) for (const [index, one] of value.entries()) add([...path, `${index}`], one);
      else if (isJsonObject(value)) for (const [key, one] of Object.entries(value)) add([...path, key], one);
      else
        this.#add(path, path.join(' '), {
          type: typeof value === 'string' ? 'S' : 'F',
          topic,
          path,
          about: defined({ unit: typeof value === 'string' ? undefined : unitOf(path, sn) }),
        });
    };
    for (const [key, value] of Object.entries(sn))
      if (!noSensors.has(key) && !/^(?:Switch|Button|Shutter)\d+$/.test(key)) add([key], value);
  }
}

/** Returns the unit for the value at a path: for `ENERGY.Power.0`, the unit of `Power`. */
function unitOf(path: readonly string[], sn: Readonly<Record<string, unknown>>): string | undefined {
  for (const key of path.toReversed()) {
    const stated = Object.hasOwn(statedUnits, key) ? statedUnits[key] : undefined;
    if (stated !== undefined) {
      const unit = textOf(sn[stated[0]]) ?? stated[1];
      return stated[0] === 'TempUnit' ? `°${unit}` : unit;
    }
    if (Object.hasOwn(units, key)) return units[key];
  }
  return undefined;
}
