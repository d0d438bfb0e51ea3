// Patterns of addresses that clients send: globs, and regular expressions. All of them match in linear time, or nearly: no
// pattern can stop the hub.

import { anyOf, compileLinear, createFilter, type Filter } from './filter.ts';

/** `desk/*` or `{regex: '^desk/'}`. */
export type Pattern = string | { readonly regex: string };

/** A backtracking engine needs time that grows with the length of the address to about this power. */
const maxNativeStars = 2;

/** Creates the filter of patterns, any of which may match; none matches nothing. Errors: `bad-request` for a bad regex. */
export function createPatternFilter(patterns: readonly Pattern[]): Filter {
  const addresses = new Set(patterns.filter(isAddress));
  const filters = patterns.filter((pattern) => !isAddress(pattern)).map(compile);
  const isListed: Filter = (address) => addresses.has(address);
  return anyOf(addresses.size > 0 || filters.length === 0 ? [isListed, ...filters] : filters);
}

/** Whether a pattern is the address of one parameter. */
export function isAddress(pattern: Pattern): pattern is string {
  return typeof pattern === 'string' && !pattern.includes('*');
}

function compile(pattern: Pattern): Filter {
  if (typeof pattern !== 'string') return createFilter([pattern.regex], 'regex');
  if (pattern === '**') return () => true;
  const start = pattern.slice(0, -2);
  if (pattern.endsWith('/**') && isAddress(start)) return (address) => address.startsWith(start);
  const runs = pattern.replace(/\*{3,}/g, '**');
  const regex = `^${runs
    .split(/(\*\*\/|\*\*|\*)/)
    .map(translate)
    .join('')}$`;
  const stars = runs.match(/\*+/g)!.length;
  if (stars > maxNativeStars) return compileLinear(`(?s)${regex}`, 'glob');
  const native = new RegExp(regex, 's');
  return (address) => native.test(address);
}

/** `**` between slashes stands for no segment as well. */
function translate(part: string, index: number, parts: readonly string[]): string {
  if (part === '**/') return /(?:^|\/)$/.test(parts.slice(0, index).join('')) ? '(?:.*/)?' : '.*/';
  if (part === '**') return '.*';
  if (part === '*') return '[^/]*';
  return part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
