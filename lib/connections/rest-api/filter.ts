// Filters of addresses (D-05): regular expressions, searched, case-sensitive; one match is enough, none lets all through.
// Patterns of clients run on a linear-time engine, so that no pattern can stop the hub.

import { RE2JS } from 're2js';
import { HubError } from '../../model/error.ts';

export type Filter = (address: string) => boolean;

const maxPatterns = 16;
/** Enough for the longest address (D-01) with every character escaped. */
const maxPatternLength = 1024;

/** Creates the filter of patterns that a client sent as `name`. Errors: `bad-request` for a bad, long or surplus pattern. */
export function createFilter(patterns: readonly string[], name = 'filter'): Filter {
  if (patterns.length === 0) return () => true;
  if (patterns.length > maxPatterns)
    throw new HubError('bad-request', `${name}: expected at most ${maxPatterns} patterns, got ${patterns.length}`);
  const compiled = patterns.map((pattern) => compile(pattern, name));
  return (address) => compiled.some((pattern) => pattern.matcher(address).find());
}

/** Creates the filter of patterns from the settings, which were checked at load. */
export function createConfiguredFilter(patterns: readonly string[]): Filter {
  if (patterns.length === 0) return () => true;
  const compiled = patterns.map((pattern) => new RegExp(pattern));
  return (address) => compiled.some((pattern) => pattern.test(address));
}

function compile(pattern: string, name: string): RE2JS {
  if (pattern.length > maxPatternLength)
    throw new HubError(
      'bad-request',
      `${name}: expected at most ${maxPatternLength} characters, got ${pattern.length}`,
    );
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw new HubError(
      'bad-request',
      `${name}: expected a regular expression, got "${pattern}": ${(error as Error).message}`,
    );
  }
}
