// Functions of texts. A character is what people see as one: an emoji is never cut in two.
import { fixedText } from '../../model/digits.ts';
import { compileRegex, type Regex } from '../../regex/regex.ts';
import { define, type FunctionType } from './function-type.ts';

/** Lists within lists are walked for each other: more parts could hold up the hub for seconds. */
const maxParts = 1000;

/** There once a text needs it: to make it takes some milliseconds. */
let segmenter: Intl.Segmenter | undefined;
// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII without the returns that belong to a line feed
const plainText = /^[\0-\x0c\x0e-\x7f]*$/;

/** A text cut into the characters that people see. */
function charactersOf(text: string): readonly string[] {
  if (plainText.test(text)) return text.split('');
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

function lengthOf(text: string): number {
  return plainText.test(text) ? text.length : charactersOf(text).length;
}

/** As Unicode has spaces, which is not quite what JavaScript trims. */
const spacesAround = /^\p{White_Space}+|\p{White_Space}+$/gu;

export const textFunctions: readonly FunctionType[] = [
  define(['size(text)', 'size(list)'], 'how many characters or items there are', {
    'string: double': lengthOf,
    'list: double': (list: readonly unknown[]) => list.length,
    'map: double': (map: ReadonlyMap<unknown, unknown>) => map.size,
  }),
  define(['contains(text, part)'], 'whether the text has the part', {
    'string, string: bool': (text: string, part: string) => text.includes(part),
  }),
  define(['startsWith(text, part)'], 'whether the text starts with the part', {
    'string, string: bool': (text: string, part: string) => text.startsWith(part),
  }),
  define(['endsWith(text, part)'], 'whether the text ends with the part', {
    'string, string: bool': (text: string, part: string) => text.endsWith(part),
  }),
  define(['matches(text, pattern)'], 'whether the regular expression is found in the text', {
    'string, string: bool': isFound,
  }),
  define(['indexOf(text, part)', 'indexOf(text, part, from)'], 'where the part is first, counted from 0; −1: nowhere', {
    'string, string: double': (text: string, part: string) => indexOf(text, part, 0),
    'string, string, double: double': indexOf,
  }),
  define(['lastIndexOf(text, part)'], 'where the part is last, counted from 0; −1: nowhere', {
    'string, string: double': (text: string, part: string) => placeOf(text, text.lastIndexOf(part)),
  }),
  define(
    ['substring(text, from)', 'substring(text, from, to)'],
    'the characters from a place, counted from 0, up to the other',
    {
      'string, double: string': substring,
      'string, double, double: string': substring,
    },
  ),
  define(['replace(text, old, new)'], 'the text with every old part replaced', {
    'string, string, string: string': (text: string, old: string, by: string) => text.replaceAll(old, () => by),
  }),
  define(
    ['split(text, separator)', 'split(text, separator, most)'],
    'the list of the parts; the last of at most so many has the rest',
    {
      'string, string: list<string>': (text: string, separator: string) => split(text, separator, Infinity),
      'string, string, double: list<string>': split,
    },
  ),
  define(['join(list)', 'join(list, separator)'], 'the texts of a list as one', {
    'list<string>: string': (texts: readonly string[]) => texts.join(''),
    'list<string>, string: string': (texts: readonly string[], separator: string) => texts.join(separator),
  }),
  define(['trim(text)'], 'the text without spaces around it', {
    'string: string': (text: string) => text.replace(spacesAround, ''),
  }),
  define(['lowerAscii(text)'], 'the text with small letters a to z in the place of A to Z', {
    'string: string': (text: string) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()),
  }),
  define(['upperAscii(text)'], 'the text with capital letters A to Z in the place of a to z', {
    'string: string': (text: string) => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase()),
  }),
  define(['pad(number, digits)'], 'the number with zeros before it: pad(7, 2) is "07"', {
    'double, double: string': pad,
    'string, double: string': (text: string, width: number) => text.padStart(widthOf(width), '0'),
  }),
  define(
    ['fixed(number, digits)'],
    'the number with so many digits after the point, at most 15: fixed(3.14, 1) is "3.1"',
    {
      'double, double: string': fixedText,
    },
  ),
];

function indexOf(text: string, part: string, from: number): number {
  const start = charactersOf(text).slice(0, Math.max(0, from)).join('').length;
  return placeOf(text, text.indexOf(part, start));
}

/** The place among the characters of what is at an index of the text. */
function placeOf(text: string, index: number): number {
  return index < 0 ? -1 : lengthOf(text.slice(0, index));
}

function substring(text: string, from: number, to?: number): string {
  const isPlain = plainText.test(text);
  const characters = isPlain ? undefined : charactersOf(text);
  const size = characters?.length ?? text.length;
  const end = to ?? size;
  if (!(from >= 0 && from <= end && end <= size))
    throw new Error(
      `substring: expected places 0..${size} of the text, got ${to === undefined ? from : `${from}, ${to}`}`,
    );
  return characters === undefined ? text.slice(from, end) : characters.slice(from, end).join('');
}

function split(text: string, separator: string, most: number): string[] {
  const parts = separator === '' ? [...charactersOf(text)] : text.split(separator);
  const count = most < 0 ? parts.length : Math.min(parts.length, most);
  if (count > maxParts) throw new Error(`split: expected a text of at most ${maxParts} parts, got ${count}`);
  if (most < 0 || parts.length <= most) return parts;
  if (most < 1) return [];
  return [...parts.slice(0, most - 1), parts.slice(most - 1).join(separator)];
}

function pad(number: number, width: number): string {
  const digits = String(Math.abs(number)).padStart(widthOf(width), '0');
  return number < 0 ? `-${digits}` : digits;
}

/** Nobody needs a text of more zeros. */
function widthOf(width: number): number {
  return Math.min(1000, Math.max(0, Math.trunc(width) || 0));
}

// Regular expressions of expressions: those that are used again and again are kept compiled, and texts are bounded by what they cost.

/** How long a pattern is, in characters, and its program, in steps. */
const maxPatternLength = 1024;
const maxSteps = 1000;
/** How many characters are looked at, each by all steps of the program: some 40 ms at the most. */
const maxWork = 4 * 1024 * 1024;
/**
 * How many patterns are kept compiled; what was not used for longest goes first. Each takes some KiB, and, after texts of every kind, up to
 * 8 MiB of the states that it was in.
 */
const maxKnown = 100;

const known = new Map<string, Regex>();

/** Whether a pattern is found in a text. Errors: when it is no pattern, or too long or the text too long for it. */
export function isFound(text: string, pattern: string): boolean {
  const regex = regexOf(pattern);
  const maxTextLength = Math.floor(maxWork / regex.steps);
  if (text.length > maxTextLength)
    throw new Error(
      `matches: expected a text of at most ${maxTextLength} characters for this regular expression, got ${text.length}`,
    );
  return regex.test(text);
}

/** Why a pattern cannot be searched for; undefined: it can. */
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

/** Errors: when it is no pattern, or too long. */
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
