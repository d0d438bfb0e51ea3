// Checks a discovery document by what the documentation of Home Assistant demands of each kind of entity: the topic, the keys that must be and that
// may be there, the types and bounds of their values, and the rules for several keys. The pages are `binary_sensor.mqtt`, `button.mqtt`,
// `event.mqtt`, `number.mqtt`, `select.mqtt`, `sensor.mqtt`, `switch.mqtt`, `text.mqtt` and `mqtt` (discovery topic, device, origin).

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === 'string' && value.length > 0;
const flag: Check = (value) => typeof value === 'boolean';
const number: Check = (value) => typeof value === 'number' && Number.isFinite(value);
const texts: Check = (value) => Array.isArray(value) && value.length > 0 && value.every(text);
const oneOf =
  (...words: readonly string[]): Check =>
  (value) =>
    words.includes(value as string);
/** At most 65,535 bytes, without wildcards, control characters and non-characters. */
const topic: Check = (value) =>
  typeof value === 'string' &&
  value.length > 0 &&
  Buffer.byteLength(value) <= 65_535 &&
  value.isWellFormed() &&
  !/[+#\p{Cc}\p{Noncharacter_Code_Point}]/u.test(value);
/** Braces of Jinja come in pairs. */
const template: Check = (value) =>
  typeof value === 'string' &&
  (value.match(/\{\{/g)?.length ?? 0) === (value.match(/\}\}/g)?.length ?? 0) &&
  (value.match(/\{%/g)?.length ?? 0) === (value.match(/%\}/g)?.length ?? 0);

const object =
  (required: Readonly<Record<string, Check>>, optional: Readonly<Record<string, Check>>): Check =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(required).every(([key, check]) => check((value as Record<string, unknown>)[key])) &&
    Object.entries(value).every(([key, one]) => (required[key] ?? optional[key])?.(one) === true);

const device = object(
  { identifiers: texts },
  {
    name: text,
    manufacturer: text,
    model: text,
    model_id: text,
    hw_version: text,
    sw_version: text,
    serial_number: text,
    suggested_area: text,
    via_device: text,
    configuration_url: (value) => typeof value === 'string' && /^https?:\/\//.test(value),
    connections: Array.isArray,
  },
);
const origin = object({ name: text }, { sw_version: text, support_url: text });
const common: Readonly<Record<string, Check>> = {
  name: (value) => value === null || text(value),
  unique_id: text,
  device,
  origin,
  availability_topic: topic,
  payload_available: text,
  payload_not_available: text,
  enabled_by_default: flag,
  entity_category: oneOf('config', 'diagnostic'),
  icon: text,
};

interface Platform {
  readonly required: Readonly<Record<string, Check>>;
  readonly optional: Readonly<Record<string, Check>>;
  /** Returns what is wrong with keys that each are right. */
  rule?(document: Readonly<Record<string, unknown>>): string | undefined;
}

const written = { state_topic: topic, value_template: template, optimistic: flag, retain: flag };

export const platforms: Readonly<Record<string, Platform>> = {
  binary_sensor: {
    required: { state_topic: topic },
    optional: {
      payload_on: text,
      payload_off: text,
      value_template: template,
      off_delay: number,
      expire_after: number,
    },
    rule: ({ payload_on: on, payload_off: off }) => (on === off ? 'payload_on is payload_off' : undefined),
  },
  button: { required: { command_topic: topic }, optional: { payload_press: text, retain: flag } },
  event: { required: { state_topic: topic, event_types: texts }, optional: { value_template: template } },
  number: {
    required: { command_topic: topic },
    optional: {
      ...written,
      command_template: template,
      min: number,
      max: number,
      step: (value) => number(value) && (value as number) >= 0.001,
      mode: oneOf('auto', 'box', 'slider'),
      unit_of_measurement: text,
    },
    rule: ({ min = 1, max = 100 }) =>
      (min as number) < (max as number) ? undefined : 'max has to be greater than min',
  },
  select: {
    required: { command_topic: topic, options: texts },
    optional: { ...written, command_template: template },
    rule: ({ options }) => repeated(options),
  },
  sensor: {
    required: { state_topic: topic },
    optional: {
      value_template: template,
      unit_of_measurement: text,
      state_class: oneOf('measurement', 'measurement_angle', 'total', 'total_increasing'),
      device_class: oneOf('enum'),
      options: texts,
    },
    rule({ options, device_class: kind, state_class: states, unit_of_measurement: unit }) {
      if ((options !== undefined) !== (kind === 'enum')) return 'options and the class "enum" come together';
      if (kind === 'enum' && (states !== undefined || unit !== undefined))
        return 'an enum has no state class and no unit';
      return repeated(options);
    },
  },
  switch: {
    required: { command_topic: topic },
    optional: { ...written, payload_on: text, payload_off: text, state_on: text, state_off: text },
  },
  text: {
    required: { command_topic: topic },
    optional: {
      ...written,
      command_template: template,
      min: (value) => number(value) && (value as number) >= 0,
      max: (value) => number(value) && (value as number) <= 255,
      mode: oneOf('text', 'password'),
    },
    rule: ({ min = 0, max = 255 }) =>
      (min as number) < (max as number) ? undefined : 'max has to be greater than min',
  },
};

function repeated(options: unknown): string | undefined {
  return Array.isArray(options) && new Set(options).size < options.length ? 'an option is there twice' : undefined;
}

/** Returns what is wrong with a document at a topic; an empty list: it is valid. */
export function mistakesIn(at: string, json: string): readonly string[] {
  const [, component] = /^homeassistant\/(\w+)\/(?:[a-zA-Z0-9_-]+\/)?[a-zA-Z0-9_-]+\/config$/.exec(at) ?? [];
  const platform = component === undefined ? undefined : platforms[component];
  if (platform === undefined) return [`${at} is not the topic of a document`];
  const document = JSON.parse(json) as Readonly<Record<string, unknown>>;
  const known: Readonly<Record<string, Check>> = { ...common, ...platform.optional, ...platform.required };
  const wrong = Object.entries(document).flatMap(([key, value]) => {
    if (known[key] === undefined) return [`${component}: there is no key ${key}`];
    return known[key](value) ? [] : [`${component}: ${key} cannot be ${JSON.stringify(value)}`];
  });
  const missing = ['unique_id', 'device', 'origin', ...Object.keys(platform.required)].filter(
    (key) => document[key] === undefined,
  );
  const broken = platform.rule?.(document);
  return [
    ...wrong,
    ...missing.map((key) => `${component}: ${key} is missing`),
    ...(broken === undefined ? [] : [`${component}: ${broken}`]),
  ];
}
