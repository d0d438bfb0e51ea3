// The search for addresses: those that contain all words in the search text, ignoring case, that a glob matches as a whole, or in which a
// regular expression matches.

import { createMatcher } from '../../../client/replica/replica-pattern.ts';

export const searchModes = ['text', 'glob', 'regex'] as const;
/** The addresses to search, in order, as they are and in lower case. */
export interface Searched {
  readonly addresses: readonly string[];
  readonly lowered: readonly string[];
}

export type SearchMode = (typeof searchModes)[number];

/** Returns the indexes of the addresses that match a search, in order. Errors: a `SyntaxError` if the regular expression is invalid. */
export function search({ addresses, lowered }: Searched, mode: SearchMode, text: string): Int32Array {
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
    const pattern = readPattern(text);
    return (address) => pattern.test(address);
  }
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (address) => words.every((word) => address.includes(word));
}

/**
 * Compiles a regular expression that the hub (RE2) and this browser interpret in the same way. The hub's engine would double the size of
 * the console, so syntax that is not common to both engines is an error. Errors: a `SyntaxError`.
 */
function readPattern(text: string): RegExp {
  const [all = '', flags = ''] = /^\(\?([ims]+)\)/.exec(text) ?? [];
  const source = text.slice(all.length);
  if (/\(\?<?[=!]/.test(source)) throw new SyntaxError('look-around is not supported');
  if (/(?:^|[^\\])(?:\\\\)*\\[1-9k]/.test(source)) throw new SyntaxError('back-references are not supported');
  return new RegExp(source, `u${flags}`);
}
