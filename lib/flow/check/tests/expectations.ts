// What tests of flow files expect of a parameter: read from what an author writes, for the type of the parameter.

import { describe } from '../../../model/error.ts';
import { convert, type Value } from '../../../model/value.ts';
import { type Expectation, formatValue, type TestedParameter, timesFired } from '../../test-plan.ts';

/** Numbers that differ by no more than this part of them are equal, so that 0.1 + 0.2 is 0.3. */
const tolerance = 1e-9;

/** Converts what a test sets to the type of its parameter. Errors: `not-convertible`, `out-of-range`. */
export function readTested({ type, accept }: TestedParameter, input: unknown): Value {
  return accept === undefined ? convert(type, input) : accept(input);
}

/** Reads what is expected: a value, or null for unknown. A trigger expects true, false, or how often it has fired. */
export function expectation(
  address: string,
  input: unknown,
  parameter: TestedParameter,
  place: () => string,
): Expectation {
  const isTrigger = parameter.type === 'T';
  return { address, isTrigger, place, ...(isTrigger ? expectedFiring(input) : expectedValue(input, parameter)) };
}

/** Reads what may never be, as `expectation`. A trigger may only be forbidden to fire. */
export function rejection(
  address: string,
  input: unknown,
  parameter: TestedParameter,
  place: () => string,
): Expectation {
  if (parameter.type === 'T' && input !== true)
    throw new Error(`expected true, which is that the trigger has fired, got ${describe(input)}`);
  return expectation(address, input, parameter, place);
}

type Expected = Pick<Expectation, 'text' | 'isMetBy'>;

function expectedFiring(input: unknown): Expected {
  if (typeof input === 'boolean')
    return { text: input ? 'fired' : 'not fired', isMetBy: (count) => (count !== 0) === input };
  if (typeof input !== 'number' || !Number.isSafeInteger(input) || input < 0)
    throw new Error(`expected true, false or how often the trigger has fired, got ${describe(input)}`);
  return { text: timesFired(input), isMetBy: (count) => count === input };
}

function expectedValue(input: unknown, parameter: TestedParameter): Expected {
  if (input === null || input === undefined) return { text: 'unknown', isMetBy: (actual) => actual === undefined };
  const wanted = readTested(parameter, input);
  return { text: formatValue(wanted), isMetBy: (actual) => isEqual(actual, wanted) };
}

function isEqual(actual: Value | undefined, wanted: Value): boolean {
  if (typeof actual !== 'number' || typeof wanted !== 'number') return actual === wanted;
  return Math.abs(actual - wanted) <= tolerance * Math.max(Math.abs(actual), Math.abs(wanted));
}
