// Templates for Parameter IDs and for the addresses in protocols. For example, `ch/{n:1..32}/fader` stands for 32 parameters, and
// `/ch/{n:00}/fader` stands for their addresses.

import { describe } from '../model/error.ts';

export interface Variable {
  readonly name: string;
  /** The values that a variable can have in a Parameter ID. */
  readonly values: readonly string[];
  /** The minimum number of digits with which a variable is written in an address. */
  readonly digits: number;
}
export type Template = readonly (string | Variable)[];

/** The maximum number of values for a variable. */
const maxValues = 20_000;

const variablePattern = /\{([^{}]*)\}/;

/**
 * Parses a template such as `ch/{n:1..32}/fader` or, in an address, `/ch/{n:00}/fader`. If it is invalid, returns the reason as a sentence.
 */
export function readTemplate(text: string, isId: boolean): Template | string {
  const parts: (string | Variable)[] = [];
  for (const [index, part] of text.split(variablePattern).entries()) {
    if (index % 2 === 0) {
      if (isId && /[{}]/.test(part)) return `expected variables such as {n:1..32}, got ${describe(text)}`;
      if (part !== '') parts.push(part);
      continue;
    }
    const [, name, more] = /^([A-Za-z]\w*)(?::(.+))?$/.exec(part) ?? [];
    if (name === undefined)
      return `expected a variable such as ${isId ? '{n:1..32}' : '{n} or {n:00}'}, got "{${part}}"`;
    if (!isId) {
      if (more !== undefined && !/^0+$/.test(more)) return `expected a variable such as {n} or {n:00}, got "{${part}}"`;
      parts.push({ name, values: [], digits: more?.length ?? 0 });
      continue;
    }
    const values = valuesOf(more ?? '');
    if (values === undefined)
      return `expected the values of a variable such as {n:1..32} or {side:L|R}, got "{${part}}"`;
    parts.push({ name, values, digits: 0 });
  }
  return parts;
}

/** Returns the values of a range such as `1..32` or a list such as `L|R`, or undefined for any other text. */
function valuesOf(text: string): readonly string[] | undefined {
  const [, from, to] = /^(\d{1,5})\.\.(\d{1,5})$/.exec(text) ?? [];
  if (from === undefined || to === undefined) return text.includes('|') ? text.split('|') : undefined;
  const first = Number(from);
  const count = Number(to) - first + 1;
  if (count < 1 || count > maxValues) return undefined;
  return Array.from({ length: count }, (_, index) => String(first + index));
}

/** Yields the values of the variables, keyed by name, for each Parameter ID that a template stands for. */
export function* combinationsOf(template: Template): Generator<ReadonlyMap<string, string>> {
  const variables = template.filter((part): part is Variable => typeof part !== 'string');
  const count = variables.reduce((product, { values }) => product * values.length, 1);
  for (let number = 0; number < count; number++) {
    let rest = number;
    const values = new Map<string, string>();
    for (const { name, values: all } of [...variables].reverse()) {
      values.set(name, all[rest % all.length]!);
      rest = Math.floor(rest / all.length);
    }
    yield values;
  }
}

/** Returns the template with its variables replaced by the given values. */
export function filled(template: Template, values: ReadonlyMap<string, string>): string {
  return template
    .map((part) => (typeof part === 'string' ? part : (values.get(part.name) ?? '').padStart(part.digits, '0')))
    .join('');
}
