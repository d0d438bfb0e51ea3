// Converts payloads, such as MQTT messages, to values, and values to payloads.

import { numberWithin } from '../model/digits.ts';
import { describe, HubError } from '../model/error.ts';
import type { About } from '../model/parameter.ts';
import { convert, toText, type Value, type ValueType } from '../model/value.ts';
import { partAt } from './message.ts';

/** A payload as text and as JSON. Each form is created only when it is needed, and at most once. */
export class Payload {
  readonly #bytes: Buffer;
  #text: string | undefined;
  #json: { readonly value: unknown } | undefined;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isEmpty(): boolean {
    return this.#bytes.length === 0;
  }

  get text(): string {
    this.#text ??= this.#bytes.toString();
    return this.#text;
  }

  /** The payload as JSON; undefined if the payload is not JSON. */
  get json(): unknown {
    if (this.#json === undefined) {
      try {
        this.#json = { value: JSON.parse(this.text) };
      } catch {
        this.#json = { value: undefined };
      }
    }
    return this.#json.value;
  }

  /** Returns the part of the JSON payload at a path, or undefined if there is no such part. Without a path, returns the whole text. */
  at(path: readonly string[] | undefined): unknown {
    return path === undefined ? this.text : partAt(this.json, path);
  }
}

/** Splits a path such as `sensors[0].level` or `sensors.0.level` into its steps. */
export function readPath(path: string): readonly string[] {
  return path
    .replace(/\[(?:(\d+)|'([^']*)'|"([^"]*)")\]/g, (_, index, single, double) => `.${index ?? single ?? double}`)
    .split('.')
    .filter((part) => part !== '');
}

const trueWords: ReadonlySet<string> = new Set(['true', 'on', '1', 'yes']);
const falseWords: ReadonlySet<string> = new Set(['false', 'off', '0', 'no']);

/** The device's words for true and false in payloads. If a word is undefined, the usual words are recognized. */
export interface Words {
  readonly on?: string | undefined;
  readonly off?: string | undefined;
}

/**
 * Converts a part of a payload to a value. Returns null if the value is unknown, and undefined if the payload does not concern the
 * parameter. Errors: `not-convertible`.
 */
export function readValue(
  type: ValueType,
  part: unknown,
  { on, off }: Words,
  choices: About['choices'],
): Value | null | undefined {
  if (part === undefined) return undefined;
  if (part === null) return null;
  const text = typeof part === 'object' ? JSON.stringify(part) : toText(part as Value);
  if (type === 'T') return on === undefined || text === on ? 1 : undefined;
  if (choices !== undefined && Object.hasOwn(choices, text)) return convert(type, choices[text]);
  if (type === 'B') return readBoolean(text, { on, off });
  return convert(type, typeof part === 'object' ? text : part);
}

/** Converts a word to a boolean. Without `on` and `off`, the usual words are recognized. Errors: `not-convertible`. */
export function readBoolean(text: string, { on, off }: Words = {}): boolean {
  if (on !== undefined || off !== undefined) {
    if (text === on) return true;
    if (text === off) return false;
    if (on !== undefined && off !== undefined)
      throw new HubError('not-convertible', `expected ${describe(on)} or ${describe(off)}, got ${describe(text)}`);
  }
  const word = text.trim().toLowerCase();
  if (trueWords.has(word)) return true;
  if (falseWords.has(word)) return false;
  throw new HubError('not-convertible', `expected true or false, on or off, got ${describe(text)}`);
}

/** Returns the device's word for a value, if there is such a word: for a boolean, or for one of the choices. */
export function wordOf(value: Value, { on, off }: Words, choices: About['choices']): Value {
  if (choices !== undefined) {
    const found = Object.entries(choices).find(([, one]) => one === value);
    if (found !== undefined) return found[0];
  }
  if (value === true && on !== undefined) return on;
  if (value === false && off !== undefined) return off;
  return value;
}

/** Converts the input of a write to a value that the metadata allow. Errors: `not-convertible`, `out-of-range`. */
export function acceptedValue(type: ValueType, { min, max, choices }: About, input: unknown): Value {
  const value = type === 'B' && typeof input === 'string' ? readBoolean(input) : convert(type, input);
  if (
    typeof value === 'number' &&
    type !== 'T' &&
    ((min !== undefined && value < min) || (max !== undefined && value > max))
  )
    throw new HubError('out-of-range', `expected ${numberWithin(min, max)}, got ${value}`);
  if (choices !== undefined && !Object.values(choices).includes(value))
    throw new HubError(
      'out-of-range',
      `expected one of ${Object.values(choices).slice(0, 20).join(', ')}, got ${describe(value)}`,
    );
  return value;
}

/**
 * Returns data with a value in place of `{value}`, at any depth. A string that consists only of `{value}` becomes the value itself and
 * keeps its type.
 */
export function fillValue(data: unknown, value: Value): unknown {
  if (data === '{value}') return value;
  if (typeof data === 'string') return data.replaceAll('{value}', () => toText(value));
  if (Array.isArray(data)) return data.map((one) => fillValue(one, value));
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(Object.entries(data).map(([name, one]) => [name, fillValue(one, value)]));
}
