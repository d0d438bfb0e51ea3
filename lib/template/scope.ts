// The variables that a part of a template knows: those of its instance, and those of each `each` around it.

import { nearestName } from '../json5/nearest-name.ts';
import { isJsonObject } from '../model/json-object.ts';
import { hidden, mayHoldSecret, withoutSecretSettings } from '../model/secret.ts';

const shownLength = 40;

/** What a variable stands for, or why it stands for nothing. */
export type Found = { readonly value: unknown } | { readonly mistake: string };

export class Scope {
  readonly #values: ReadonlyMap<string, unknown>;
  readonly #used: Set<string>;
  readonly #parent: Scope | undefined;
  readonly #title: string | undefined;

  /** `used` is given the names that are looked up. `title` names the scope in mistakes; left out: its variables do. */
  constructor(values: ReadonlyMap<string, unknown>, used: Set<string>, parent?: Scope, title?: string) {
    this.#values = values;
    this.#used = used;
    this.#parent = parent;
    this.#title = title;
  }

  /** No variables at all. */
  static readonly none = new Scope(new Map(), new Set());

  /** The names of all variables, the inner ones first. */
  get names(): readonly string[] {
    return [...this.#values.keys(), ...(this.#parent?.names ?? [])];
  }

  /** The same, with further variables; those that are there keep what they stand for. */
  with(further: Readonly<Record<string, unknown>>): Scope {
    return new Scope(new Map([...Object.entries(further), ...this.#values]), this.#used, this.#parent, this.#title);
  }

  /** For people: `instance s1 of studios.json5, n = 2`; empty where nothing is expanded. */
  get title(): string {
    const own = this.#title ?? [...this.#values].map(([name, value]) => `${name} = ${shown(value, name)}`).join(', ');
    return [this.#parent?.title ?? '', own].filter((part) => part !== '').join(', ');
  }

  /** Looks up a variable, `n` or `studio.name`; undefined: there is none of this name. */
  find(variable: string): Found | undefined {
    const [name = '', ...keys] = variable.split('.');
    if (!this.#values.has(name)) return this.#parent?.find(variable);
    this.#used.add(name);
    let value = this.#values.get(name);
    let path = name;
    for (const key of keys) {
      if (!isJsonObject(value)) return { mistake: `expected an object in \${${path}}, which has a "${key}"` };
      if (!Object.hasOwn(value, key)) {
        const known = Object.keys(value).map((one) => `${path}.${one}`);
        return { mistake: unknownVariable(`${path}.${key}`, known) };
      }
      value = value[key];
      path += `.${key}`;
    }
    return { value };
  }
}

/** Says that a variable is unknown, and which one is nearest, or which ones there are. */
export function unknownVariable(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  if (nearest !== undefined) return `unknown variable "${name}", did you mean "${nearest}"?`;
  return known.length === 0
    ? `unknown variable "${name}", there is none`
    : `unknown variable "${name}", the variables are ${known.slice(0, 20).join(', ')}`;
}

function shown(value: unknown, name: string): string {
  if (mayHoldSecret([name])) return hidden;
  const text = JSON.stringify(withoutSecretSettings(value)) ?? String(value);
  return text.length > shownLength ? `${text.slice(0, shownLength - 1)}…` : text;
}
