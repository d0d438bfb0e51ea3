// String functions, which count visible characters: an emoji is never split.
import { createHash } from 'node:crypto';
import { fixedText } from '../../model/digits.ts';
import { maxTextLength } from '../../model/value.ts';
import { compileRegex, type Regex } from '../../regex/regex.ts';
import { define, type FunctionType } from './function-type.ts';

/**
 * The maximum number of parts into which a string is split. Nested list methods multiply, so more parts could block the hub for seconds.
 */
const maxParts = 1000;

/**
 * The maximum length of a created string, in characters, which is enough to combine a few values. Nested calls multiply lengths, so a
 * longer string could take up all memory.
 */
const maxMadeLength = 4 * maxTextLength;

/** The number of characters that strings created by the current work may have in total. */
let maxCharacters = Number.POSITIVE_INFINITY;

/** The number of characters that remain of `maxCharacters`. */
let leftCharacters = maxCharacters;

/** Runs work whose expressions may create strings with at most this many characters in total. Errors: any error from the work. */
export function withTextsUpTo<Result>(characters: number, work: () => Result): Result {
  const before = [maxCharacters, leftCharacters] as const;
  maxCharacters = characters;
  leftCharacters = characters;
  try {
    return work();
  } finally {
    [maxCharacters, leftCharacters] = before;
  }
}

/** Checks the length of a string before the string is created. Throws if the string would be too long. */
export function expectShort(length: number): void {
  if (length > maxMadeLength)
    throw new Error(`expected text of at most ${maxMadeLength} characters in an expression, got ${length}`);
  leftCharacters -= length;
  if (leftCharacters < 0)
    throw new Error(`expected an expression that produces at most ${maxCharacters} characters of text in total`);
}

/** The segmenter, created when a string first needs it, because its creation takes several milliseconds. */
let segmenter: Intl.Segmenter | undefined;
// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII without carriage returns, which can be part of a line break
const plainText = /^[\0-\x0c\x0e-\x7f]*$/;

/** Splits a string into the visible characters that a reader sees. */
function charactersOf(text: string): readonly string[] {
  if (plainText.test(text)) return text.split('');
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

function lengthOf(text: string): number {
  return plainText.test(text) ? text.length : charactersOf(text).length;
}

/** Matches white space as defined by Unicode; JavaScript trims a slightly different set. */
const spacesAround = /^\p{White_Space}+|\p{White_Space}+$/gu;

export const textFunctions: readonly FunctionType[] = [
  define(['size(text)', 'size(list)'], 'the number of characters or items', {
    'string: double': lengthOf,
    'list: double': (list: readonly unknown[]) => list.length,
    'map: double': (map: ReadonlyMap<unknown, unknown>) => map.size,
  }),
  define(['contains(text, part)'], 'whether the text contains the part', {
    'string, string: bool': (text: string, part: string) => text.includes(part),
  }),
  define(['startsWith(text, part)'], 'whether the text starts with the part', {
    'string, string: bool': (text: string, part: string) => text.startsWith(part),
  }),
  define(['endsWith(text, part)'], 'whether the text ends with the part', {
    'string, string: bool': (text: string, part: string) => text.endsWith(part),
  }),
  define(['matches(text, pattern)'], 'whether the regular expression matches anywhere in the text', {
    'string, string: bool': isFound,
  }),
  define(
    ['indexOf(text, part)', 'indexOf(text, part, from)'],
    'the position of the first occurrence, counted from 0; −1 if there is none',
    {
      'string, string: double': (text: string, part: string) => indexOf(text, part, 0),
      'string, string, double: double': indexOf,
    },
  ),
  define(['lastIndexOf(text, part)'], 'the position of the last occurrence, counted from 0; −1 if there is none', {
    'string, string: double': (text: string, part: string) => placeOf(text, lastIndexOf(text, part)),
  }),
  define(
    ['substring(text, from)', 'substring(text, from, to)'],
    'the characters from one position, counted from 0, up to the other',
    {
      'string, double: string': substring,
      'string, double, double: string': substring,
    },
  ),
  define(['replace(text, old, new)'], 'the text with every occurrence of old replaced by new', {
    'string, string, string: string': replace,
  }),
  define(
    ['split(text, separator)', 'split(text, separator, most)'],
    'the parts as a list; with most, the last part has the rest',
    {
      'string, string: list<string>': (text: string, separator: string) => split(text, separator, Infinity),
      'string, string, double: list<string>': split,
    },
  ),
  define(['join(list)', 'join(list, separator)'], 'the texts of a list joined into one', {
    'list<string>: string': (texts: readonly string[]) => join(texts, ''),
    'list<string>, string: string': join,
  }),
  define(['trim(text)'], 'the text without spaces around it', {
    'string: string': (text: string) => text.replace(spacesAround, ''),
  }),
  define(['lowerAscii(text)'], 'the text with A to Z in lower case', {
    'string: string': (text: string) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()),
  }),
  define(['upperAscii(text)'], 'the text with a to z in upper case', {
    'string: string': (text: string) => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase()),
  }),
  define(['pad(number, digits)'], 'the number with leading zeros: pad(7, 2) is "07"', {
    'double, double: string': pad,
    'string, double: string': (text: string, width: number) => text.padStart(widthOf(width), '0'),
  }),
  define(
    ['fixed(number, digits)'],
    'the number as text with a fixed number of decimals, at most 15: fixed(3.14, 1) is "3.1"',
    {
      'double, double: string': fixedText,
    },
  ),
  hash('md5'),
  hash('sha256'),
  define(['base64(text)'], 'the text in UTF-8 as Base64', {
    'string: string': toBase64,
  }),
];

/** Defines a hash function. Some devices require a digest of the password. */
function hash(name: 'md5' | 'sha256'): FunctionType {
  const digest = (text: string, form: string) => {
    if (form !== 'hex' && form !== 'base64') throw new Error(`${name}: expected "hex" or "base64", got "${form}"`);
    return createHash(name).update(text).digest(form);
  };
  const summary = `the ${name.toUpperCase()} of the text in UTF-8, in hexadecimal digits or as Base64`;
  return define([`${name}(text)`, `${name}(text, 'base64')`], summary, {
    'string: string': (text: string) => digest(text, 'hex'),
    'string, string: string': digest,
  });
}

function indexOf(text: string, part: string, from: number): number {
  const start = charactersOf(text).slice(0, Math.max(0, from)).join('').length;
  return placeOf(text, text.indexOf(part, start));
}

/**
 * Returns the last index at which a string contains a part. JavaScript compares the part at each index, which takes minutes if both strings
 * are long and similar. Searching from the other end takes only milliseconds, even for a long part.
 */
function lastIndexOf(text: string, part: string): number {
  if (part.length < longPart) return text.lastIndexOf(part);
  const index = reversed(text).indexOf(reversed(part));
  return index < 0 ? -1 : text.length - part.length - index;
}

const longPart = 32;

function reversed(text: string): string {
  return text.split('').reverse().join('');
}

function replace(text: string, old: string, by: string): string {
  const parts = text.split(old);
  const count = old === '' ? text.length + 1 : parts.length - 1;
  expectShort(text.length + count * (by.length - old.length));
  return old === '' ? text.replaceAll(old, () => by) : parts.join(by);
}

function join(texts: readonly string[], separator: string): string {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  expectShort(length + Math.max(0, texts.length - 1) * separator.length);
  return texts.join(separator);
}

function toBase64(text: string): string {
  const bytes = Buffer.from(text);
  expectShort(Math.ceil(bytes.length / 3) * 4);
  return bytes.toString('base64');
}

/** Converts an index in UTF-16 code units to a position among a string's visible characters. */
function placeOf(text: string, index: number): number {
  return index < 0 ? -1 : lengthOf(text.slice(0, index));
}

function substring(text: string, from: number, to?: number): string {
  const isPlain = plainText.test(text);
  const characters = isPlain ? undefined : charactersOf(text);
  const size = characters?.length ?? text.length;
  const end = to ?? size;
  if (!(from >= 0 && from <= end && end <= size))
    throw new Error(`substring: expected positions 0..${size}, got ${to === undefined ? from : `${from}, ${to}`}`);
  return characters === undefined ? text.slice(from, end) : characters.slice(from, end).join('');
}

function split(text: string, separator: string, most: number): string[] {
  const parts = separator === '' ? [...charactersOf(text)] : text.split(separator);
  const count = most < 0 ? parts.length : Math.min(parts.length, most);
  if (count > maxParts) throw new Error(`split: expected text of at most ${maxParts} parts, got ${count}`);
  if (most < 0 || parts.length <= most) return parts;
  if (most < 1) return [];
  return [...parts.slice(0, most - 1), parts.slice(most - 1).join(separator)];
}

function pad(number: number, width: number): string {
  const digits = String(Math.abs(number)).padStart(widthOf(width), '0');
  return number < 0 ? `-${digits}` : digits;
}

/** Checks the width to which a number is padded, which is at most 1000. */
function widthOf(width: number): number {
  return Math.min(1000, Math.max(0, Math.trunc(width) || 0));
}

// Regular expressions in expressions. Recently used patterns stay compiled, and the cost of a search limits the length of the searched
// string.

/** The maximum length of a pattern, in characters. */
const maxPatternLength = 1024;
/** The maximum length of a compiled pattern, in program steps. */
const maxSteps = 1000;
/** The maximum product of a string's length in characters and a pattern's program steps, which takes at most some 40 ms. */
const maxWork = 4 * 1024 * 1024;
/**
 * The maximum number of patterns that stay compiled. The least recently used pattern is dropped first. Each pattern takes several KiB, and
 * its states grow to at most 8 MiB with varied strings.
 */
const maxKnown = 100;

const known = new Map<string, Regex>();

/**
 * Returns whether a pattern matches anywhere in a string. Throws if the pattern is invalid or too long, or if the string is too long for
 * the pattern.
 */
export function isFound(text: string, pattern: string): boolean {
  const regex = regexOf(pattern);
  const maxTextLength = Math.floor(maxWork / regex.steps);
  if (text.length > maxTextLength)
    throw new Error(
      `matches: expected text of at most ${maxTextLength} characters for this regular expression, got ${text.length}`,
    );
  return regex.test(text);
}

/** Returns the reason why a pattern is not usable, or undefined if the pattern is usable. */
export function whyNoRegex(pattern: string): string | undefined {
  try {
    compile(pattern);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function regexOf(pattern: string): Regex {
  const regex = known.get(pattern) ?? compile(pattern);
  known.delete(pattern);
  known.set(pattern, regex);
  if (known.size > maxKnown) known.delete(known.keys().next().value!);
  return regex;
}

/** Compiles a pattern. Throws if the pattern is invalid or too long. */
function compile(pattern: string): Regex {
  const { length } = pattern;
  if (length > maxPatternLength)
    throw new Error(`matches: expected a regular expression of at most ${maxPatternLength} characters, got ${length}`);
  try {
    return compileRegex(pattern, maxSteps);
  } catch (error) {
    throw new Error(`matches: ${(error as Error).message}`);
  }
}
