// Matches addresses against a selection. The library has to match exactly like the hub, because the hub sends a parameter only once even if
// it matches several subscriptions (docs/protocol.md "Subscribing").
import { globToRegExp } from '../../model/glob.ts';
import type { Pattern } from '../../wire/pattern.ts';

/**
 * A pattern for addresses: a regular expression that is valid in both RE2 and JavaScript, or a glob in which `*` stands for any characters
 * within a segment and `**` for any characters.
 */
export type AddressPattern = string | RegExp;

export type Matcher = (address: string) => boolean;

/** Returns a pattern in the form in which the protocol sends it: `/lamp$/i` → `{"regex":"(?i)lamp$"}`. */
export function encodePattern(pattern: AddressPattern): Pattern {
  if (typeof pattern === 'string') return pattern;
  const flags = pattern.flags.replace(/[^ims]/g, '');
  return { regex: flags ? `(?${flags})${pattern.source}` : pattern.source };
}

/** Creates a function that matches addresses: at least one pattern in `include` and no pattern in `exclude` must match. */
export function createMatcher(include: readonly AddressPattern[], exclude: readonly AddressPattern[]): Matcher {
  const [isIncluded, isExcluded] = [include, exclude].map(anyOf) as [Matcher, Matcher];
  return (address) => isIncluded(address) && !isExcluded(address);
}

function anyOf(patterns: readonly AddressPattern[]): Matcher {
  const literals = new Set(patterns.filter((pattern) => typeof pattern === 'string' && !pattern.includes('*')));
  const regexes = patterns.filter((pattern) => !literals.has(pattern)).map(toRegExp);
  return (address) => literals.has(address) || regexes.some((regex) => regex.test(address));
}

function toRegExp(pattern: AddressPattern): RegExp {
  if (typeof pattern !== 'string') return new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')); // without flags that keep state
  return globToRegExp(pattern);
}
