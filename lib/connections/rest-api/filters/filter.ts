// Filters of addresses (D-05): regular expressions, searched, case-sensitive; one match is enough, none lets all through.
// Patterns of clients run on a linear-time engine, and their programs are bounded, so that no pattern can stop the hub.

import { RE2JS } from 're2js';
import { HubError } from '../../../model/error.ts';
import { LimitError } from '../limits/limit-error.ts';
import { limits } from '../limits/limits.ts';
import { estimateSteps } from './regex-steps.ts';

/** Says whether an address is let through. */
export interface Filter {
  (address: string): boolean;
  /** How long it may take: as many times as a regular expression takes for one step; a comparison of texts is about 0.1. */
  readonly work: number;
}

const maxPatterns = limits.filters.default;
/** Enough for the longest address (D-01) with every character escaped. */
const maxPatternLength = limits.patternLength.default;
const maxSteps = limits.patternSteps.default;
/** Compiling takes long as well; the estimate is seldom more than this too high. */
const maxEstimate = 4 * maxSteps;
/** The work of comparing texts. */
export const textWork = 0.1;

export function filterOf(work: number, matches: (address: string) => boolean): Filter {
  return Object.assign(matches, { work });
}

/** Creates the filter of patterns that a client sent as `name`. Errors: `bad-request` for a bad, long or surplus pattern. */
export function createFilter(patterns: readonly string[], name = 'filter'): Filter {
  if (patterns.length === 0) return filterOf(textWork, () => true);
  if (patterns.length > maxPatterns)
    throw new LimitError(
      'filters',
      'bad-request',
      `${name}: expected at most ${maxPatterns} patterns, got ${patterns.length}`,
    );
  let steps = 0;
  const filters = patterns.map((pattern) => {
    const filter = compile(pattern, name);
    steps += filter.work;
    if (steps > maxSteps) throw tooManySteps(name, steps);
    return filter;
  });
  return anyOf(filters);
}

/** Creates the filter of patterns from the settings, which were checked at load. */
export function createConfiguredFilter(patterns: readonly string[]): Filter {
  if (patterns.length === 0) return filterOf(0, () => true);
  const regexes = patterns.map((pattern) => new RegExp(pattern));
  return anyOf(regexes.map((regex) => filterOf(textWork, (address) => regex.test(address))));
}

/** Matches what any of the filters matches. */
export function anyOf(filters: readonly Filter[]): Filter {
  const [first] = filters;
  if (filters.length === 1) return first!;
  const work = filters.reduce((sum, filter) => sum + filter.work, 0);
  return filterOf(work, (address) => filters.some((filter) => filter(address)));
}

/** Compiles a pattern for the linear-time engine. */
function compile(pattern: string, name: string): Filter {
  if (pattern.length > maxPatternLength)
    throw new LimitError(
      'patternLength',
      'bad-request',
      `${name}: expected at most ${maxPatternLength} characters, got ${pattern.length}`,
    );
  const estimate = estimateSteps(pattern);
  if (estimate > maxEstimate) throw tooManySteps(name, estimate);
  try {
    const compiled = RE2JS.compile(pattern);
    return findText(pattern) ?? filterOf(compiled.programSize(), (address) => compiled.matcher(address).find());
  } catch (error) {
    throw new HubError(
      'bad-request',
      `${name}: expected a regular expression, got "${pattern}": ${(error as Error).message}`,
    );
  }
}

function tooManySteps(name: string, steps: number): LimitError {
  const expected = `expected regular expressions of at most ${maxSteps} steps together`;
  return new LimitError(
    'patternSteps',
    'bad-request',
    `${name}: ${expected}, where what may come n times counts n times, got about ${Math.ceil(steps)}`,
  );
}

/** Most patterns are `desk/`, `^desk/` or `/lamp$`, and are found faster without an engine; undefined: this one is not. */
function findText(pattern: string): Filter | undefined {
  const plain = /^(\^?)((?:[^\\^$.*+?()[\]{}|]|\\[^\w\s])*)(\$?)$/.exec(pattern);
  if (plain === null) return undefined;
  const [, start, escaped, end] = plain;
  const text = escaped!.replace(/\\(.)/gu, '$1');
  if (start && end) return filterOf(textWork, (address) => address === text);
  if (start) return filterOf(textWork, (address) => address.startsWith(text));
  if (end) return filterOf(textWork, (address) => address.endsWith(text));
  return filterOf(textWork, (address) => address.includes(text));
}
