// All functions of expressions, by name, in the order of the documentation.

import { describe } from '../../model/error.ts';
import { readNumber } from '../../model/value.ts';
import { define, type FunctionType } from './function-type.ts';
import { numberFunctions } from './numbers.ts';
import { textFunctions } from './texts.ts';
import { pointInTime, pointInTimeFunctions, timeConversions, timeFunctions, timeSpan } from './times.ts';

// Functions that make a value of another type.

const trueTexts: ReadonlySet<string> = new Set(['1', 't', 'true', 'TRUE', 'True']);
const falseTexts: ReadonlySet<string> = new Set(['0', 'f', 'false', 'FALSE', 'False']);

const conversionFunctions: readonly FunctionType[] = [
  define(['string(value)'], 'the value as text', {
    'string: string': (text: string) => text,
    'double: string': String,
    'bool: string': String,
    [`${pointInTime}: string`]: timeConversions.textOfPoint,
    [`${timeSpan}: string`]: timeConversions.textOfSpan,
  }),
  define(['double(value)'], 'the value as a number; true is 1', {
    'double: double': (number: number) => number,
    'bool: double': Number,
    'string: double': (text: string) => toNumber('double', text),
  }),
  define(['int(value)'], 'the value as a number without what is after the point', {
    'double: double': (number: number) => Math.trunc(number) + 0,
    'bool: double': Number,
    'string: double': (text: string) => Math.trunc(toNumber('int', text)) + 0,
    [`${pointInTime}: double`]: timeConversions.secondsOfPoint,
  }),
  define(['bool(value)'], 'the text "true" or "false", "1" or "0" as true or false; of a number, whether it is not 0', {
    'bool: bool': (flag: boolean) => flag,
    'double: bool': (number: number) => number !== 0,
    'string: bool': toFlag,
  }),
];

function toNumber(name: string, text: string): number {
  const number = readNumber(text);
  if (number !== undefined && Number.isFinite(number)) return number;
  throw new Error(`${name}: expected a number in text, got ${describe(text)}`);
}

function toFlag(text: string): boolean {
  if (trueTexts.has(text)) return true;
  if (falseTexts.has(text)) return false;
  throw new Error(`bool: expected "true" or "false", got ${describe(text)}`);
}

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
