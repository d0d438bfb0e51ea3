// All functions that expressions may call, keyed by name, in the order of the documentation.

import { roundTo } from '../../model/digits.ts';
import { describe } from '../../model/error.ts';
import { readNumber } from '../../model/value.ts';
import { define, type FunctionType, numeric } from './function-type.ts';
import { textFunctions } from './texts.ts';
import { pointInTime, pointInTimeFunctions, timeConversions, timeFunctions, timeSpan } from './times.ts';

// Functions on numbers.

/** The maximum number of arguments for `min` and `max`. A list as the only argument may have more items. */
const mostNumbers = 8;
const lastBit = 31;

const numberFunctions: readonly FunctionType[] = [
  ofMany('min', 'the smallest number', (numbers) => Math.min(...numbers)),
  ofMany('max', 'the largest number', (numbers) => Math.max(...numbers)),
  numeric(
    'clamp(number, low, high)',
    'the number, limited to the range from low to high',
    (number, low, high) => Math.min(high!, Math.max(low!, number!)),
    3,
  ),
  numeric('abs(number)', 'the number without its sign', Math.abs, 1),
  numeric('floor(number)', 'the number rounded down to a whole number', Math.floor, 1),
  numeric('ceil(number)', 'the number rounded up to a whole number', Math.ceil, 1),
  define(
    ['round(number)', 'round(number, digits)'],
    'the number rounded to a whole number, or to at most 15 digits after the point; halves round away from zero',
    {
      'double: double': (number: number) => roundTo(number, 0),
      'double, double: double': roundTo,
    },
  ),
  numeric('sqrt(number)', 'the square root', Math.sqrt, 1),
  numeric('pow(number, exponent)', 'the number raised to the exponent', Math.pow, 2),
  numeric('log10(number)', 'the logarithm to base 10: 20 * log10(value) is decibels', Math.log10, 1),
  numeric('log(number)', 'the natural logarithm', Math.log, 1),
  numeric('exp(number)', 'e to the power of the number', Math.exp, 1),
  numeric('bitAnd(number, number)', 'the bits set in both numbers (32 bits)', (a, b) => (a! & b!) >>> 0, 2),
  numeric('bitOr(number, number)', 'the bits set in at least one number', (a, b) => (a! | b!) >>> 0, 2),
  numeric('bitXor(number, number)', 'the bits set in exactly one number', (a, b) => (a! ^ b!) >>> 0, 2),
  numeric('bitNot(number)', 'the bits that are not set', (number) => ~number! >>> 0, 1),
  numeric(
    'shiftLeft(number, places)',
    'the bits shifted left by 0 to 31 places',
    (number, places) => (number! << placesOf('shiftLeft', places!)) >>> 0,
    2,
  ),
  numeric(
    'shiftRight(number, places)',
    'the bits shifted right by 0 to 31 places',
    (number, places) => number! >>> placesOf('shiftRight', places!),
    2,
  ),
  define(['bit(number, place)'], 'whether the bit at a place from 0 to 31 is set', {
    'double, double: bool': (number: number, place: number) => ((number >>> placesOf('bit', place)) & 1) === 1,
  }),
];

/** Returns the bit position that was passed to the named function. Throws if the position is out of range. */
function placesOf(name: string, places: number): number {
  if (places >= 0 && places <= lastBit) return places;
  throw new Error(`${name}: expected an integer from 0 to ${lastBit}, got ${places}`);
}

/** Defines a function that accepts several numbers or a list of numbers. */
function ofMany(name: string, summary: string, compute: (numbers: readonly number[]) => number): FunctionType {
  const overloads = Array.from({ length: mostNumbers }, (_, index) => ({
    takes: Array<string>(index + 1).fill('double'),
    gives: 'double',
    compute: (...numbers: number[]) => compute(numbers),
  }));
  const ofList = {
    takes: ['list<double>'],
    gives: 'double',
    compute: (numbers: Iterable<number>) => ofItems(name, compute, numbers),
  };
  return { name, usages: [`${name}(number, number, …)`, `${name}(list)`], summary, overloads: [...overloads, ofList] };
}

function ofItems(name: string, compute: (numbers: readonly number[]) => number, items: Iterable<number>): number {
  const numbers = [...items];
  if (numbers.length === 0) throw new Error(`${name}: expected a list of numbers, got an empty list`);
  return compute(numbers);
}

// Functions that convert a value to another type.

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
  define(['int(value)'], 'the value as a number, without its fraction', {
    'double: double': (number: number) => Math.trunc(number) + 0,
    'bool: double': Number,
    'string: double': (text: string) => Math.trunc(toNumber('int', text)) + 0,
    [`${pointInTime}: double`]: timeConversions.secondsOfPoint,
  }),
  define(
    ['bool(value)'],
    'true for the texts "true" and "1" and for numbers other than 0; false for "false", "0" and 0',
    {
      'bool: bool': (flag: boolean) => flag,
      'double: bool': (number: number) => number !== 0,
      'string: bool': toFlag,
    },
  ),
];

function toNumber(name: string, text: string): number {
  const number = readNumber(text);
  if (number !== undefined && Number.isFinite(number)) return number;
  throw new Error(`${name}: expected a number as text, got ${describe(text)}`);
}

function toFlag(text: string): boolean {
  if (trueTexts.has(text)) return true;
  if (falseTexts.has(text)) return false;
  throw new Error(`bool: expected "true" or "false", got ${describe(text)}`);
}

/** The functions that the documentation lists, in the same order. */
export const documentedFunctions: readonly FunctionType[] = [
  ...numberFunctions,
  ...conversionFunctions,
  ...textFunctions,
  ...timeFunctions,
];

export const functionTypes: ReadonlyMap<string, FunctionType> = new Map(
  [...documentedFunctions, ...pointInTimeFunctions].map((type) => [type.name, type]),
);

/** List methods that bind a name, such as `list.exists(item, item > level)`, and `has`. The language expands these methods. */
export const macroNames: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter', 'has', 'bind']);

/** The names of functions in other languages, with their equivalents in Patchbay expressions. */
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
