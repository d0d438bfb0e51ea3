// Which addresses a search finds: those with all words of a text, in any case, those that a glob matches as a whole, or those that
// a regular expression matches.

import { createMatcher } from '../../../client/replica/pattern.ts';
import type { Catalogue } from '../catalogue.ts';

export const searchModes = ['text', 'glob', 'regex'] as const;
export type SearchMode = (typeof searchModes)[number];

/** Returns the indexes of the addresses that match, in order. Errors: a `SyntaxError` for a bad regular expression. */
export function search({ addresses, lowered }: Catalogue, mode: SearchMode, text: string): Int32Array {
  const matches = matcherOf(mode, text);
  const source = mode === 'text' ? lowered : addresses;
  const found = new Int32Array(source.length);
  let count = 0;
  for (let index = 0; index < source.length; index++) if (matches(source[index]!)) found[count++] = index;
  return found.slice(0, count);
}

function matcherOf(mode: SearchMode, text: string): (address: string) => boolean {
  if (text === '') return () => true;
  if (mode === 'glob') return createMatcher([text], []);
  if (mode === 'regex') {
    const pattern = new RegExp(text);
    return (address) => pattern.test(address);
  }
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (address) => words.every((word) => address.includes(word));
}
