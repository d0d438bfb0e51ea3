// Compiles the parameters in the settings to bindings and reports all mistakes. `room/{room}/level` is a template. With `{n:1..8}` or
// `{side:L|R}`, the parameters are declared in advance. With `{room}`, a parameter is declared when a message arrives at its topic.

import { type Matcher, parseMatcher } from '../../device/message.ts';
import { PatternError } from '../../device/pattern.ts';
import { type Payload, readPath, readValue, wordOf } from '../../device/payload.ts';
import { compileExpression, ExpressionMistake } from '../../expression/expression.ts';
import { parameterIdMistake } from '../../model/address.ts';
import { messageOf } from '../../model/error.ts';
import { convert, toText, type Value } from '../../model/value.ts';
import type { SettingMistake } from '../setting.ts';
import type { Availability, Binding, Device } from './bindings.ts';
import { aboutOf, type MqttSettings, type ParameterSettings } from './settings.ts';

/** The maximum number of parameters that the settings may declare. */
const maxParameters = 20_000;

type Names = Readonly<Record<string, string>>;

/** A template with variables whose values come from the topics of messages. */
export interface OpenTemplate {
  /** The Parameter ID of the template as written in the settings. */
  readonly name: string;
  readonly type: ParameterSettings['type'];
  /** The topic filter that matches all topics of the template, such as `house/+/level`. */
  readonly filter: string;
  /** Returns the binding for a topic, or undefined if the topic does not match. */
  bind(topic: string): Binding | undefined;
  /** Returns the binding for a Parameter ID, or undefined if the ID does not match. */
  bindId(id: string): Binding | undefined;
}

export interface CompiledParameters {
  readonly bindings: readonly Binding[];
  readonly open: readonly OpenTemplate[];
  readonly mistakes: readonly SettingMistake[];
}

export function compileParameters({ parameters }: Pick<MqttSettings, 'parameters'>): CompiledParameters {
  const bindings = new Map<string, Binding>();
  const open: OpenTemplate[] = [];
  const mistakes: SettingMistake[] = [];
  for (const [name, settings] of Object.entries(parameters)) {
    const path = ['parameters', name];
    const add = (place: readonly string[], message: string, offset?: number) =>
      mistakes.push({ path: [...path, ...place], message, offset });
    const variables = readVariables(name, (message) => add([], message));
    for (const key of ['topic', 'set'] as const)
      for (const { 1: used } of (settings[key] ?? '').matchAll(/\{([^{}]*)\}/g))
        if (!variables.has(used!))
          mistakes.push({ path: [...path, key], unknown: 'variable', name: used!, known: [...variables.keys()] });
    const io = compileIo(settings, [...variables.keys()], add);
    if (settings.type === 'T' && settings.retain === true)
      add(['retain'], 'expected false, because triggers are never retained, got true (boolean)');
    const isOpen = [...variables.values()].includes(undefined);
    if (isOpen) {
      const { topic } = settings;
      if (topic === undefined || [...variables.keys()].some((one) => !topic.includes(`{${one}}`)))
        add(
          ['topic'],
          `expected a topic with ${[...variables.keys()].map((one) => `{${one}}`).join(' and ')}, because messages determine which parameters exist`,
        );
      else open.push(openTemplate(name, settings, variables, io));
      continue;
    }
    for (const values of combinations(variables)) {
      const id = fill(name, values);
      if (bindings.size >= maxParameters) {
        add([], `expected at most ${maxParameters} parameters in total`);
        break;
      }
      if (bindings.has(id)) add([], `expected each Parameter ID once, got "${id}" twice`);
      else bindings.set(id, createBinding(id, settings, values, io));
    }
  }
  return { bindings: [...bindings.values()], open, mistakes };
}

/** The functions that read and write payloads, which all parameters of a template share. */
interface Io {
  read(payload: Payload): Value | null | undefined;
  format(value: Value, names: Names): string;
}

function compileIo(
  settings: ParameterSettings,
  names: readonly string[],
  add: (place: readonly string[], message: string, offset?: number) => void,
): Io {
  const { type, path, value: written, send, on, off, choices } = settings;
  const compute = (text: string, known: readonly string[]) => {
    const { evaluate } = compileExpression(text, Object.fromEntries(known.map((name) => [name, undefined])));
    return (values: ReadonlyMap<string, Value>) => evaluate(Object.fromEntries(values));
  };
  const guarded = <T>(place: string, compile: () => T): T | undefined => {
    try {
      return compile();
    } catch (error) {
      const offset = error instanceof ExpressionMistake || error instanceof PatternError ? error.offset : undefined;
      add([place], messageOf(error), typeof settings[place as 'send'] === 'string' ? offset : undefined);
      return undefined;
    }
  };
  if (path !== undefined && readPath(path).length === 0)
    add(['path'], 'expected a path such as "state", got an empty path');
  for (const word of ['on', 'off'] as const)
    if (settings[word] !== undefined && type !== 'B' && !(type === 'T' && word === 'on'))
      add([word], `expected no ${word} with the value type ${type}`);
  for (const [word, one] of Object.entries(choices ?? {}))
    try {
      convert(type, one);
    } catch (error) {
      add(['choices', word], messageOf(error));
    }
  const computed = written === undefined ? undefined : guarded('value', () => compute(written, ['value']));
  const matcher: Matcher | undefined =
    send === undefined
      ? undefined
      : guarded('send', () => parseMatcher(send, false, (text) => compute(text, ['value', ...names])));
  for (const name of matcher?.names ?? [])
    if (name !== 'value' && !names.includes(name))
      add(['send'], `unknown name "${name}"; expected value${names.map((one) => `, ${one}`).join('')}`);
  const steps = path === undefined ? undefined : readPath(path);
  return {
    read(payload) {
      let part = payload.at(steps);
      if (computed !== undefined && part !== undefined && part !== null)
        part = computed(new Map([['value', numberOf(part)]]));
      return readValue(type, part, { on, off }, choices);
    },
    format(value, values) {
      const word = type === 'T' ? (on ?? '1') : wordOf(value, { on, off }, choices);
      if (matcher === undefined) return toText(word);
      return matcher.format(new Map<string, Value>([...Object.entries(values), ['value', word]]));
    },
  };
}

/**
 * Converts a part of a payload to a value for expressions: a string that contains a number becomes the number, and an object or a list
 * becomes JSON.
 */
function numberOf(part: unknown): Value {
  if (typeof part !== 'string') return typeof part === 'object' ? JSON.stringify(part) : (part as Value);
  return part.trim() !== '' && Number.isFinite(Number(part)) ? Number(part) : part;
}

function createBinding(id: string, settings: ParameterSettings, values: Names, io: Io): Binding {
  const { type, set, optimistic, retain } = settings;
  const topic = settings.topic === undefined ? undefined : fill(settings.topic, values);
  const target = set === undefined ? undefined : fill(set, values);
  return {
    id,
    type,
    about: aboutOf(settings),
    device: deviceOf(settings, values),
    topic,
    read: (payload) => io.read(payload),
    write:
      target === undefined
        ? undefined
        : {
            topic: target,
            isRetained: type !== 'T' && (retain ?? target === topic),
            isOptimistic: optimistic,
            format: (value) => io.format(value, values),
          },
  };
}

function deviceOf({ availability }: ParameterSettings, values: Names): Device | undefined {
  if (availability === undefined) return undefined;
  const { topic, path, online, offline } =
    typeof availability === 'string'
      ? { topic: availability, path: undefined, online: 'online', offline: 'offline' }
      : availability;
  const filled = fill(topic, values);
  const one = availabilityOf(filled, path, online, offline);
  return { name: JSON.stringify([filled, path, online, offline]), availability: [one] };
}

/**
 * Returns an availability topic whose payload is compared with `online` and `offline`. Without a path, JSON with a key `state` is supported
 * as well.
 */
export function availabilityOf(topic: string, path: string | undefined, online: string, offline: string): Availability {
  const steps = path === undefined ? undefined : readPath(path);
  return {
    topic,
    read(payload) {
      const part = steps === undefined && payload.text.startsWith('{') ? payload.at(['state']) : payload.at(steps);
      const word = part === undefined || part === null || typeof part === 'object' ? undefined : toText(part as Value);
      return word === online ? true : word === offline ? false : undefined;
    },
  };
}

// Templates: `{n:1..8}` and `{side:L|R}`, and `{room}`, whose values come from messages

/** Returns the values of each variable in a template. The values are undefined if they come from messages. */
function readVariables(name: string, add: (message: string) => void): Map<string, readonly string[] | undefined> {
  const variables = new Map<string, readonly string[] | undefined>();
  for (const { 1: inner } of name.matchAll(/\{([^{}]*)\}/g)) {
    const [, variable, , from, to, words] = /^([A-Za-z_]\w*)(:(?:(-?\d+)\.\.(-?\d+)|([^{}]+)))?$/.exec(inner!) ?? [];
    if (variable === undefined) add(`expected a variable such as {n}, {n:1..8} or {side:L|R}, got {${inner}}`);
    else if (variables.has(variable)) add(`expected each variable once, got {${variable}} twice`);
    else if (from !== undefined && Number(to) - Number(from) >= maxParameters)
      add(`expected at most ${maxParameters} parameters in total`);
    else if (from !== undefined)
      variables.set(
        variable,
        Array.from({ length: Math.max(0, Number(to) - Number(from) + 1) }, (_, place) => `${Number(from) + place}`),
      );
    else variables.set(variable, words?.split('|'));
  }
  if (/[{}]/.test(name.replace(/\{[^{}]*\}/g, ''))) add('expected matching braces');
  return variables;
}

/** Replaces the variables in a text with their values. */
function fill(text: string, values: Names): string {
  return text.replace(/\{([^{}:]*)(?::[^{}]*)?\}/g, (whole, name: string) => values[name] ?? whole);
}

function* combinations(variables: ReadonlyMap<string, readonly string[] | undefined>): Generator<Names> {
  const [first, ...others] = variables;
  if (first === undefined) yield {};
  else
    for (const rest of combinations(new Map(others)))
      for (const value of first[1] ?? []) yield { [first[0]]: value, ...rest };
}

function openTemplate(
  name: string,
  settings: ParameterSettings,
  variables: ReadonlyMap<string, readonly string[] | undefined>,
  io: Io,
): OpenTemplate {
  const topicValues = matcherOf(settings.topic!, variables);
  const idValues = matcherOf(name, variables);
  const bindWith = (values: Names | undefined) => {
    const id = values === undefined ? '' : fill(name, values);
    return values === undefined || parameterIdMistake(id) !== undefined
      ? undefined
      : createBinding(id, settings, values, io);
  };
  return {
    name,
    type: settings.type,
    filter: settings
      .topic!.split('/')
      .map((segment) => (/\{/.test(segment) ? '+' : segment))
      .join('/'),
    bind: (topic) => bindWith(topicValues(topic)),
    bindId: (id) => bindWith(idValues(id)),
  };
}

/**
 * Returns a function that matches a string with the template and returns the values of the variables, or undefined if the string does not
 * match.
 */
function matcherOf(
  template: string,
  variables: ReadonlyMap<string, readonly string[] | undefined>,
): (text: string) => Names | undefined {
  const names: string[] = [];
  const quoted = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const source = template.split(/(\{[^{}]*\})/).map((part) => {
    if (!part.startsWith('{')) return quoted(part);
    const name = part.slice(1, -1).split(':')[0]!;
    names.push(name);
    const values = variables.get(name);
    return values === undefined ? '([^/]+)' : `(${values.map(quoted).join('|')})`;
  });
  const pattern = new RegExp(`^${source.join('')}$`);
  return (text) => {
    const found = pattern.exec(text);
    return found === null ? undefined : Object.fromEntries(names.map((name, place) => [name, found[place + 1]!]));
  };
}
