// The documents of the MQTT discovery of Home Assistant: what each says of an entity, as parameters with their topics. Abbreviated keys and the
// base topic `~` are resolved. Documents of ESPHome, Tasmota's own bridge and others have the same form.

import { isJsonObject } from '../../model/json-object.ts';
import type { About } from '../../model/parameter.ts';
import { toText, type Value, type ValueType } from '../../model/value.ts';
import type { Availability, Binding, BindingWrite, Device } from './bindings.ts';
import { availabilityOf } from './parameters.ts';
import { type Payload, readPath, readValue, type Words, wordOf } from './payload.ts';
import { topicMistake } from './settings.ts';
import { compileTemplate, TemplateError } from './templates.ts';

type Json = Readonly<Record<string, unknown>>;

/** What a document has become. */
export interface Described {
  readonly bindings: readonly Binding[];
  /** What was left out, and why. */
  readonly refused: readonly string[];
}

/** The abbreviations of keys that this file reads. */
const longNames: Readonly<Record<string, string>> = {
  avty: 'availability',
  avty_mode: 'availability_mode',
  avty_t: 'availability_topic',
  avty_tpl: 'availability_template',
  bri_cmd_t: 'brightness_command_topic',
  bri_scl: 'brightness_scale',
  bri_stat_t: 'brightness_state_topic',
  bri_val_tpl: 'brightness_value_template',
  bri_cmd_tpl: 'brightness_command_template',
  cmps: 'components',
  cmd_t: 'command_topic',
  cmd_tpl: 'command_template',
  curr_temp_t: 'current_temperature_topic',
  curr_temp_tpl: 'current_temperature_template',
  dev: 'device',
  dev_cla: 'device_class',
  en: 'enabled_by_default',
  evt_typ: 'event_types',
  mode_cmd_t: 'mode_command_topic',
  mode_cmd_tpl: 'mode_command_template',
  mode_stat_t: 'mode_state_topic',
  mode_stat_tpl: 'mode_state_template',
  o: 'origin',
  ops: 'options',
  opt: 'optimistic',
  pct_cmd_t: 'percentage_command_topic',
  pct_cmd_tpl: 'percentage_command_template',
  pct_stat_t: 'percentage_state_topic',
  pct_val_tpl: 'percentage_value_template',
  p: 'platform',
  pl_avail: 'payload_available',
  pl_cls: 'payload_close',
  pl_lock: 'payload_lock',
  pl_not_avail: 'payload_not_available',
  pl_off: 'payload_off',
  pl_on: 'payload_on',
  pl_open: 'payload_open',
  pl_prs: 'payload_press',
  pl_stop: 'payload_stop',
  pl_unlk: 'payload_unlock',
  pos_t: 'position_topic',
  pos_tpl: 'position_template',
  ret: 'retain',
  schema: 'schema',
  set_pos_t: 'set_position_topic',
  set_pos_tpl: 'set_position_template',
  stat_cla: 'state_class',
  stat_t: 'state_topic',
  stat_val_tpl: 'state_value_template',
  stat_off: 'state_off',
  stat_on: 'state_on',
  state_lckd: 'state_locked',
  state_unlckd: 'state_unlocked',
  temp_cmd_t: 'temperature_command_topic',
  temp_cmd_tpl: 'temperature_command_template',
  temp_stat_t: 'temperature_state_topic',
  temp_stat_tpl: 'temperature_state_template',
  t: 'topic',
  uniq_id: 'unique_id',
  unit_of_meas: 'unit_of_measurement',
  val_tpl: 'value_template',
};
const longDeviceNames: Readonly<Record<string, string>> = {
  ids: 'identifiers',
  cns: 'connections',
  mf: 'manufacturer',
  mdl: 'model',
};

/** The kinds of entities that have nothing to read or to set, or nothing that fits into a parameter. */
const withoutValue = [
  'camera',
  'image',
  'device_automation',
  'device_tracker',
  'tag',
  'update',
  'notify',
  'alarm_control_panel',
  'lawn_mower',
  'vacuum',
  'water_heater',
];

export interface DocumentPlace {
  /** The topic of the document. */
  readonly topic: string;
  readonly component: string;
  /** From the topic; undefined: it has none. */
  readonly node: string | undefined;
  readonly object: string;
}

/** Reads `homeassistant/sensor/node/object/config`; undefined: the topic has another form. */
export function placeIn(topic: string, prefix: string): DocumentPlace | undefined {
  if (!topic.startsWith(`${prefix}/`)) return undefined;
  const [component, ...others] = topic.slice(prefix.length + 1).split('/');
  if (others.pop() !== 'config' || others.length < 1 || others.length > 2) return undefined;
  return { topic, component: component!, node: others.length === 2 ? others[0] : undefined, object: others.at(-1)! };
}

/** Returns the entities of a document. A device document has several, by their names. */
export function entitiesIn(
  place: DocumentPlace,
  json: unknown,
): readonly (readonly [place: DocumentPlace, document: Json])[] {
  if (!isJsonObject(json)) return [];
  const whole = long(json, longNames);
  if (place.component !== 'device') return [[place, whole]];
  const { components, ...shared } = whole;
  if (!isJsonObject(components)) return [];
  return Object.entries(components).flatMap(([object, one]) => {
    if (!isJsonObject(one)) return [];
    const document = { ...shared, ...long(one, longNames) } as Json;
    if (Object.keys(one).length === 1) return []; // it only says that the entity is gone
    return [[{ ...place, component: textOf(document.platform) ?? '', node: place.object, object }, document] as const];
  });
}

/** Returns the parameters of an entity. */
export function describeEntity({ component, node, object }: DocumentPlace, document: Json): Described {
  const entity = new Entity(
    document,
    node ?? object,
    node === undefined && deviceKeyOf(document) === undefined ? component : object,
  );
  if (withoutValue.includes(component)) entity.refuse(`a ${component} has no value for a parameter`);
  else describers[component] === undefined ? entity.refuse(`${component} is not known`) : describers[component](entity);
  return { bindings: entity.bindings, refused: entity.refused };
}

function deviceKeyOf(document: Json): string | undefined {
  if (!isJsonObject(document.device)) return undefined;
  const { identifiers, connections } = long(document.device, longDeviceNames);
  const [first] = Array.isArray(identifiers) ? identifiers : [identifiers];
  if (typeof first === 'string' && first !== '') return first;
  const [connection] = Array.isArray(connections) ? connections : [];
  const address = Array.isArray(connection) ? connection[1] : undefined;
  return typeof address === 'string' ? address : undefined;
}

function long(json: Json, names: Readonly<Record<string, string>>): Json {
  return Object.fromEntries(
    Object.entries(json).map(([key, value]) => [Object.hasOwn(names, key) ? names[key]! : key, value]),
  );
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'boolean'
      ? wordIn(value)
      : undefined;
}

/** Words of a document are compared as its templates print them. */
function wordIn(value: Value): string {
  return typeof value === 'boolean' ? (value ? 'True' : 'False') : toText(value);
}

/** Makes a part of an ID of any text. */
export function segmentOf(text: string): string {
  return (
    text
      .replace(/\//g, '∕')
      .replace(/\p{Cc}/gu, ' ')
      .trim() || '-'
  );
}

/** What a parameter of an entity is made of; the names are keys of the document. */
interface Part {
  readonly type: ValueType;
  /** Added to the ID; empty: the parameter is the entity itself. */
  readonly name?: string;
  readonly state?: string | undefined;
  readonly template?: string | undefined;
  readonly command?: string | undefined;
  readonly commandTemplate?: string | undefined;
  /** Reads the state in a way of its own. */
  readonly path?: string;
  readonly send?: (value: Value, word: Value) => string;
  readonly words?: Words;
  /** The words of commands, if they are others than those of states. */
  readonly commands?: Words;
  readonly about?: About | undefined;
}

class Entity {
  readonly bindings: Binding[] = [];
  readonly refused: string[] = [];
  readonly document: Json;
  readonly #device: Device;
  readonly #prefix: string;
  readonly #base: string;

  constructor(document: Json, fallback: string, object: string) {
    this.document = document;
    this.#base = textOf(document['~']) ?? '';
    const key = deviceKeyOf(document) ?? fallback;
    this.#prefix = `${segmentOf(key)}/${segmentOf(object)}`;
    this.#device = { name: this.#availabilityKey(key), availability: this.#availability() };
  }

  text(key: string): string | undefined {
    return textOf(this.document[key]);
  }

  number(key: string): number | undefined {
    const value = this.document[key];
    return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
  }

  list(key: string): readonly string[] {
    const value = this.document[key];
    return Array.isArray(value) ? value.flatMap((one) => textOf(one) ?? []) : [];
  }

  /** Resolves the base topic; undefined: there is no such topic, or it is none. */
  topic(key: string): string | undefined {
    const written = this.document[key];
    if (typeof written !== 'string') return undefined;
    const topic = written.startsWith('~')
      ? this.#base + written.slice(1)
      : written.endsWith('~')
        ? written.slice(0, -1) + this.#base
        : written;
    if (topicMistake(topic) === undefined) return topic;
    this.refuse(`${key} is not a topic`);
    return undefined;
  }

  refuse(reason: string): void {
    this.refused.push(reason);
  }

  get label(): string | undefined {
    const device = isJsonObject(this.document.device) ? textOf(this.document.device.name) : undefined;
    const name = this.text('name');
    return [device, name].filter((one) => one !== undefined && one !== '').join(' ') || undefined;
  }

  get words(): Words {
    return { on: this.text('payload_on') ?? 'ON', off: this.text('payload_off') ?? 'OFF' };
  }

  add({
    type,
    name = '',
    state,
    template,
    command,
    commandTemplate,
    path,
    send,
    words = {},
    commands = words,
    about,
  }: Part): void {
    const topic = state === undefined ? undefined : this.topic(state);
    const target = command === undefined ? undefined : this.topic(command);
    if (topic === undefined && target === undefined) return;
    try {
      const read = this.#reader(template, path);
      const format = this.#writer(commandTemplate, send);
      const all: About = {
        ...(this.label !== undefined && { label: name === '' ? this.label : `${this.label} ${name}` }),
        ...about,
      };
      const { choices } = all;
      const write: BindingWrite | undefined =
        target === undefined
          ? undefined
          : {
              topic: target,
              isRetained: type !== 'T' && this.document.retain === true && !target.endsWith('/set'),
              isOptimistic: this.document.optimistic === true,
              format: (value) => format(value, type === 'T' ? (commands.on ?? '1') : wordOf(value, commands, choices)),
            };
      this.bindings.push({
        id: name === '' ? this.#prefix : `${this.#prefix}/${name}`,
        type,
        about: Object.keys(all).length === 0 ? undefined : all,
        device: this.#device,
        topic,
        read: (payload) => readValue(type, read(payload), words, choices),
        write,
      });
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      this.refuse(`${error.message}: ${(template ?? commandTemplate ?? '').slice(0, 200)}`);
    }
  }

  #reader(template: string | undefined, path: string | undefined): (payload: Payload) => unknown {
    const text = template === undefined ? undefined : this.text(template);
    if (path !== undefined)
      return (
        (steps) => (payload: Payload) =>
          payload.at(steps)
      )(readPath(path));
    if (text === undefined || text.trim() === '') return (payload) => payload.text;
    const compiled = compileTemplate(text);
    return (payload) => {
      const value = compiled.evaluate(payload);
      return typeof value === 'boolean'
        ? wordIn(value)
        : value === '' || value === 'None' || value === 'unknown' || value === 'unavailable'
          ? null
          : value;
    };
  }

  #writer(template: string | undefined, send: Part['send']): (value: Value, word: Value) => string {
    const text = template === undefined ? undefined : this.text(template);
    if (send !== undefined) return send;
    if (text === undefined || text.trim() === '') return (_, word) => toText(word);
    const compiled = compileTemplate(text);
    return (_, word) => toText(compiled.evaluate({ text: toText(word), json: undefined }) ?? '');
  }

  #availabilityKey(key: string): string {
    return JSON.stringify([
      key,
      this.document['~'],
      this.document.availability,
      this.document.availability_topic,
      this.document.payload_available,
    ]);
  }

  /** One topic, or a list of them; with the mode `all` each of them has to say that it is there. */
  #availability(): readonly Availability[] {
    const { availability } = this.document;
    const list = Array.isArray(availability)
      ? availability.filter(isJsonObject)
      : isJsonObject(availability)
        ? [availability]
        : [];
    const single = this.topic('availability_topic');
    const all = list.map((one) => long(one, longNames));
    const found = all.flatMap((one) => {
      const topic = typeof one.topic === 'string' ? one.topic.replace(/^~/, this.#base).replace(/~$/, this.#base) : '';
      return topicMistake(topic) === undefined
        ? this.#availabilityAt(topic, one.payload_available, one.payload_not_available, one.value_template)
        : [];
    });
    return single === undefined
      ? found
      : [
          ...found,
          ...this.#availabilityAt(
            single,
            this.document.payload_available,
            this.document.payload_not_available,
            this.document.availability_template,
          ),
        ];
  }

  #availabilityAt(topic: string, there: unknown, away: unknown, template: unknown): Availability[] {
    const [online, offline] = [textOf(there) ?? 'online', textOf(away) ?? 'offline'];
    if (typeof template !== 'string') return [availabilityOf(topic, undefined, online, offline)];
    try {
      const compiled = compileTemplate(template);
      const read = (payload: Payload) => {
        const value = compiled.evaluate(payload);
        const word = value === undefined ? undefined : wordIn(value);
        return word === online ? true : word === offline ? false : undefined;
      };
      return [{ topic, read }];
    } catch (error) {
      this.refuse(`the availability: ${(error as Error).message}`);
      return [];
    }
  }
}

/** Returns the words as choices. */
function choicesOf(words: readonly string[]): About {
  return words.length === 0 ? {} : { choices: Object.fromEntries(words.map((word) => [word, word])) };
}

function defined(about: About): About {
  return Object.fromEntries(Object.entries(about).filter(([, value]) => value !== undefined));
}

const state = { state: 'state_topic', template: 'value_template' };
const both = { ...state, command: 'command_topic', commandTemplate: 'command_template' };

/** How each kind of entity is described. */
const describers: Readonly<Record<string, (entity: Entity) => void>> = {
  binary_sensor: (entity) => entity.add({ type: 'B', ...state, words: entity.words }),
  sensor(entity) {
    const unit = entity.text('unit_of_measurement');
    const isNumber =
      unit !== undefined ||
      entity.text('state_class') !== undefined ||
      entity.number('suggested_display_precision') !== undefined;
    entity.add({
      type: isNumber ? 'F' : 'S',
      ...state,
      about: defined({ unit, ...choicesOf(entity.list('options')) }),
    });
  },
  switch: (entity) =>
    entity.add({
      type: 'B',
      ...both,
      words: { on: entity.text('state_on') ?? entity.words.on, off: entity.text('state_off') ?? entity.words.off },
      commands: entity.words,
    }),
  number: (entity) =>
    entity.add({
      type: 'F',
      ...both,
      about: defined({
        unit: entity.text('unit_of_measurement'),
        min: entity.number('min') ?? 1,
        max: entity.number('max') ?? 100,
        step: entity.number('step') ?? 1,
      }),
    }),
  select: (entity) => entity.add({ type: 'S', ...both, about: choicesOf(entity.list('options')) }),
  text: (entity) => entity.add({ type: 'S', ...both }),
  button: (entity) =>
    entity.add({
      type: 'T',
      command: 'command_topic',
      commandTemplate: 'command_template',
      words: { on: entity.text('payload_press') ?? 'PRESS' },
    }),
  scene: (entity) =>
    entity.add({ type: 'T', command: 'command_topic', words: { on: entity.text('payload_on') ?? 'ON' } }),
  event: (entity) =>
    entity.add({
      type: 'S',
      state: 'state_topic',
      ...(entity.text('value_template') === undefined ? { path: 'event_type' } : { template: 'value_template' }),
      about: { ...choicesOf(entity.list('event_types')), class: 'event' },
    }),
  siren: (entity) => entity.add({ type: 'B', ...both, template: 'state_value_template', words: entity.words }),
  lock: (entity) =>
    entity.add({
      type: 'B',
      ...both,
      words: { on: entity.text('state_locked') ?? 'LOCKED', off: entity.text('state_unlocked') ?? 'UNLOCKED' },
      commands: { on: entity.text('payload_lock') ?? 'LOCK', off: entity.text('payload_unlock') ?? 'UNLOCK' },
    }),
  fan(entity) {
    entity.add({ type: 'B', ...both, template: 'state_value_template', words: entity.words });
    entity.add({
      type: 'F',
      name: 'percentage',
      state: 'percentage_state_topic',
      template: 'percentage_value_template',
      command: 'percentage_command_topic',
      commandTemplate: 'percentage_command_template',
      about: { unit: '%', min: 0, max: 100 },
    });
  },
  cover(entity) {
    const position = {
      name: 'position',
      state: 'position_topic',
      template: 'position_template',
      command: 'set_position_topic',
      commandTemplate: 'set_position_template',
    };
    entity.add({ type: 'S', name: 'state', ...state });
    entity.add({ type: 'F', ...position, about: { unit: '%', min: 0, max: 100 } });
    for (const [name, fallback] of [
      ['open', 'OPEN'],
      ['close', 'CLOSE'],
      ['stop', 'STOP'],
    ] as const)
      entity.add({
        type: 'T',
        name,
        command: 'command_topic',
        words: { on: entity.text(`payload_${name}`) ?? fallback },
      });
  },
  climate(entity) {
    const part = (name: string) => ({
      name,
      state: `${name}_state_topic`,
      template: `${name}_state_template`,
      command: `${name}_command_topic`,
      commandTemplate: `${name}_command_template`,
    });
    entity.add({ type: 'S', ...part('mode'), about: choicesOf(entity.list('modes')) });
    entity.add({
      type: 'F',
      ...part('temperature'),
      about: defined({
        unit: '°C',
        min: entity.number('min_temp'),
        max: entity.number('max_temp'),
        step: entity.number('temp_step'),
      }),
    });
    entity.add({
      type: 'F',
      name: 'current-temperature',
      state: 'current_temperature_topic',
      template: 'current_temperature_template',
      about: { unit: '°C' },
    });
  },
  light(entity) {
    const max = entity.number('brightness_scale') ?? 255;
    const about = { min: 0, max };
    if (entity.text('schema') === 'json') {
      entity.add({
        type: 'B',
        name: 'state',
        ...both,
        path: 'state',
        words: { on: 'ON', off: 'OFF' },
        send: (_, word) => JSON.stringify({ state: word }),
      });
      if (entity.document.brightness === true)
        entity.add({
          type: 'F',
          name: 'brightness',
          ...both,
          path: 'brightness',
          about,
          send: (value) => JSON.stringify({ state: 'ON', brightness: value }),
        });
    } else if (entity.text('schema') === 'template')
      entity.refuse('a light with the schema "template" is not understood');
    else {
      entity.add({ type: 'B', name: 'state', ...both, template: 'state_value_template', words: entity.words });
      entity.add({
        type: 'F',
        name: 'brightness',
        state: 'brightness_state_topic',
        template: 'brightness_value_template',
        command: 'brightness_command_topic',
        commandTemplate: 'brightness_command_template',
        about,
      });
    }
  },
};
