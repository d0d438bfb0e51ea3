// Patterns of addresses that clients send: globs and regular expressions. All of them match in linear time, so no pattern can stop the
// hub.

import type { Pattern } from '../../../wire/pattern.ts';
import { anyOf, createFilter, type Filter, filterOf, textWork } from './filter.ts';
import { createGlobFilter } from './glob.ts';

/**
 * Creates the filter of patterns, of which one has to match; their regular expressions may have so many steps. Without patterns it lets
 * nothing through. Errors: `bad-request` for a bad regex.
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

/** Whether a pattern is the address of one parameter. */
export function isAddress(pattern: Pattern): pattern is string {
  return typeof pattern === 'string' && !pattern.includes('*');
}
