// Strings with variables: `s${n}/mic`. `$${` stands for a literal `${`.

import type { SettingPath } from '../json5/mistake.ts';
import { describeSetting } from '../model/secret.ts';
import type { Scope } from './scope.ts';

/** A part of a string with variables: either literal characters or a variable. */
export interface Part {
  /** The offset of the part in the string as written. */
  readonly offset: number;
  readonly literal?: string;
  /** The characters between `${` and `}` if the part is a variable. */
  readonly variable?: string;
}

const partPattern = /\$\$\{|\$\{([^}]*)\}?/g;

/** Returns the parts of a string, or undefined if the string contains no variables. */
export function partsOf(text: string): readonly Part[] | undefined {
  if (!text.includes('${')) return undefined;
  const parts: Part[] = [];
  let end = 0;
  for (const { 0: written, 1: variable, index: offset } of text.matchAll(partPattern)) {
    if (offset > end) parts.push({ offset: end, literal: text.slice(end, offset) });
    parts.push(variable === undefined ? { offset, literal: '${' } : { offset, variable: variable.trim() });
    end = offset + written.length;
  }
  if (end < text.length) parts.push({ offset: end, literal: text.slice(end) });
  return parts;
}

/**
 * Returns the value of a variable in the form in which it becomes part of a longer string. Throws if the value has no string form; the
 * message contains the reason.
 */
export function textOf(variable: string, value: unknown): string {
  if (['string', 'number', 'boolean'].includes(typeof value)) return String(value);
  throw new Error(
    isReference(value)
      ? `expected \${${variable}} to be the whole text, because its value is { env: … } or { file: … }`
      : `expected text, a number, true or false in \${${variable}}, got ${describeSetting(value, variable.split('.'))}`,
  );
}

/** Returns an object key in which the variables are replaced, or undefined if a variable has no string form. */
function keyText(key: string, scope: Scope): string | undefined {
  let text = '';
  for (const { literal, variable } of partsOf(key) ?? [{ literal: key, variable: undefined }]) {
    const found = variable === undefined ? { value: literal } : scope.find(variable);
    if (found === undefined || !('value' in found) || typeof found.value === 'object') return undefined;
    text += String(found.value);
  }
  return text;
}

/** Returns the offset in the string as written that corresponds to the character at `index` in the expanded string. */
export function writtenOffset(text: string, index: number, scope: Scope): number {
  let at = 0;
  for (const { offset, literal, variable } of partsOf(text) ?? [{ offset: 0, literal: text }]) {
    const found = variable === undefined ? { value: literal } : scope.find(variable);
    const { length } = String(found !== undefined && 'value' in found ? found.value : '');
    if (index < at + length) return variable === undefined && literal !== '${' ? offset + index - at : offset;
    at += length;
  }
  return text.length;
}

function isReference(value: unknown): boolean {
  return typeof value === 'object' && value !== null && ('env' in value || 'file' in value);
}

// Maps expanded data to the file as written.

/** Where an expanded item or entry was written: the path in the file, and the variables at that path. */
export interface Origin {
  readonly path: SettingPath;
  readonly scope: Scope;
}

/** The origin of a value, with the value as written, or undefined if there is no value. */
interface WrittenValue extends Origin {
  readonly value: unknown;
}

export class Origins {
  /** The origins of the items in lists and objects whose items are at different locations in the file, keyed by list or object. */
  readonly #byContainer = new WeakMap<object, ReadonlyMap<string | number, Origin>>();

  set(container: object, origins: ReadonlyMap<string | number, Origin>): void {
    this.#byContainer.set(container, origins);
  }

  /** Returns the origin of each item in the list at a path. */
  ofList(list: readonly unknown[], path: SettingPath, scope: Scope): Origin[] {
    const known = this.#byContainer.get(list);
    return list.map((_, index) => known?.get(index) ?? { path: [...path, index], scope });
  }

  /** Finds where the value at a path in expanded data, or its nearest written parent, was written. */
  find(expanded: unknown, written: unknown, path: SettingPath, outer: Scope): WrittenValue {
    let [data, value, scope] = [expanded, written, outer];
    let at: SettingPath = [];
    for (const part of path) {
      const origin = isContainer(data) ? this.#byContainer.get(data)?.get(part) : undefined;
      if (origin !== undefined) {
        ({ path: at, scope } = origin);
        value = at.reduce(step, written);
      } else if (typeof value === 'string')
        break; // the rest of the path lies within the value of a variable
      else {
        const key = isContainer(value) ? writtenKey(value, part, scope) : part;
        at = [...at, key];
        value = step(value, key);
      }
      data = step(data, part);
    }
    return { path: at, value, scope };
  }
}

function writtenKey(value: object, part: string | number, scope: Scope): string | number {
  if (typeof part === 'number' || Object.hasOwn(value, part)) return part;
  return Object.keys(value).find((key) => keyText(key, scope) === part) ?? part;
}

function step(data: unknown, part: string | number): unknown {
  return isContainer(data) && Object.hasOwn(data, part) ? (data as Record<string | number, unknown>)[part] : undefined;
}

function isContainer(data: unknown): data is object {
  return typeof data === 'object' && data !== null;
}
