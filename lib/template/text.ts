// Texts with variables: `s${n}/mic`. `$${` stands for `${` itself.

import type { SettingPath } from '../json5/mistake.ts';
import { describeSetting } from '../model/secret.ts';
import type { Scope } from './scope.ts';

/** A part of a text: characters as they are, or a variable. */
export interface Part {
  /** Where it begins in the text as it is written. */
  readonly offset: number;
  readonly literal?: string;
  /** What stands between `${` and `}`. */
  readonly variable?: string;
}

const partPattern = /\$\$\{|\$\{([^}]*)\}?/g;

/** The parts of a text; undefined: it is the same in every expansion. */
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

/** What a variable is within a longer text. Errors: it has no text, in a sentence. */
export function textOf(variable: string, value: unknown): string {
  if (['string', 'number', 'boolean'].includes(typeof value)) return String(value);
  throw new Error(
    isReference(value)
      ? `expected \${${variable}} alone in a text, since it is { env: … } or { file: … }`
      : `expected a text, a number, true or false in \${${variable}}, got ${describeSetting(value, variable.split('.'))}`,
  );
}

/** A key as it is in a scope; undefined: a variable of it has no text. */
function keyText(key: string, scope: Scope): string | undefined {
  let text = '';
  for (const { literal, variable } of partsOf(key) ?? [{ literal: key, variable: undefined }]) {
    const found = variable === undefined ? { value: literal } : scope.find(variable);
    if (found === undefined || !('value' in found) || typeof found.value === 'object') return undefined;
    text += String(found.value);
  }
  return text;
}

/** Where a character of an expanded text stands in the text as it is written. */
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

// Where what was expanded stands in the file that people wrote.

/** Where an item of an expanded list, or an entry of an expanded object, was written, and what its variables were. */
export interface Origin {
  readonly path: SettingPath;
  readonly scope: Scope;
}

/** An origin with what stands there; undefined: nothing. */
interface WrittenValue extends Origin {
  readonly value: unknown;
}

export class Origins {
  /** Of lists and objects whose items do not stand at the same place in the file. */
  readonly #byContainer = new WeakMap<object, ReadonlyMap<string | number, Origin>>();

  set(container: object, origins: ReadonlyMap<string | number, Origin>): void {
    this.#byContainer.set(container, origins);
  }

  /** The origins of the items of a list that stands at a path. */
  ofList(list: readonly unknown[], path: SettingPath, scope: Scope): Origin[] {
    const known = this.#byContainer.get(list);
    return list.map((_, index) => known?.get(index) ?? { path: [...path, index], scope });
  }

  /** Finds where a path of expanded data was written, or its nearest parent that was. */
  find(expanded: unknown, written: unknown, path: SettingPath, outer: Scope): WrittenValue {
    let [data, value, scope] = [expanded, written, outer];
    let at: SettingPath = [];
    for (const part of path) {
      const origin = isContainer(data) ? this.#byContainer.get(data)?.get(part) : undefined;
      if (origin !== undefined) {
        ({ path: at, scope } = origin);
        value = at.reduce(step, written);
      } else if (typeof value === 'string')
        break; // the rest is in the value of a variable
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
