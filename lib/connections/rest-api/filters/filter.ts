// Address filters (D-05): case-sensitive regular expressions that may match anywhere in the address. One matching expression is enough;
// without filters, everything passes. Patterns from clients run on a linear-time engine with bounded programs, so no pattern can block the
// hub.

import { HubError } from '../../../model/error.ts';
import { compileOwnRegex, compileRegex, ownPatternSteps, type Regex, type RegexMistake } from '../../../regex/regex.ts';
import { limits } from '../limits/client-limits.ts';
import { LimitError } from '../limits/limit-hits.ts';

/** A function that returns whether an address passes. */
export interface Filter {
  (address: string): boolean;
  /** The cost of filtering one address, in regular expression steps. A string comparison costs about 0.1. */
  readonly work: number;
}

const maxPatterns = limits.filters.default;
/** The maximum length of a pattern, in characters. It suffices for the longest address (D-01) with every character escaped. */
const maxPatternLength = limits.patternLength.default;
/** The cost of a string comparison, in the unit of `Filter.work`. */
export const textWork = 0.1;

export function filterOf(work: number, matches: (address: string) => boolean): Filter {
  return Object.assign(matches, { work });
}

/**
 * Creates a filter that passes the addresses that at least one regular expression from a client matches; without patterns, the filter
 * passes all addresses. The patterns may have at most `maxSteps` steps in total, and `name` is the name of the patterns in errors. Errors:
 * `bad-request`.
 */
export function createFilter(patterns: readonly string[], maxSteps: number, name = 'filter'): Filter {
  if (patterns.length === 0) return filterOf(textWork, () => true);
  if (patterns.length > maxPatterns)
    throw new LimitError(
      'filters',
      'bad-request',
      `${name}: expected at most ${maxPatterns} patterns, got ${patterns.length}`,
    );
  let steps = 0;
  const filters = patterns.map((pattern) => {
    const filter = compile(pattern, maxSteps, name);
    steps += filter.work;
    if (steps > maxSteps) throw tooManySteps(name, maxSteps, steps);
    return filter;
  });
  return anyOf(filters);
}

/**
 * Creates the filter for regular expressions in the settings, which were checked when the flow file was loaded. Without patterns, all
 * addresses pass.
 */
export function createConfiguredFilter(patterns: readonly string[]): Filter {
  if (patterns.length === 0) return filterOf(0, () => true);
  return anyOf(patterns.map((pattern) => toFilter(pattern, compileOwnRegex(pattern))));
}

/** Creates a filter that passes an address if at least one of the filters passes it. */
export function anyOf(filters: readonly Filter[]): Filter {
  const [first] = filters;
  if (filters.length === 1) return first!;
  const work = filters.reduce((sum, filter) => sum + filter.work, 0);
  return filterOf(work, (address) => filters.some((filter) => filter(address)));
}

/** Creates a filter that passes an address if both filters pass it. */
export function bothOf(one: Filter, other: Filter): Filter {
  if (one.work === 0) return other;
  if (other.work === 0) return one;
  return filterOf(one.work + other.work, (address) => one(address) && other(address));
}

/** Compiles a client's regular expression to a filter. Errors: `bad-request`. */
function compile(pattern: string, maxSteps: number, name: string): Filter {
  if (pattern.length > maxPatternLength && [...pattern].length > maxPatternLength)
    throw new LimitError(
      'patternLength',
      'bad-request',
      `${name}: expected at most ${maxPatternLength} characters, got ${pattern.length}`,
    );
  try {
    const mostSteps = isText(pattern) ? ownPatternSteps : maxSteps;
    return toFilter(pattern, compileRegex(pattern, mostSteps));
  } catch (error) {
    const { steps, message } = error as RegexMistake;
    if (steps !== undefined) throw tooManySteps(name, maxSteps, steps);
    throw new HubError('bad-request', `${name}: expected a regular expression, got "${pattern}": ${message}`);
  }
}

function toFilter(pattern: string, regex: Regex): Filter {
  return findText(pattern) ?? filterOf(regex.steps, (address) => regex.test(address));
}

function tooManySteps(name: string, maxSteps: number, steps: number): LimitError {
  const expected = `expected regular expressions of at most ${maxSteps} steps in total`;
  return new LimitError(
    'patternSteps',
    'bad-request',
    `${name}: ${expected} (a part that is repeated n times counts n times), got about ${Math.ceil(steps)}`,
  );
}

/** The form of patterns that need no engine: literal strings, matched at the start, at the end, or anywhere. */
const plainText = /^(\^?)((?:[^\\^$.*+?()[\]{}|]|\\[^\w\s])*)(\$?)$/;

function isText(pattern: string): boolean {
  return plainText.test(pattern);
}

/**
 * Returns the filter for a pattern that is a literal string, as most patterns are: `desk/`, `^desk/`, `/lamp$`. Returns undefined if the
 * pattern needs an engine.
 */
function findText(pattern: string): Filter | undefined {
  const plain = plainText.exec(pattern);
  if (plain === null) return undefined;
  const [, start, escaped, end] = plain;
  const text = escaped!.replace(/\\(.)/gu, '$1');
  if (start && end) return filterOf(textWork, (address) => address === text);
  if (start) return filterOf(textWork, (address) => address.startsWith(text));
  if (end) return filterOf(textWork, (address) => address.endsWith(text));
  return filterOf(textWork, (address) => address.includes(text));
}
