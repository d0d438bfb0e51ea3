// Where what was expanded stands in the file that people wrote.

import type { SettingPath } from '../json5/mistake.ts';
import type { Scope } from './scope.ts';
import { keyText } from './text.ts';

/** Where an item of an expanded list, or an entry of an expanded object, was written, and what its variables were. */
export interface Origin {
  readonly path: SettingPath;
  readonly scope: Scope;
}

/** An origin with what stands there; undefined: nothing. */
export interface WrittenValue extends Origin {
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
