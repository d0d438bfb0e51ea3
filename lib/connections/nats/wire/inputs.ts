// What is to be written, as hubs tell it to one another. A value goes as it is. Of anything else the owner gets what it needs to refuse it:
// how an error shows it, since it may be no JSON, or too deep or too long for a message.

import { Described, describe } from '../../../model/error.ts';

/** `[address, input]`; `[address, null, "[1,2] (array)"]`: the input is no value, and errors show it so. */
export type ToldInput = readonly [address: string, input: unknown, shown?: string | undefined];

export function tellInput(address: string, input: unknown): ToldInput {
  return isToldAsItIs(input) ? [address, input] : [address, null, describe(input)];
}

/** What the owner converts in the place of the input: it refuses it in the same words. An infinite number, or none, is itself. */
export function readInput([, input, shown]: ToldInput): unknown {
  if (shown === undefined) return input;
  return shown.endsWith(' (number)') ? Number.parseFloat(shown) : new Described(shown);
}

function isToldAsItIs(input: unknown): boolean {
  if (typeof input === 'number') return Number.isFinite(input);
  return typeof input === 'string' || typeof input === 'boolean' || input === null;
}
