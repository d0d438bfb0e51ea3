// Reads Home Assistant discovery documents: expands abbreviated keys and the base topic `~`, and collects the parameters that `entities.ts`
// finds. ESPHome, the Zigbee2MQTT bridge and other programs publish documents of this form.

import { Payload, readValue, type Words, wordOf } from '../../device/payload.ts';
import { HubError } from '../../model/error.ts';
import { isJsonObject } from '../../model/json-object.ts';
import type { About } from '../../model/parameter.ts';
import { longestDurationMs } from '../../model/time/duration.ts';
import { toText, type Value, type ValueType } from '../../model/value.ts';
import { longDeviceNames, longNames } from './abbreviations.ts';
import type { Availability, Binding, BindingWrite, Device } from './bindings.ts';
import { availabilityOf } from './parameters.ts';
import { topicMistake } from './settings.ts';
import { compileTemplate, noneText, TemplateError } from './templates.ts';

export type Json = Readonly<Record<string, unknown>>;

export interface DocumentPlace {
  /** The topic to which the document was published. */
  readonly topic: string;
  readonly component: string;
  /** The node ID in the topic; undefined if the topic has no node ID. */
  readonly node: string | undefined;
  readonly object: string;
}

/** Splits a topic such as `homeassistant/sensor/node/object/config` into its parts. Returns undefined if the topic has a different form. */
export function placeIn(topic: string, prefix: string): DocumentPlace | undefined {
  if (!topic.startsWith(`${prefix}/`)) return undefined;
  const [component, ...others] = topic.slice(prefix.length + 1).split('/');
  if (others.pop() !== 'config' || others.length < 1 || others.length > 2) return undefined;
  return { topic, component: component!, node: others.length === 2 ? others[0] : undefined, object: others.at(-1)! };
}

/** Returns the entities in a document, each with its place and its own document. A device document contains several entities. */
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
    if (Object.keys(one).length === 1) return []; // the document merely reports that the entity was removed
    return [[{ ...place, component: textOf(document.platform) ?? '', node: place.object, object }, document] as const];
  });
}

/** Returns the stable ID of the device, or undefined if the document contains no such ID. */
export function deviceKeyOf(document: Json): string | undefined {
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

/** Returns a value as a template in a document prints it, so that it can be compared with words. */
function wordIn(value: Value): string {
  return typeof value === 'boolean' ? (value ? 'True' : 'False') : toText(value);
}

/** Converts a string to a valid segment of a Parameter ID. */
export function segmentOf(text: string): string {
  return (
    text
      .replace(/\//g, '∕')
      .replace(/\p{Cc}/gu, ' ')
      .trim() || '-'
  );
}

/** A parameter of an entity. `state`, `template`, `command` and `commandTemplate` are names of keys in the entity's document. */
export interface Part {
  readonly type: ValueType;
  /** The suffix of the Parameter ID. Without a suffix, the parameter has the ID of the entity. */
  readonly name?: string;
  readonly state?: string | undefined;
  readonly template?: string | undefined;
  readonly command?: string | undefined;
  readonly commandTemplate?: string | undefined;
  /** Further names that the command template may use; `named` returns their values. */
  readonly names?: readonly string[];
  readonly named?: (value: Value, word: Value) => Readonly<Record<string, Value | undefined>>;
  /** Reads the state from the payload or the template's result, instead of the default conversion. */
  readonly read?: (payload: Payload) => unknown;
  /** Returns the payload for a command, instead of the default conversion. Errors: `not-convertible`. */
  readonly send?: (value: Value, word: Value) => string;
  readonly words?: Words;
  /** The words for true and false in commands, if they differ from the words in states. */
  readonly commands?: Words;
  /** The parameter's values for words that the device uses, if they differ from the words. */
  readonly values?: Readonly<Record<string, string>>;
  /** The words in states that do not concern the parameter. */
  readonly ignored?: readonly (string | undefined)[];
  readonly about?: About | undefined;
}

/** Reads the keys of an entity's document and collects the entity's parameters. */
export class Entity {
  readonly bindings: Binding[] = [];
  readonly refused: string[] = [];
  readonly document: Json;
  readonly #device: Device;
  readonly #prefix: string;
  readonly #base: string;
  readonly #expireMs: number | undefined;

  constructor(document: Json, fallback: string, object: string) {
    this.document = document;
    this.#base = textOf(document['~']) ?? '';
    const key = deviceKeyOf(document) ?? fallback;
    this.#prefix = `${segmentOf(key)}/${segmentOf(object)}`;
    this.#expireMs = this.#milliseconds('expire_after');
    const name = this.#availabilityKey(key);
    this.#device = {
      name: this.#expireMs === undefined ? name : `${name} ${this.#prefix}`, // a separate device, because it may become stale on its own
      availability: this.#availability(),
      mode: modes.find((mode) => mode === document.availability_mode) ?? 'latest',
    };
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

  /** Returns the topic under a key of the document, with the base topic expanded. Returns undefined if the topic is missing or invalid. */
  topic(key: string): string | undefined {
    const written = this.document[key];
    if (typeof written !== 'string') return undefined;
    const topic = written.startsWith('~')
      ? this.#base + written.slice(1)
      : written.endsWith('~')
        ? written.slice(0, -1) + this.#base
        : written;
    if (topicMistake(topic) === undefined) return topic;
    this.refuse(`${key} is not a valid topic`);
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

  add(part: Part): void {
    const { type, name = '', state, template, command, commandTemplate, words = {}, about } = part;
    const topic = state === undefined ? undefined : this.topic(state);
    const target = command === undefined ? undefined : this.topic(command);
    if (topic === undefined && target === undefined) return;
    try {
      const read = this.#reader(part);
      const format = this.#writer(part);
      const all: About = {
        ...(this.label !== undefined && { label: name === '' ? this.label : `${this.label} ${name}` }),
        ...about,
      };
      const { choices } = all;
      const offMs = type === 'B' && command === undefined ? this.#milliseconds('off_delay') : undefined;
      const { commands = words } = part;
      const write: BindingWrite | undefined =
        target === undefined
          ? undefined
          : {
              topic: target,
              isRetained: type !== 'T' && this.document.retain === true,
              isOptimistic: this.document.optimistic === true,
              format: (value) => format(value, type === 'T' ? (commands.on ?? '1') : wordOf(value, commands, choices)),
            };
      this.bindings.push({
        id: name === '' ? this.#prefix : `${this.#prefix}/${name}`,
        type,
        about: Object.keys(all).length === 0 ? undefined : all,
        device: this.#device,
        topic,
        ...(this.#expireMs !== undefined && topic !== undefined && { expireMs: this.#expireMs }),
        ...(offMs !== undefined && { offMs }),
        read: (payload) => readValue(type, read(payload), words, choices),
        write,
      });
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      const text = this.text(template ?? '') ?? this.text(commandTemplate ?? '') ?? '';
      this.refuse(`${name === '' ? '' : `${name}: `}${error.message}: ${text.slice(0, 200)}`);
    }
  }

  /**
   * Returns the duration under a key of the document, converted from seconds to milliseconds and limited to the maximum duration of a
   * timer. Returns undefined if there is no such duration.
   */
  #milliseconds(key: string): number | undefined {
    const seconds = this.number(key) ?? 0;
    return seconds > 0 ? Math.min(seconds * 1000, longestDurationMs) : undefined;
  }

  /** Returns a function that reads the state from a payload. It ignores empty strings, unless the parameter accepts any string. */
  #reader({ type, template, read, values, ignored = [], about }: Part): (payload: Payload) => unknown {
    const text = template === undefined ? undefined : this.text(template);
    const isAnyText = type === 'S' && about?.choices === undefined;
    const known = (value: unknown) => {
      let word = typeof value === 'boolean' ? wordIn(value) : value;
      if (typeof word === 'string' && values !== undefined && Object.hasOwn(values, word)) word = values[word];
      if (unknownWords.has(word)) return null;
      return (word === '' && !isAnyText) || ignored.includes(word as string) ? undefined : word;
    };
    if (text === undefined || text.trim() === '')
      return (payload) => known(read?.(payload) ?? (read === undefined ? payload.text : undefined));
    const compiled = compileTemplate(text);
    if (read === undefined) return (payload) => known(compiled.evaluate({ text: payload.text, json: payload.json }));
    return (payload) => {
      const result = compiled.evaluate({ text: payload.text, json: payload.json });
      return result === undefined ? undefined : known(read(new Payload(Buffer.from(toText(result)))));
    };
  }

  #writer({ commandTemplate, names = [], named, send }: Part): (value: Value, word: Value) => string {
    const text = commandTemplate === undefined ? undefined : this.text(commandTemplate);
    if (text === undefined || text.trim() === '') return send ?? ((_, word) => toText(word));
    const compiled = compileTemplate(text, names);
    return (value, word) => {
      const result = compiled.evaluate({ text: word, json: undefined, names: named?.(value, word) ?? {} });
      if (result === undefined)
        throw new HubError('not-convertible', 'the command template uses variables other than `value`');
      return toText(result);
    };
  }

  /**
   * Adds a parameter. If the document contains a separate template for the command that writes false, the parameter uses this template as
   * well.
   */
  addSwitched({ offTemplate, ...part }: Part & { readonly offTemplate: string }): void {
    if (this.text(offTemplate) === undefined) {
      this.add(part);
      return;
    }
    try {
      const on = this.#writer(part);
      const off = this.#writer({ ...part, commandTemplate: offTemplate });
      const { commandTemplate: _, ...others } = part;
      this.add({ ...others, send: (value, word) => (value === true ? on : off)(value, word) });
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      this.refuse(`${error.message}: ${(this.text(part.commandTemplate ?? '') ?? '').slice(0, 200)}`);
    }
  }

  #availabilityKey(key: string): string {
    return JSON.stringify([
      key,
      this.document['~'],
      this.document.availability,
      this.document.availability_mode,
      this.document.availability_topic,
      this.document.availability_template,
      this.document.payload_available,
      this.document.payload_not_available,
    ]);
  }

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
        const value = compiled.evaluate({ text: payload.text, json: payload.json });
        const word = value === undefined ? undefined : wordIn(value);
        return word === online ? true : word === offline ? false : undefined;
      };
      return [{ topic, read }];
    } catch (error) {
      this.refuse(`availability: ${(error as Error).message}`);
      return [];
    }
  }
}

const modes = ['all', 'any', 'latest'] as const;

/** The words that devices send if a value is unknown. */
const unknownWords: ReadonlySet<unknown> = new Set([noneText, 'unknown', 'unavailable']);

/** Returns the document keys for a property: `mode_state_topic`, `mode_state_template`, `mode_command_topic`, `mode_command_template`. */
export function keysOf(name: string, template = `${name}_state_template`): Partial<Part> {
  return {
    state: `${name}_state_topic`,
    template,
    command: `${name}_command_topic`,
    commandTemplate: `${name}_command_template`,
  };
}
