// The variables that are visible in a part of a template: the variables of its instance and of each enclosing `each`.

import { nearestName } from '../json5/nearest-name.ts';
import { isJsonObject } from '../model/json-object.ts';
import { hidden, mayHoldSecret, withoutSecretSettings } from '../model/secret.ts';

const shownLength = 40;

/** The value of a variable, or the reason why the variable has no value. */
export type Found = { readonly value: unknown } | { readonly mistake: string };

export class Scope {
  readonly #values: ReadonlyMap<string, unknown>;
  readonly #used: Set<string>;
  readonly #parent: Scope | undefined;
  readonly #title: string | undefined;

  /** `used` collects the names that are looked up. `title` names the scope in errors; by default, the scope is named by its variables. */
  constructor(values: ReadonlyMap<string, unknown>, used: Set<string>, parent?: Scope, title?: string) {
    this.#values = values;
    this.#used = used;
    this.#parent = parent;
    this.#title = title;
  }

  /** The scope outside templates, which has no variables. */
  static readonly none = new Scope(new Map(), new Set());

  /** The names of all variables in scope, the innermost first. */
  get names(): readonly string[] {
    return [...this.#values.keys(), ...(this.#parent?.names ?? [])];
  }

  /** Returns this scope with additional variables. Existing variables keep their values. */
  with(further: Readonly<Record<string, unknown>>): Scope {
    return new Scope(new Map([...Object.entries(further), ...this.#values]), this.#used, this.#parent, this.#title);
  }

  /** The title of this scope, as displayed: `instance s1 of studios.json5, n = 2`. Empty outside templates. */
  get title(): string {
    const own = this.#title ?? [...this.#values].map(([name, value]) => `${name} = ${shown(value, name)}`).join(', ');
    return [this.#parent?.title ?? '', own].filter((part) => part !== '').join(', ');
  }

  /** Looks up a variable, such as `n` or `studio.name`. Returns undefined if there is no variable with this name. */
  find(variable: string): Found | undefined {
    const [name = '', ...keys] = variable.split('.');
    if (!this.#values.has(name)) return this.#parent?.find(variable);
    this.#used.add(name);
    let value = this.#values.get(name);
    let path = name;
    for (const key of keys) {
      if (!isJsonObject(value)) return { mistake: `expected an object with the key "${key}" in \${${path}}` };
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

/** Returns the error message for an unknown variable, with the most similar known variable or a list of the known variables. */
export function unknownVariable(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  if (nearest !== undefined) return `unknown variable "${name}", did you mean "${nearest}"?`;
  return known.length === 0
    ? `unknown variable "${name}"; no variables are defined here`
    : `unknown variable "${name}", the variables are ${known.slice(0, 20).join(', ')}`;
}

function shown(value: unknown, name: string): string {
  if (mayHoldSecret([name])) return hidden;
  const text = JSON.stringify(withoutSecretSettings(value)) ?? String(value);
  return text.length > shownLength ? `${text.slice(0, shownLength - 1)}…` : text;
}
