// Filters of addresses (D-05): regular expressions, searched, case-sensitive; one match is enough, none lets all through.
// Patterns of clients run on a linear-time engine, so that no pattern can stop the hub.

import { RE2JS } from 're2js';
import { HubError } from '../../model/error.ts';
import { LimitError, limits } from './limits.ts';

export type Filter = (address: string) => boolean;

const maxPatterns = limits.filters.default;
/** Enough for the longest address (D-01) with every character escaped. */
const maxPatternLength = limits.patternLength.default;

/** Creates the filter of patterns that a client sent as `name`. Errors: `bad-request` for a bad, long or surplus pattern. */
export function createFilter(patterns: readonly string[], name = 'filter'): Filter {
  if (patterns.length === 0) return () => true;
  if (patterns.length > maxPatterns)
    throw new LimitError(
      'filters',
      'bad-request',
      `${name}: expected at most ${maxPatterns} patterns, got ${patterns.length}`,
    );
  return anyOf(patterns.map((pattern) => compile(pattern, name)));
}

/** Creates the filter of patterns from the settings, which were checked at load. */
export function createConfiguredFilter(patterns: readonly string[]): Filter {
  if (patterns.length === 0) return () => true;
  return anyOf(patterns.map((pattern) => new RegExp(pattern)).map((regex) => (address) => regex.test(address)));
}

/** Matches what any of the filters matches. */
export function anyOf(filters: readonly Filter[]): Filter {
  const [first] = filters;
  if (filters.length === 1) return first!;
  return (address) => filters.some((filter) => filter(address));
}

function compile(pattern: string, name: string): Filter {
  if (pattern.length > maxPatternLength)
    throw new LimitError(
      'patternLength',
      'bad-request',
      `${name}: expected at most ${maxPatternLength} characters, got ${pattern.length}`,
    );
  return compileLinear(pattern, name);
}

/** Compiles a pattern, called `name`, for the linear-time engine. Errors: `bad-request`. */
export function compileLinear(pattern: string, name: string): Filter {
  try {
    const compiled = RE2JS.compile(pattern);
    return findText(pattern) ?? ((address) => compiled.matcher(address).find());
  } catch (error) {
    throw new HubError(
      'bad-request',
      `${name}: expected a regular expression, got "${pattern}": ${(error as Error).message}`,
    );
  }
}

/** Most patterns are `desk/`, `^desk/` or `/lamp$`, and are found faster without an engine; undefined: this one is not. */
function findText(pattern: string): Filter | undefined {
  const plain = /^(\^?)((?:[^\\^$.*+?()[\]{}|]|\\[^\w\s])*)(\$?)$/.exec(pattern);
  if (plain === null) return undefined;
  const [, start, escaped, end] = plain;
  const text = escaped!.replace(/\\(.)/gu, '$1');
  if (start && end) return (address) => address === text;
  if (start) return (address) => address.startsWith(text);
  if (end) return (address) => address.endsWith(text);
  return (address) => address.includes(text);
}
