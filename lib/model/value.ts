// The five value types and the conversions between them (D-02). An impossible conversion is an error.

import { describe, HubError } from './error.ts';

/** The value types: S string, B boolean, I integer, F float, T trigger (an event and never a state; as a value, it is 1). */
export const valueTypes = ['S', 'B', 'I', 'F', 'T'] as const;
export type ValueType = (typeof valueTypes)[number];
export type Value = string | number | boolean;

/** The maximum length of a string that a parameter holds, in UTF-16 code units. */
export const maxTextLength = 65_536;

/**
 * Matches a number. No digit can match two parts, because with such an ambiguity, a long string that is not a number would take seconds.
 */
const numberText = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** Converts an input to a value type (D-02). Errors: `not-convertible`; the message contains the expected type and the input. */
export function convert(type: ValueType, input: unknown): Value {
  switch (type) {
    case 'I':
      return toInteger(input);
    case 'F':
      return toFloat(input);
    case 'B':
      if (typeof input === 'boolean') return input;
      if (typeof input === 'string') return input === '1' || input.toLowerCase() === 'true';
      return (scalar('a boolean', input) as number) > 0;
    case 'S':
      if (typeof input !== 'string') return toText(scalar('text', input));
      if (input.length > maxTextLength)
        throw notConvertible(`text of at most ${maxTextLength} characters`, `${input.length} characters`);
      return input.isWellFormed() ? input : input.toWellFormed();
    case 'T':
      scalar('a boolean, a finite number or text', input);
      return 1;
  }
}

/** Returns whether a value has the given type, in the form that a conversion returns. The value of a trigger is 1. */
export function isValueOf(type: ValueType, value: unknown): value is Value {
  switch (type) {
    case 'I':
      return Number.isSafeInteger(value) && !isMinusZero(value);
    case 'F':
      return Number.isFinite(value) && !isMinusZero(value);
    case 'B':
      return typeof value === 'boolean';
    case 'S':
      return typeof value === 'string' && value.length <= maxTextLength && value.isWellFormed();
    case 'T':
      return value === 1;
  }
}

/** Returns whether a value is minus zero. No parameter has this value, because strings cannot express it. */
function isMinusZero(value: unknown): boolean {
  return value === 0 && 1 / (value as number) < 0;
}

/** Returns the value as a string: `true`, `-3.5`, `lamp`. A number has the shortest form that parses to the same number. */
export function toText(value: Value): string {
  return typeof value === 'string' ? value : String(value);
}

/** Reads a decimal number with `.` and an optional exponent; surrounding white space is allowed. Returns undefined for any other string. */
export function readNumber(text: string): number | undefined {
  const trimmed = text.trim();
  return numberText.test(trimmed) ? Number(trimmed) : undefined;
}

/** Returns a hint to be appended to an error if the input is a number with a decimal comma, and undefined otherwise. */
export function decimalCommaHint(input: unknown): string | undefined {
  if (typeof input !== 'string' || input.length > 60) return undefined;
  const text = input.trim();
  if (/^[+-]?\d*,\d+(?:e[+-]?\d+)?$/i.test(text)) return `: write ${text.replace(',', '.')}, with a decimal point`;
  if (/^[+-]?\d{1,3}(?:,\d{3})+\.\d*$/.test(text)) return `: write ${text.replaceAll(',', '')}`;
  if (/^[+-]?\d{1,3}(?:\.\d{3})+,\d*$/.test(text))
    return `: write ${text.replaceAll('.', '').replace(',', '.')}, with a decimal point`;
  return undefined;
}

function toInteger(input: unknown): number {
  if (typeof input === 'number' && Number.isSafeInteger(input)) return input + 0;
  const integer = Math.trunc(toFloat(input)) + 0;
  if (!Number.isSafeInteger(integer)) throw notConvertible('an integer within ±(2^53−1)', describe(input));
  return integer;
}

function toFloat(input: unknown): number {
  const number = typeof input === 'string' ? readNumber(input) : Number(scalar('a number', input));
  if (number === undefined || !Number.isFinite(number))
    throw notConvertible('a number', `${describe(input)}${decimalCommaHint(input) ?? ''}`);
  return number + 0; // -0 becomes 0, because strings have no minus zero
}

function scalar(expected: string, input: unknown): Value {
  if (typeof input === 'string' || typeof input === 'boolean') return input;
  if (typeof input === 'number' && Number.isFinite(input)) return input;
  throw notConvertible(expected, describe(input));
}

function notConvertible(expected: string, got: string): HubError {
  return new HubError('not-convertible', `expected ${expected}, got ${got}`);
}
