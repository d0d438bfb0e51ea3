// Extends a JSON Schema with values that are replaced before the check: variables of templates, and texts from the environment and
// from files.

import { isJsonObject } from '../model/json-object.ts';

/** A schema in JSON, as Zod writes it. */
interface Schema {
  readonly [keyword: string]: unknown;
  readonly type?: unknown;
  readonly const?: unknown;
  readonly enum?: unknown;
  readonly pattern?: unknown;
}

const variable = { type: 'string', pattern: '\\$\\{' };
const reference = {
  description: 'Text from the environment, { env: "NAME" }, or from a file, { file: "path" }',
  type: 'object',
  properties: { env: { type: 'string' }, file: { type: 'string' } },
  minProperties: 1,
  maxProperties: 1,
  additionalProperties: false,
};

/** Allows variables instead of text, a number, true or false, and in keys; with `references`, also `{ env }` instead of text. */
export function allowVariables(schema: Schema, references = false): Schema {
  const { type } = schema;
  if (schema.const !== undefined) return schema;
  if (['string', 'number', 'integer', 'boolean'].includes(type as string)) return allowText(schema, references);
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, allowWithin(keyword, value, references)]),
  );
}

function allowWithin(keyword: string, value: unknown, references: boolean): unknown {
  const allow = (inner: unknown, key = '') =>
    isJsonObject(inner) ? allowVariables(inner, references || key === 'connections') : inner;
  if (keyword === 'propertyNames') return isJsonObject(value) ? allowText(value, false) : value;
  if (['properties', '$defs'].includes(keyword) && isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, allow(inner, key)]));
  if (['anyOf', 'oneOf', 'prefixItems'].includes(keyword)) return (value as unknown[]).map((inner) => allow(inner));
  return ['items', 'additionalProperties'].includes(keyword) ? allow(value) : value;
}

/** Character classes of JavaScript patterns. Other engines read them differently or not at all. */
const classes: ReadonlyMap<string, string> = new Map([
  ['d', '0-9'],
  ['w', 'A-Za-z0-9_'],
  ['s', ' \\t\\n\\r'],
]);

/** Rewrites a pattern so that all engines read it alike. Editors and programs in Python, Java and Go read the schema. */
function portablePattern(pattern: string): string {
  let isInClass = false;
  return pattern.replace(/\\([\s\S])|[[\]]/g, (part, escaped: string | undefined) => {
    if (escaped === undefined) {
      isInClass = part === '[';
      return part;
    }
    const characters = classes.get(escaped.toLowerCase());
    if (escaped === '/') return escaped;
    if (characters === undefined) return part;
    if (escaped !== escaped.toLowerCase()) return isInClass ? part : `[^${characters}]`;
    return isInClass ? characters : `[${characters}]`;
  });
}

function allowText(schema: Schema, references: boolean): Schema {
  const { description, default: usual, ...written } = schema;
  const own: Schema =
    typeof written.pattern === 'string' ? { ...written, pattern: portablePattern(written.pattern) } : written;
  const isAnyText = own.type === 'string' && own.pattern === undefined && own.enum === undefined;
  const isText = own.type === 'string' && own.enum === undefined;
  const others = [...(isAnyText ? [] : [variable]), ...(isText && references ? [reference] : [])];
  if (others.length === 0) return schema;
  return {
    ...(description === undefined ? {} : { description }),
    ...(usual === undefined ? {} : { default: usual }),
    anyOf: [own, ...others],
  };
}
