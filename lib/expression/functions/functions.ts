// All functions of expressions, by name, in the order of the documentation.

import { roundTo } from '../../model/digits.ts';
import { describe } from '../../model/error.ts';
import { readNumber } from '../../model/value.ts';
import { define, type FunctionType, numeric } from './function-type.ts';
import { textFunctions } from './texts.ts';
import { pointInTime, pointInTimeFunctions, timeConversions, timeFunctions, timeSpan } from './times.ts';

// Functions of numbers.

/** How many numbers `min` and `max` take beside one another. A list may have more. */
const mostNumbers = 8;
const lastBit = 31;

const numberFunctions: readonly FunctionType[] = [
  ofMany('min', 'the least of the numbers', (numbers) => Math.min(...numbers)),
  ofMany('max', 'the greatest of the numbers', (numbers) => Math.max(...numbers)),
  numeric(
    'clamp(number, low, high)',
    'the number, or the bound that it is beyond',
    (number, low, high) => Math.min(high!, Math.max(low!, number!)),
    3,
  ),
  numeric('abs(number)', 'the number without its sign', Math.abs, 1),
  numeric('floor(number)', 'the next whole number below', Math.floor, 1),
  numeric('ceil(number)', 'the next whole number above', Math.ceil, 1),
  define(
    ['round(number)', 'round(number, digits)'],
    'the nearest whole number, or that with so many digits after the point, at most 15; halves go away from zero',
    {
      'double: double': (number: number) => roundTo(number, 0),
      'double, double: double': roundTo,
    },
  ),
  numeric('sqrt(number)', 'the square root', Math.sqrt, 1),
  numeric('pow(number, exponent)', 'the power', Math.pow, 2),
  numeric('log10(number)', 'the logarithm to base 10: 20 * log10(value) is decibels', Math.log10, 1),
  numeric('log(number)', 'the natural logarithm', Math.log, 1),
  numeric('exp(number)', 'e to the power of the number', Math.exp, 1),
  numeric(
    'bitAnd(number, number)',
    'the bits that are set in both; numbers of bits have 32 of them',
    (a, b) => (a! & b!) >>> 0,
    2,
  ),
  numeric('bitOr(number, number)', 'the bits that are set in one of them', (a, b) => (a! | b!) >>> 0, 2),
  numeric('bitXor(number, number)', 'the bits that are set in just one of them', (a, b) => (a! ^ b!) >>> 0, 2),
  numeric('bitNot(number)', 'the bits that are not set', (number) => ~number! >>> 0, 1),
  numeric(
    'shiftLeft(number, places)',
    'the bits, so many places up, 0 to 31',
    (number, places) => (number! << placesOf('shiftLeft', places!)) >>> 0,
    2,
  ),
  numeric(
    'shiftRight(number, places)',
    'the bits, so many places down, 0 to 31',
    (number, places) => number! >>> placesOf('shiftRight', places!),
    2,
  ),
  define(['bit(number, place)'], 'whether the bit at the place is set, counted from 0 to 31', {
    'double, double: bool': (number: number, place: number) => ((number >>> placesOf('bit', place)) & 1) === 1,
  }),
];

/** Errors: a number has no such place. */
function placesOf(name: string, places: number): number {
  if (places >= 0 && places <= lastBit) return places;
  throw new Error(`${name}: expected a place of 0 to ${lastBit}, got ${places}`);
}

/** A function of numbers beside one another, or of a list of them. */
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
  if (numbers.length === 0) throw new Error(`${name}: expected a list of numbers, got an empty one`);
  return compute(numbers);
}

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
