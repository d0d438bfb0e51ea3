// Functions that make a value of another type.

import { describe } from '../../model/error.ts';
import { readNumber } from '../../model/value.ts';
import { define, type FunctionType } from './function-type.ts';
import { pointInTime, timeConversions, timeSpan } from './times.ts';

const trueTexts: ReadonlySet<string> = new Set(['1', 't', 'true', 'TRUE', 'True']);
const falseTexts: ReadonlySet<string> = new Set(['0', 'f', 'false', 'FALSE', 'False']);

export const conversionFunctions: readonly FunctionType[] = [
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
