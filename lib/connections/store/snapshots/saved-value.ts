// A snapshot as it is kept: a text of JSON, from which it is read whenever it is recalled or compared.

import type { Parameter } from '../../../model/parameter.ts';
import { convert, isValueOf, type Value, type ValueType, valueTypes } from '../../../model/value.ts';

/** What one unit of a text takes in JSON at most, one of an address, a number, and what stands around each value: `["","S",""],`. */
const escapedBytes = 6;
const addressBytes = 3;
const numberBytes = 32;
const signsBytes = 16;

export type SavedValue = readonly [address: string, type: ValueType, value: Value];

/** The present values as a snapshot: `[["desk/lamp","B",true]]`; unknown ones are left out. */
export function writeContents(parameters: Iterable<Parameter>): { contents: string; parameters: number } {
  const values = [...parameters]
    .filter(({ value }) => value !== undefined)
    .map(({ address, type, value }): SavedValue => [address, type, value!]);
  return { contents: JSON.stringify(values), parameters: values.length };
}

/** How many bytes the present values take as a snapshot at most: it costs a tenth of writing them. */
export function mostBytes(parameters: Iterable<Parameter>): number {
  let bytes = 2;
  for (const { address, value } of parameters)
    bytes +=
      address.length * addressBytes +
      (typeof value === 'string' ? value.length * escapedBytes : numberBytes) +
      signsBytes;
  return bytes;
}

/** What can be read of it: somebody may have edited it to what `writeContents` does not write. */
export function readContents(contents: string): SavedValue[] {
  try {
    const values: unknown = JSON.parse(contents);
    return Array.isArray(values) ? values.filter(isSaved) : [];
  } catch {
    return [];
  }
}

function isSaved(saved: unknown): saved is SavedValue {
  if (!Array.isArray(saved) || saved.length !== 3) return false;
  const [address, type, value] = saved;
  return typeof address === 'string' && valueTypes.includes(type) && isValueOf(type, value);
}

/** What a parameter becomes when a saved value is written to it. Errors: as those of a write. */
export function expectedValue({ type, accept }: Parameter, value: Value): Value {
  return accept === undefined ? convert(type, value) : accept(value);
}
