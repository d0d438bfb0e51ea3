// Templates for outgoing messages. A template is a string, or JSON in which the strings are templates. `{value}` and `{name}` stand for
// values, and `{= value * 2}` is an expression. A write to the parameter of a message renders the message's template.

import { z } from 'zod';
import { Pattern, PatternError } from '../device/pattern.ts';
import { compileExpression, ExpressionMistake, isLanguageName } from '../expression/expression.ts';
import { addressShape } from '../model/address.ts';
import { messageOf } from '../model/error.ts';
import { isJsonObject } from '../model/json-object.ts';
import { toText, type Value, type ValueType } from '../model/value.ts';
import type { ConnectionContext, InputTypes } from './connection.ts';
import type { SettingMistake } from './setting.ts';

/** The maximum number of writes in one turn that send a message. */
export const maxWritesAtOnce = 1000;

/** Returns the schema for the setting `inputs` of a connection type with message templates. */
export function inputsSetting() {
  return z
    .record(
      z.string().superRefine((name, context) => {
        if (!/^[A-Za-z_]\w*$/.test(name) || isLanguageName(name) || name === 'value' || name === 'time')
          context.addIssue({
            code: 'custom',
            message: `expected a name of letters, digits and _ that is not reserved, got ${JSON.stringify(name)}`,
          });
      }),
      z.string({ error: 'an address <Connection ID>/<Parameter ID>' }).meta({ pattern: addressShape }),
    )
    .refine((inputs) => Object.keys(inputs).length <= 1000, { error: 'expected at most 1000 inputs' })
    .default({})
    .describe('Additional parameters whose values the messages contain: name → address');
}

/** The values that a template can use, keyed by name; null if the value is unknown. */
export type TemplateValues = ReadonlyMap<string, Value | null>;

export interface Template {
  /** Renders the template. Never throws. Unknown values and failed expressions are rendered as null in JSON and as `unknown` in strings. */
  render(values: TemplateValues): unknown;
}

/** Returns the names that a template may use, with their value types. */
export function templateNames(type: ValueType, inputTypes: InputTypes): ReadonlyMap<string, ValueType> {
  return new Map([
    ...[...inputTypes].filter(([, one]) => one !== 'T'),
    ...(type === 'T' ? [] : [['value', type] as const]),
    ['time', 'S'] as const,
  ]);
}

const maxDepth = 16;

/** Compiles a template. Calls `add` with each mistake in the template. */
export function compileTemplate(
  written: unknown,
  types: ReadonlyMap<string, ValueType>,
  add: (mistake: SettingMistake) => void,
  path: SettingMistake['path'],
): Template {
  if (typeof written === 'string') return compileText(written, types, add, path);
  if (path.length > maxDepth) add({ path, message: `expected at most ${maxDepth} levels of nesting` });
  else if (Array.isArray(written)) {
    const items = written.map((item, index) => compileTemplate(item, types, add, [...path, index]));
    return { render: (values) => items.map((item) => item.render(values)) };
  } else if (isJsonObject(written)) {
    const entries = Object.entries(written).map(
      ([key, item]) => [key, compileTemplate(item, types, add, [...path, key])] as const,
    );
    return { render: (values) => Object.fromEntries(entries.map(([key, item]) => [key, item.render(values)])) };
  }
  return { render: () => written };
}

function compileText(
  text: string,
  types: ReadonlyMap<string, ValueType>,
  add: (mistake: SettingMistake) => void,
  path: SettingMistake['path'],
): Template {
  if (!/[{}]/.test(text)) return { render: () => text };
  try {
    const compile = (expression: string) => {
      const { evaluate } = compileExpression(expression, Object.fromEntries(types));
      return (values: ReadonlyMap<string, Value>) => {
        try {
          return evaluate(Object.fromEntries(values));
        } catch {
          return unknown;
        }
      };
    };
    const pattern = Pattern.parse(text, false, compile);
    for (const name of pattern.names)
      if (!types.has(name)) add({ path, unknown: 'name', name, known: [...types.keys()] });
    const { single } = pattern;
    const isValue = single !== undefined && ('evaluate' in single || ('name' in single && single.isPlain));
    return {
      render(values) {
        const known = new Map([...values].filter((entry): entry is [string, Value] => entry[1] !== null));
        if (!isValue) return pattern.format(withUnknown(pattern.names, known));
        const value = 'evaluate' in single ? single.evaluate(known) : known.get(single.name);
        return value === unknown ? null : (value ?? null);
      },
    };
  } catch (error) {
    const offset = error instanceof PatternError || error instanceof ExpressionMistake ? error.offset : undefined;
    add({ path, message: messageOf(error), offset });
    return { render: () => null };
  }
}

const unknown = 'unknown';

function withUnknown(names: ReadonlySet<string>, known: ReadonlyMap<string, Value>): ReadonlyMap<string, Value> {
  const missing = [...names].filter((name) => !known.has(name));
  return missing.length === 0 ? known : new Map([...known, ...missing.map((name) => [name, unknown] as const)]);
}

/** Returns a rendered template as a string. JSON is serialized. */
export function renderText(template: Template, values: TemplateValues): string {
  const rendered = template.render(values);
  if (rendered === null) return unknown;
  return typeof rendered === 'object' ? JSON.stringify(rendered) : toText(rendered as Value);
}

// The writes that send messages

/**
 * Calls `render` for each write that sends a message, as soon as the write's turn has settled, with the values that the inputs have at that
 * time. Returns a function that stops further calls.
 */
export function followWrites(
  context: Pick<ConnectionContext<unknown>, 'inbox' | 'input' | 'inputTypes' | 'atSettle' | 'timeOfDay'>,
  names: Iterable<string>,
  render: (name: string, values: TemplateValues) => void,
  onError: (error: unknown) => void,
): () => void {
  const inputs = new Map<string, Value | null>();
  let writes: { readonly name: string; readonly value: Value }[] = [];
  const settle = context.atSettle(() => {
    const settled = writes;
    writes = [];
    const time = new Date(context.timeOfDay()).toISOString();
    for (const { name, value } of settled)
      render(name, new Map<string, Value | null>([...inputs, ['value', value], ['time', time]]));
  });
  const following = [...context.inputTypes.keys()].map((input) =>
    context.input(input).subscribe({ next: (value) => inputs.set(input, value ?? null), error: onError }),
  );
  for (const name of names)
    following.push(
      context.inbox(name).subscribe({
        next(value) {
          if (writes.length >= maxWritesAtOnce) writes.shift(); // further messages would not fit into the queue
          writes.push({ name, value });
          settle();
        },
        error: onError,
      }),
    );
  return () => {
    for (const one of following) one.unsubscribe();
  };
}
