// Globs of addresses: `*` matches any characters within a segment, `**` any characters at all, and `**/` after a slash also matches no
// segment. A filter follows all possible matches in parallel, with one bit per position in the glob, so its cost is bounded by the length
// of the address times the length of the glob.

import type { Pattern } from '../../../wire/pattern.ts';
import { anyOf, createFilter, type Filter, filterOf, textWork } from './filter.ts';

const slash = 0x2f;
const bitsPerWord = 32;
/** The cost of following 32 positions through an address, in the unit of `Filter.work`. */
const wordWork = 0.25;

/** Creates a filter that passes the addresses that a glob matches. */
export function createGlobFilter(glob: string): Filter {
  const [start = '', end, ...more] = glob.split('*');
  if (glob === '**') return filterOf(textWork, () => true);
  if (end === '' && more.length === 1 && more[0] === '' && start.endsWith('/'))
    return filterOf(textWork, (address) => address.startsWith(start));
  if (end !== undefined && more.length === 0) return createSegmentFilter(start, end);
  return createPlacesFilter(tokensOf(glob));
}

/** Creates the filter for a glob with one `*` between two literal strings, which may be empty. */
function createSegmentFilter(start: string, end: string): Filter {
  return filterOf(textWork, (address) => {
    const last = address.length - end.length;
    if (last < start.length || !address.startsWith(start) || !address.endsWith(end)) return false;
    const next = address.indexOf('/', start.length);
    return next < 0 || next >= last;
  });
}

/** Splits a glob into stars and characters: `a/**` + `/b*` → `a`, `/`, `**` + `/`, `b`, `*`. */
function tokensOf(glob: string): string[] {
  const runs = glob.replace(/\*{3,}/g, '**').replace(/(^|\/)(?:\*\*\/)+/g, '$1**/');
  return runs.match(/(?<=^|\/)\*\*\/|\*\*|./gs)!;
}

const isStar = (token: string): boolean => token.startsWith('*');

// The first rows in the table of a glob, followed by one row for each of the glob's characters. The first row is empty.
const folderRow = 1;
const textRow = 2;
const segmentRow = 3;
const firstCharacterRow = 4;

/** Creates the filter for any glob, split into tokens. A position is the index of the next token to match. */
function createPlacesFilter(tokens: readonly string[]): Filter {
  const start = tokens.slice(0, tokens.findIndex(isStar)).join('');
  const rest = tokens.slice(start.length);
  const words = Math.floor(rest.length / bitsPerWord) + 1;
  const { table, characters } = tableOf(rest, words);
  const folders = folderRow * words;
  const texts = textRow * words;
  const segments = segmentRow * words;
  const places = new Int32Array(words);
  const added = new Int32Array(words);

  /** Lets stars match nothing: adds the positions after the stars at `added`, and leaves the new positions in `added`. */
  const skip = () => {
    for (let times = 0; times < 2; times++) {
      let carry = 0; // at most two stars follow each other: `**/` and then `*` or `**`
      for (let word = 0; word < words; word++) {
        const from = (places[word]! & table[texts + word]!) | (added[word]! & table[folders + word]!);
        added[word] = (from << 1) | carry;
        carry = from >>> 31;
        places[word] = places[word]! | added[word]!;
      }
    }
  };

  return filterOf(words * wordWork, (address) => {
    if (!address.startsWith(start)) return false;
    places.fill(0);
    added.fill(0);
    places[0] = 1;
    added[0] = 1;
    skip();
    for (let at = start.length; at < address.length; at++) {
      const code = address.charCodeAt(at);
      const character = characters.get(code) ?? 0;
      const left = code === slash ? folders : 0;
      const ended = code === slash ? segments : 0;
      let carry = 0;
      let any = 0;
      for (let word = 0; word < words; word++) {
        const here = places[word]!;
        const goesOn = here & (table[character + word]! | table[left + word]!);
        const stays = here & (table[folders + word]! | (table[texts + word]! & ~table[ended + word]!));
        added[word] = (goesOn << 1) | carry;
        carry = goesOn >>> 31;
        places[word] = stays | added[word]!;
        any |= places[word]!;
      }
      if (any === 0) return false;
      skip();
    }
    return (places[rest.length >>> 5]! & (1 << (rest.length & 31))) !== 0;
  });
}

/**
 * Builds the table of a glob: one row of bits for each kind of star and for each character, with one bit per position. `characters` maps
 * the code of a character to the offset of its row.
 */
function tableOf(tokens: readonly string[], words: number) {
  const characters = new Map<number, number>();
  const rowOf = (token: string) => {
    const code = token.charCodeAt(0);
    let row = characters.get(code);
    if (row === undefined) {
      row = (firstCharacterRow + characters.size) * words;
      characters.set(code, row);
    }
    return row;
  };
  const rows = tokens.map((token) => {
    if (token === '**/') return folderRow * words;
    return isStar(token) ? textRow * words : rowOf(token);
  });
  const table = new Int32Array(words * (firstCharacterRow + characters.size));
  for (const [place, row] of rows.entries()) {
    const bit = 1 << (place & 31);
    table[row + (place >>> 5)]! |= bit;
    if (tokens[place] === '*') table[segmentRow * words + (place >>> 5)]! |= bit;
  }
  return { table, characters };
}

// Address patterns sent by clients: globs and regular expressions. All of them match in linear time, so no pattern can block the hub.

/**
 * Creates a filter that passes the addresses that at least one pattern matches. Without patterns, the filter passes nothing. The regular
 * expressions may have at most `maxSteps` steps in total. Errors: `bad-request` if the regular expression is invalid.
 */
export function createPatternFilter(patterns: readonly Pattern[], maxSteps: number): Filter {
  const addresses = new Set(patterns.filter(isAddress));
  const globs = patterns.filter((pattern) => typeof pattern === 'string' && !isAddress(pattern)) as string[];
  const regexes = patterns.filter((pattern) => typeof pattern !== 'string').map(({ regex }) => regex);
  const filters = globs.map(createGlobFilter);
  if (regexes.length > 0) filters.push(createFilter(regexes, maxSteps, 'regex'));
  if (addresses.size > 0 || filters.length === 0)
    filters.unshift(filterOf(textWork, (address) => addresses.has(address)));
  return anyOf(filters);
}

/** Returns whether a pattern is the address of a single parameter rather than a glob or a regular expression. */
export function isAddress(pattern: Pattern): pattern is string {
  return typeof pattern === 'string' && !pattern.includes('*');
}
