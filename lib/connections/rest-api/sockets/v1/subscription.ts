// A subscription of a client, ready to match.

import { describe } from '../../../../model/error.ts';
import { leastRate, maxPatternLength, maxRate, maxRegexes } from '../../../../wire/limits.ts';
import type { Pattern } from '../../../../wire/pattern.ts';
import type { Delivery } from '../../../../wire/v1/client-messages.ts';
import { type Filter, filterOf } from '../../filters/filter.ts';
import { createPatternFilter, isAddress } from '../../filters/pattern.ts';
import { LimitError } from '../../limits/limit-error.ts';
import type { Limits } from '../../limits/limit-settings.ts';
import type { FanOut } from '../fan-out.ts';
import { Selection } from '../selection.ts';
import { shownPatterns } from '../status.ts';

export interface Subscription {
  readonly id: number;
  readonly rate: number;
  readonly delivery: Delivery;
  /** Equal for subscriptions that match the same. */
  readonly patterns: string;
  /** Equal for subscriptions that are sent the same. */
  readonly key: string;
  /** What it matches, once that is ready. */
  readonly selection: Selection;
  /** What operators see of its patterns. */
  readonly shown: { readonly include: readonly Pattern[]; readonly exclude: readonly Pattern[] };
  /** The only addresses that it can match; undefined: any. */
  readonly addresses: readonly string[] | undefined;
}

/** What a client asks for, everything said. */
export interface Wish {
  readonly sub: number;
  readonly include: readonly Pattern[];
  readonly exclude: readonly Pattern[];
  readonly rate: number;
  readonly delivery: Delivery;
}

/** What a client may see; `key` is equal for those who may see the same. */
export interface Bound {
  readonly filter: Filter;
  readonly key: string;
}

/** How many patterns a subscription may have, and how many steps the regular expressions of each list. */
export type PatternLimits = Pick<Limits, 'patterns' | 'patternSteps'>;

/** What a pattern should be, as clients are told. */
export const patternExpected = `a pattern of 1 to ${maxPatternLength} characters`;

/** Creates a subscription within a bound. Errors: `bad-request`. */
export function createSubscription(
  { sub, include, exclude, rate, delivery }: Wish,
  bound: Bound,
  fanOut: FanOut,
  { patterns, patternSteps }: PatternLimits,
): Subscription {
  const count = include.length + exclude.length;
  if (count > patterns)
    throw new LimitError(
      'patterns',
      'bad-request',
      `include, exclude: expected at most ${patterns} patterns, got ${count}`,
    );
  const regexes = [...include, ...exclude].filter((one) => typeof one !== 'string').length;
  if (regexes > maxRegexes)
    throw new LimitError(
      'regexes',
      'bad-request',
      `include, exclude: expected at most ${maxRegexes} regexes, got ${regexes}`,
    );
  checkLengths('include', include);
  checkLengths('exclude', exclude);
  const isIncluded = createPatternFilter(include, patternSteps);
  const isExcluded = createPatternFilter(exclude, patternSteps);
  const filter = filterOf(
    bound.filter.work + isIncluded.work + isExcluded.work,
    // The bound comes first: else the time of the answer would tell of addresses that the client may not see.
    (address) => bound.filter(address) && isIncluded(address) && !isExcluded(address),
  );
  const included = keyOf(include);
  const excluded = keyOf(exclude);
  const patternKey = JSON.stringify([included, excluded]);
  return {
    id: sub,
    rate: honour(rate),
    delivery,
    patterns: patternKey,
    key: `${delivery} ${honour(rate)} ${patternKey} ${bound.key}`,
    selection: new Selection(filter, fanOut),
    shown: { include: shownOf(included), exclude: shownOf(excluded) },
    addresses: include.every(isAddress) ? include : undefined,
  };
}

function checkLengths(where: string, patterns: readonly Pattern[]): void {
  for (const [index, pattern] of patterns.entries()) {
    const [key, text] = typeof pattern === 'string' ? ['', pattern] : ['.regex', pattern.regex];
    // Characters, as schemas count them, and not code units.
    if (text.length > maxPatternLength && [...text].length > maxPatternLength)
      throw new LimitError(
        'patternLength',
        'bad-request',
        `${where}[${index}]${key}: expected ${patternExpected}, got ${describe(text)}`,
      );
  }
}

/** `all` before `latest`, then the higher rate; 0 is the highest. */
export function byLiveliness(one: Subscription, other: Subscription): number {
  if (one.delivery !== other.delivery) return one.delivery === 'all' ? -1 : 1;
  return (other.rate || Number.POSITIVE_INFINITY) - (one.rate || Number.POSITIVE_INFINITY) || 0;
}

/** The rate that the hub keeps: one of some hundreds, so that those who want about the same are served together. */
function honour(rate: number): number {
  if (rate === 0) return 0;
  const bounded = Math.min(Math.max(rate, leastRate), maxRate);
  return bounded < 10 ? Math.floor(bounded * 10 + 1e-9) / 10 : Math.floor(bounded);
}

function keyOf(list: readonly Pattern[]): readonly string[] {
  return [...new Set(list.map((one) => JSON.stringify(one)))].sort();
}

function shownOf(key: readonly string[]): readonly Pattern[] {
  return key.slice(0, shownPatterns).map((pattern) => JSON.parse(pattern));
}
