// All functions of expressions, by name, in the order of the documentation.

import { conversionFunctions } from './conversions.ts';
import type { FunctionType } from './function-type.ts';
import { numberFunctions } from './numbers.ts';
import { textFunctions } from './texts.ts';
import { pointInTimeFunctions, timeFunctions } from './times.ts';

/** The functions that the documentation lists. */
export const documentedFunctions: readonly FunctionType[] = [
  ...numberFunctions,
  ...conversionFunctions,
  ...textFunctions,
  ...timeFunctions,
];

export const functionTypes: ReadonlyMap<string, FunctionType> = new Map(
  [...documentedFunctions, ...pointInTimeFunctions].map((type) => [type.name, type]),
);

/** Methods of lists that bind a name: `list.exists(item, item > level)`; and `has`. The language expands them itself. */
export const macroNames: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter', 'has', 'bind']);

/** Names of other languages, and how the same is written here. */
export const foreignNames: Readonly<Record<string, string>> = {
  toFixed: 'fixed(number, digits)',
  format: 'fixed(number, digits) or pad(number, digits)',
  toString: 'string(value)',
  str: 'string(value)',
  String: 'string(value)',
  Number: 'double(value)',
  number: 'double(value)',
  float: 'double(value)',
  parseFloat: 'double(value)',
  parseInt: 'int(value)',
  trunc: 'int(value)',
  boolean: 'bool(value)',
  length: 'size(text)',
  len: 'size(text)',
  count: 'size(list)',
  padStart: 'pad(number, digits)',
  includes: 'contains(text, part)',
  slice: 'substring(text, from, to)',
  substr: 'substring(text, from, to)',
  replaceAll: 'replace(text, old, new)',
  toUpperCase: 'upperAscii(text)',
  upper: 'upperAscii(text)',
  toLowerCase: 'lowerAscii(text)',
  lower: 'lowerAscii(text)',
  concat: 'text + text',
  power: 'pow(number, exponent)',
  mod: 'a % b',
  not: '!',
  limit: 'clamp(number, low, high)',
  iif: 'condition ? value : other',
  weekDay: "weekday('Europe/Berlin')",
  hours: "hour('Europe/Berlin')",
  time: "hour('Europe/Berlin')",
};
