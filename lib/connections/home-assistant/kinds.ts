// The domains of Home Assistant entities and their parameters: how the state and the attributes become values, and which service action
// writes them. States, attributes, features and actions are taken from Home Assistant's documentation of each domain.

import {
  choicesOf,
  colors,
  describeColor,
  domainsWithoutValue,
  fanDirections,
  isNumberSensor,
  lockTransitions,
  maxEventTypes,
  numbersOfColor,
  openStates,
} from '../../device/home-assistant.ts';
import { HubError } from '../../model/error.ts';
import type { About } from '../../model/parameter.ts';
import { readNumber, type Value, type ValueType } from '../../model/value.ts';

type Attributes = Readonly<Record<string, unknown>>;

/** An entity as Home Assistant reports it. */
export interface Reported {
  readonly state: string;
  readonly attributes: Attributes;
}

/** A service action: `light.turn_on`, or `turn_on` of the entity's own domain. */
export interface Call {
  readonly service: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** The metadata of a part. A string in `min`, `max` or `step` names the attribute that contains the number. */
interface Metadata {
  readonly unit?: string;
  readonly min?: number | string;
  readonly max?: number | string;
  readonly step?: number | string;
  readonly choices?: readonly string[];
  /** The attribute that lists the choices. */
  readonly choicesIn?: string;
  readonly description?: string | undefined;
  readonly class?: About['class'];
}

/** One parameter of an entity. */
export interface Part {
  readonly type: ValueType;
  /** The attribute that contains the value; undefined stands for the state. */
  readonly attribute?: string;
  /** Reads the value instead of the usual conversion. Returns undefined if the value is unknown, and null if the value does not change. */
  readonly read?: ((reported: Reported) => Value | null | undefined) | undefined;
  /** Further attributes on which the value depends. */
  readonly needs?: readonly string[];
  /** For a read-only trigger, returns a string that changes with each event; undefined if there has been no event. */
  readonly fired?: (reported: Reported) => string | undefined;
  /** Returns the action that writes a value. Errors: `not-convertible`. If `call` is not set, the parameter is read-only. */
  readonly call?: (value: Value, reported: Reported) => Call;
  /** Whether the entity never reports the value. */
  readonly isWriteOnly?: boolean;
  readonly about?: Metadata;
  /** Returns whether an entity with these attributes has the part; by default, every entity of the domain has it. */
  readonly isThere?: (attributes: Attributes) => boolean;
}

/** Returns the type of a part of an entity with these attributes. */
export function typeOf(domain: string, name: string, part: Part, attributes: Attributes): ValueType {
  if (domain !== 'sensor' || name !== '') return part.type;
  const isNumber = isNumberSensor({
    unit: textIn(attributes.unit_of_measurement),
    deviceClass: textIn(attributes.device_class),
    stateClass: textIn(attributes.state_class),
  });
  return isNumber ? 'F' : 'S';
}

/** Returns whether the state means that Home Assistant does not know the value. */
export function isUnknown(state: string): boolean {
  return state === 'unknown' || state === 'unavailable';
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** The maximum number of choices of a parameter. */
export const maxChoices = 1000;

function wordsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string').slice(0, maxChoices) : [];
}

const has =
  (...bits: readonly number[]) =>
  ({ supported_features: features }: Attributes): boolean =>
    typeof features === 'number' && bits.some((bit) => (features & bit) !== 0);

const withAttribute = (name: string) => (attributes: Attributes) => attributes[name] !== undefined;

const isOn = ({ state }: Reported) => (state === 'on' ? true : state === 'off' ? false : undefined);
const turn = (value: Value): Call => ({ service: value === true ? 'turn_on' : 'turn_off' });

const switched: Part = { type: 'B', read: isOn, call: turn };
const text: Part = { type: 'S' };

/** A trigger that calls an action. */
const press = (service: string, isThere?: Part['isThere']): Part => ({
  type: 'T',
  isWriteOnly: true,
  call: () => ({ service }),
  ...(isThere && { isThere }),
});

const number = (attribute: string, about: Metadata, more: Partial<Part> = {}): Part => ({
  ...{ type: 'F', attribute, about, isThere: withAttribute(attribute) },
  ...more,
});

const mode = (attribute: string, list: string, service: string, isThere: Part['isThere']): Part => ({
  ...{ type: 'S', attribute, about: { choicesIn: list } },
  ...(isThere && { isThere }),
  call: (value) => ({ service, data: { [attribute]: value } }),
});

const percent = { unit: '%', min: 0, max: 100, step: 1 } as const;
const degrees = { unit: 'temperature', min: 'min_temp', max: 'max_temp', step: 'target_temp_step' } as const;
const currentTemperature = number('current_temperature', { unit: 'temperature' });
const currentHumidity = number('current_humidity', { unit: '%' });
const targetHumidity = (isThere: Part['isThere']) =>
  number(
    'humidity',
    { unit: '%', min: 'min_humidity', max: 'max_humidity', step: 1 },
    {
      ...(isThere && { isThere }),
      call: (value) => ({ service: 'set_humidity', data: { humidity: Math.round(Number(value)) } }),
    },
  );

function targetTemperature(attribute: string, bit: number, other?: string): Part {
  return number(attribute, degrees, {
    isThere: has(bit),
    needs: other === undefined ? [] : [other],
    call: (value, { attributes }) => ({
      service: 'set_temperature',
      data: { ...(other !== undefined && { [other]: attributes[other] }), [attribute]: value },
    }),
  });
}

/** The parts of covers and valves. */
function opening(domain: 'cover' | 'valve'): Readonly<Record<string, Part>> {
  return {
    '': { type: 'S', about: { choices: openStates } },
    position: number('current_position', percent, {
      isThere: has(4),
      call: (value) => ({ service: `set_${domain}_position`, data: { position: Math.round(Number(value)) } }),
    }),
    open: press(`open_${domain}`, has(1)),
    close: press(`close_${domain}`, has(2)),
    stop: press(`stop_${domain}`, has(8)),
  };
}

/** Reads the value of a light's attribute; returns 0 while the light is off. */
const whileOn =
  (attribute: string) =>
  ({ state, attributes }: Reported) =>
    state === 'off' ? 0 : numberIn(attributes[attribute]);

const colorModes = ({ supported_color_modes: modes }: Attributes) => wordsIn(modes);

function colorParts(): Readonly<Record<string, Part>> {
  return Object.fromEntries(
    Object.keys(colors).map((name) => [
      name,
      {
        ...{ type: 'S', attribute: `${name}_color`, needs: ['supported_color_modes'] },
        about: { description: describeColor(name).description },
        isThere: (attributes) => colorModes(attributes).includes(name),
        call: (value) => ({ service: 'turn_on', data: { [`${name}_color`]: numbersOfColor(value, name) } }),
      } satisfies Part,
    ]),
  );
}

const setValue = (key: string): Part => ({
  type: 'S',
  call: (value) => ({ service: 'set_value', data: { [key]: value } }),
});
const settable: Part = {
  type: 'F',
  about: { unit: 'own', min: 'min', max: 'max', step: 'step' },
  call: (value) => ({ service: 'set_value', data: { value } }),
};
const selectable: Part = {
  type: 'S',
  about: { choicesIn: 'options' },
  call: (option) => ({ service: 'select_option', data: { option } }),
};
const dateAndTime: Part = {
  type: 'S',
  call: (value) => ({
    service: 'set_datetime',
    data: { [/^\d+-\d+-\d+$/.test(String(value)) ? 'date' : /^\d+:/.test(String(value)) ? 'time' : 'datetime']: value },
  }),
};

/** The parts of each domain, keyed by name; the entity itself is ''. */
const domains: Readonly<Record<string, Readonly<Record<string, Part>>>> = {
  alarm_control_panel: { '': text }, // its commands may need a code
  automation: { '': switched, trigger: press('trigger') },
  binary_sensor: { '': { type: 'B', read: isOn } },
  button: { '': press('press') },
  climate: {
    '': {
      type: 'S',
      about: { choicesIn: 'hvac_modes' },
      call: (value) => ({ service: 'set_hvac_mode', data: { hvac_mode: value } }),
    },
    power: {
      type: 'B',
      read: ({ state }) => (isUnknown(state) ? undefined : state !== 'off'),
      call: turn,
      isThere: has(128, 256),
    },
    temperature: targetTemperature('temperature', 1),
    'temperature-low': targetTemperature('target_temp_low', 2, 'target_temp_high'),
    'temperature-high': targetTemperature('target_temp_high', 2, 'target_temp_low'),
    'current-temperature': currentTemperature,
    'target-humidity': targetHumidity(has(4)),
    'current-humidity': currentHumidity,
    action: { type: 'S', attribute: 'hvac_action', isThere: withAttribute('hvac_action') },
    'fan-mode': mode('fan_mode', 'fan_modes', 'set_fan_mode', has(8)),
    'preset-mode': mode('preset_mode', 'preset_modes', 'set_preset_mode', has(16)),
    'swing-mode': mode('swing_mode', 'swing_modes', 'set_swing_mode', has(32)),
  },
  counter: { '': { type: 'F' }, increment: press('increment'), decrement: press('decrement'), reset: press('reset') },
  cover: {
    ...opening('cover'),
    tilt: number('current_tilt_position', percent, {
      isThere: has(128),
      call: (value) => ({ service: 'set_cover_tilt_position', data: { tilt_position: Math.round(Number(value)) } }),
    }),
  },
  date: { '': setValue('date') },
  datetime: { '': setValue('datetime') },
  event: {
    '': { type: 'T', fired: ({ state }) => (isUnknown(state) ? undefined : state) },
    type: { type: 'S', attribute: 'event_type', about: { choicesIn: 'event_types', class: 'event' } },
  },
  fan: {
    '': switched,
    percentage: number(
      'percentage',
      { unit: '%', min: 0, max: 100, step: 'percentage_step' },
      {
        isThere: has(1),
        read: whileOn('percentage'),
        call: (value) => ({ service: 'set_percentage', data: { percentage: Math.round(Number(value)) } }),
      },
    ),
    'preset-mode': mode('preset_mode', 'preset_modes', 'set_preset_mode', has(8)),
    oscillation: {
      ...{ type: 'B', attribute: 'oscillating', isThere: has(2) },
      call: (value) => ({ service: 'oscillate', data: { oscillating: value } }),
    },
    direction: {
      ...{ type: 'S', attribute: 'direction', isThere: has(4), about: { choices: fanDirections } },
      call: (direction) => ({ service: 'set_direction', data: { direction } }),
    },
  },
  group: { '': { type: 'B', read: isOn, call: (value) => ({ service: `homeassistant.${turn(value).service}` }) } },
  humidifier: {
    '': switched,
    'target-humidity': targetHumidity(undefined),
    'current-humidity': currentHumidity,
    action: { type: 'S', attribute: 'action', isThere: withAttribute('action') },
    mode: mode('mode', 'available_modes', 'set_mode', has(1)),
  },
  input_boolean: { '': switched },
  input_button: { '': press('press') },
  input_datetime: { '': dateAndTime },
  input_number: { '': settable },
  input_select: { '': selectable },
  input_text: { '': setValue('value') },
  lawn_mower: {
    '': text,
    start: press('start_mowing', has(1)),
    pause: press('pause', has(2)),
    dock: press('dock', has(4)),
  },
  light: {
    '': switched,
    brightness: number(
      'brightness',
      { min: 0, max: 255, step: 1 },
      {
        ...{ needs: ['supported_color_modes'], read: whileOn('brightness') },
        isThere: (attributes) => colorModes(attributes).some((one) => one !== 'onoff' && one !== 'unknown'),
        call: (value) =>
          Number(value) < 0.5
            ? { service: 'turn_off' }
            : { service: 'turn_on', data: { brightness: Math.round(Number(value)) } },
      },
    ),
    'color-temp': number(
      'color_temp_kelvin',
      { unit: 'K', min: 'min_color_temp_kelvin', max: 'max_color_temp_kelvin', step: 1 },
      {
        isThere: (attributes) => colorModes(attributes).includes('color_temp'),
        call: (value) => ({ service: 'turn_on', data: { color_temp_kelvin: Math.round(Number(value)) } }),
      },
    ),
    effect: mode('effect', 'effect_list', 'turn_on', has(4)),
    ...colorParts(),
  },
  lock: {
    '': {
      type: 'B',
      read: ({ state }) =>
        state === 'locked'
          ? true
          : state === 'unlocked'
            ? false
            : (lockTransitions as readonly string[]).includes(state)
              ? null
              : undefined,
      call: (value) => ({ service: value === true ? 'lock' : 'unlock' }),
    },
    open: press('open', has(1)),
  },
  media_player: {
    '': text,
    power: {
      type: 'B',
      read: ({ state }) => (isUnknown(state) ? undefined : state !== 'off' && state !== 'standby'),
      call: turn,
      isThere: has(128, 256),
    },
    volume: number(
      'volume_level',
      { min: 0, max: 1, step: 0.01 },
      {
        isThere: has(4),
        call: (value) => ({ service: 'volume_set', data: { volume_level: value } }),
      },
    ),
    mute: {
      ...{ type: 'B', attribute: 'is_volume_muted', isThere: has(8) },
      call: (value) => ({ service: 'volume_mute', data: { is_volume_muted: value } }),
    },
    source: mode('source', 'source_list', 'select_source', has(2048)),
    title: { type: 'S', attribute: 'media_title' },
    play: press('media_play', has(16_384)),
    pause: press('media_pause', has(1)),
    stop: press('media_stop', has(4096)),
    next: press('media_next_track', has(32)),
    previous: press('media_previous_track', has(16)),
  },
  notify: { '': { type: 'S', isWriteOnly: true, call: (message) => ({ service: 'send_message', data: { message } }) } },
  number: { '': settable },
  scene: { '': press('turn_on') },
  script: { '': press('turn_on'), running: { type: 'B', read: isOn } },
  select: { '': selectable },
  sensor: { '': { type: 'F', about: { unit: 'own', choicesIn: 'options' }, needs: ['device_class', 'state_class'] } },
  siren: { '': switched },
  switch: { '': switched },
  text: { '': setValue('value') },
  time: { '': setValue('time') },
  timer: { '': text, start: press('start'), pause: press('pause'), cancel: press('cancel'), finish: press('finish') },
  todo: { '': { type: 'F' } },
  update: {
    '': { type: 'B', read: isOn },
    'installed-version': { type: 'S', attribute: 'installed_version' },
    'latest-version': { type: 'S', attribute: 'latest_version' },
    install: press('install', has(1)),
  },
  vacuum: {
    '': text,
    start: press('start', has(8192)),
    pause: press('pause', has(4)),
    stop: press('stop', has(8)),
    'return-to-base': press('return_to_base', has(16)),
  },
  valve: opening('valve'),
  water_heater: {
    '': {
      ...mode('operation_mode', 'operation_list', 'set_operation_mode', undefined),
      read: ({ state }) => (isUnknown(state) ? undefined : state),
    },
    temperature: targetTemperature('temperature', 1),
    'current-temperature': currentTemperature,
  },
};

/** The parts of domains that are missing from the table, such as `sun` and `person`. */
const otherParts: Readonly<Record<string, Part>> = { '': text };

/** Returns the parts of a domain's entities, keyed by name; undefined if its entities have no value. */
export function partsOf(domain: string): Readonly<Record<string, Part>> | undefined {
  if (Object.hasOwn(domains, domain)) return domains[domain];
  return domainsWithoutValue.has(domain) ? undefined : otherParts;
}

/** Returns the trigger for one event type of an entity in the domain `event`. */
export function eventPart(type: string): Part {
  return {
    ...{ type: 'T', needs: ['event_type'] },
    fired: ({ state, attributes }) => (isUnknown(state) || attributes.event_type !== type ? undefined : state),
  };
}

/** Returns the parts that an entity with these attributes has, keyed by name. */
export function partsIn(domain: string, attributes: Attributes): readonly (readonly [name: string, part: Part])[] {
  const parts = Object.entries(partsOf(domain) ?? {}).filter(([, { isThere }]) => isThere?.(attributes) !== false);
  if (domain !== 'event') return parts;
  const types = wordsIn(attributes.event_types).slice(0, maxEventTypes);
  return [...parts, ...types.filter((type) => type !== 'type').map((type) => [type, eventPart(type)] as const)];
}

/** Returns the part that reads or writes an attribute of a domain, and its name. */
export function partOfAttribute(domain: string, attribute: string): readonly [name: string, part: Part] | undefined {
  return Object.entries(partsOf(domain) ?? {}).find(([, part]) => part.attribute === attribute);
}

/** The attributes that decide which parts an entity has, and the metadata of all parts. */
const shapeAttributes: ReadonlySet<string> = new Set([
  ...['friendly_name', 'unit_of_measurement', 'supported_features', 'supported_color_modes', 'event_types'],
  ...['device_class', 'state_class'],
  ...Object.values(domains)
    .flatMap((parts) => Object.values(parts))
    .flatMap(({ about: { min, max, step, choicesIn } = {} }) => [min, max, step, choicesIn])
    .filter((one): one is string => typeof one === 'string'),
]);

/** The attributes on which a value in the table can depend. */
const valueAttributes: ReadonlySet<string> = new Set(
  Object.values(domains)
    .flatMap((parts) => Object.values(parts))
    .flatMap(({ attribute, needs = [] }) => [attribute, ...needs])
    .filter((one): one is string => one !== undefined),
);

/** Returns whether an attribute determines which parts an entity has, or their metadata. */
export function isShape(attribute: string): boolean {
  return shapeAttributes.has(attribute);
}

/** Returns whether the hub keeps an attribute for every entity. */
export function isKept(attribute: string): boolean {
  return shapeAttributes.has(attribute) || valueAttributes.has(attribute);
}

/** Returns the metadata of a part. `temperature` is the temperature unit that Home Assistant uses. */
export function aboutPart(name: string, { about = {} }: Part, attributes: Attributes, temperature: string): About {
  const { unit, choices, choicesIn, description, class: kind } = about;
  const of = (value: number | string | undefined) => (typeof value === 'string' ? numberIn(attributes[value]) : value);
  const label = textIn(attributes.friendly_name)?.slice(0, 200);
  const [min, max, step] = [of(about.min), of(about.max), of(about.step)];
  const all: About = {
    label: label === undefined || name === '' ? label : `${label} ${name}`,
    unit: unit === 'own' ? textIn(attributes.unit_of_measurement) : unit === 'temperature' ? temperature : unit,
    ...{ min, max, step: step !== undefined && step > 0 ? step : undefined, description, class: kind },
    ...choicesOf(choices ?? (choicesIn === undefined ? [] : wordsIn(attributes[choicesIn]))),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** The maximum length of an attribute that is not a number, in characters. */
const maxAttributeLength = 4096;

/**
 * Reads the value of a part from the state or the attribute. Returns undefined if the value is unknown, and null if the value does not
 * change.
 */
export function readPart(part: Part, type: ValueType, reported: Reported): Value | null | undefined {
  if (part.read !== undefined) return part.read(reported);
  const raw = part.attribute === undefined ? reported.state : reported.attributes[part.attribute];
  if (raw === undefined || raw === null || (part.attribute === undefined && isUnknown(reported.state)))
    return undefined;
  switch (type) {
    case 'B':
      return typeof raw === 'boolean'
        ? raw
        : raw === 'on' || raw === 'true'
          ? true
          : raw === 'off' || raw === 'false'
            ? false
            : undefined;
    case 'F':
    case 'I': {
      const value = typeof raw === 'string' ? readNumber(raw) : numberIn(raw);
      return value !== undefined && Number.isFinite(value) ? (type === 'I' ? Math.round(value) : value) : undefined;
    }
    case 'S':
      return (Array.isArray(raw) ? raw.join(',') : typeof raw === 'object' ? JSON.stringify(raw) : String(raw)).slice(
        0,
        maxAttributeLength,
      );
    default:
      return undefined;
  }
}

/** Checks a value before it is written. Errors: `out-of-range`, `not-convertible`. */
export function checkWrite(id: string, part: Part, value: Value, { min, max, choices }: About): void {
  if (typeof value === 'number' && ((min !== undefined && value < min) || (max !== undefined && value > max)))
    throw new HubError('out-of-range', `${id}: expected ${min ?? '-∞'}..${max ?? '∞'}, got ${value}`);
  if (typeof value === 'string' && choices !== undefined && !Object.hasOwn(choices, value))
    throw new HubError(
      'out-of-range',
      `${id}: expected one of ${Object.keys(choices).slice(0, 20).join(', ')}, got "${value.slice(0, 100)}"`,
    );
  part.call?.(value, { state: '', attributes: {} }); // checks the format, such as that of a colour
}
