// The subscriptions of a client, `{"sub":1,…}` (docs/protocol.md "Subscribing"): how they are parsed, and which parameters they match.

import { z } from 'zod';
import { describe } from '../../../../model/error.ts';
import { isJsonObject } from '../../../../model/json-object.ts';
import type { Parameter } from '../../../../model/parameter.ts';
import { leastRate, maxPatternLength, maxRate, maxRegexes } from '../../../../wire/limits.ts';
import type { Pattern } from '../../../../wire/pattern.ts';
import type { Delivery, Since } from '../../../../wire/v1/client-messages.ts';
import { createPatternFilter, isAddress } from '../../filters/address-glob.ts';
import { type Filter, filterOf } from '../../filters/filter.ts';
import { parse } from '../../input/parse-input.ts';
import { LimitError } from '../../limits/limit-hits.ts';
import type { Limits } from '../../limits/limit-settings.ts';
import type { Principal } from '../../users/principal.ts';
import type { FanOut } from '../fan-out.ts';
import { Selection } from '../parameter-selection.ts';
import { shownPatterns } from '../socket-protocol.ts';

export interface Subscription {
  readonly id: number;
  readonly rate: number;
  readonly delivery: Delivery;
  /** A key that is equal for subscriptions that match the same parameters within the same rights. */
  readonly patterns: string;
  /** A key that is equal for subscriptions that receive the same changes. */
  readonly key: string;
  /** The parameters that the subscription matches; to be used only once the selection is ready. */
  readonly selection: Selection;
  /** The patterns as operators see them, at most `shownPatterns` in each list. */
  readonly shown: { readonly include: readonly Pattern[]; readonly exclude: readonly Pattern[] };
  /** The only addresses that the subscription can match; undefined if the subscription has patterns other than addresses. */
  readonly addresses: readonly string[] | undefined;
}

/** A parsed subscription request, with all defaults filled in. */
interface Wish {
  readonly sub: number;
  readonly include: readonly Pattern[];
  readonly exclude: readonly Pattern[];
  readonly rate: number;
  readonly delivery: Delivery;
}

/** The parameters that a client may see. `key` is equal for clients that may see the same parameters. */
interface Bound {
  readonly filter: Filter;
  readonly key: string;
}

/** The limits on the number of patterns in a subscription, and on the number of regular expression steps in each list. */
type PatternLimits = Pick<Limits, 'patterns' | 'patternSteps'>;

/** The expected form of a pattern, for error messages. */
const patternExpected = `a pattern of 1 to ${maxPatternLength} characters`;

/** Creates a subscription that matches only parameters within a bound. Errors: `bad-request`. */
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
    // The bound is checked first. Otherwise response times would reveal addresses that the client may not see.
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
    // Counts characters rather than code units, as schemas do.
    if (text.length > maxPatternLength && [...text].length > maxPatternLength)
      throw new LimitError(
        'patternLength',
        'bad-request',
        `${where}[${index}]${key}: expected ${patternExpected}, got ${describe(text)}`,
      );
  }
}

/**
 * Compares subscriptions by how often they deliver: `all` comes before `latest`, then the higher rate comes first; 0 is the highest rate.
 */
export function byLiveliness(one: Subscription, other: Subscription): number {
  if (one.delivery !== other.delivery) return one.delivery === 'all' ? -1 : 1;
  return (other.rate || Number.POSITIVE_INFINITY) - (one.rate || Number.POSITIVE_INFINITY) || 0;
}

/** Rounds a rate, in times per second, to one of a few hundred values, so that clients with similar rates share a group. */
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

/** A subscription request. `since` is the epoch and revision up to which the client had everything when its connection was lost. */
export interface Request {
  readonly subscription: Subscription;
  readonly since: Since | undefined;
}

const idExpected = 'an integer 0..2147483647';
/** The schema of the number of a subscription. */
export const subscriptionId = z
  .int({ error: idExpected })
  .min(0, { error: idExpected })
  .max(2 ** 31 - 1, { error: idExpected });
// Exceeded limits are reported later, when the patterns are counted. Only the first invalid pattern is reported, because describing
// thousands of patterns would take too long.
const patterns = z.array(z.unknown(), { error: 'list of patterns' }).transform((list, { issues }) => {
  const index = list.findIndex((one) => !isPattern(one));
  const input = list[index];
  const message = typeof input === 'string' ? patternExpected : `${patternExpected}, or {"regex":…}`;
  if (index >= 0) issues.push({ code: 'custom', message, path: [index], input });
  return list as readonly Pattern[];
});
const rateExpected = 'number of times per second, or 0';
const revExpected = 'revision';
const sinceExpected = '{"epoch":…,"rev":…}';

const requestSchema = z.strictObject({
  sub: subscriptionId,
  include: patterns.default(['**']),
  exclude: patterns.default([]),
  rate: z.number({ error: rateExpected }).min(0, { error: rateExpected }).default(0),
  delivery: z.enum(['latest', 'all'], { error: '"latest" or "all"' }).default('latest'),
  since: z
    .strictObject(
      {
        epoch: z.string({ error: 'epoch' }),
        rev: z.int({ error: revExpected }).min(0, { error: revExpected }),
      },
      { error: ({ code }) => (code === 'invalid_type' ? sinceExpected : undefined) },
    )
    .optional(),
});

function isPattern(one: unknown): boolean {
  if (typeof one === 'string') return one !== '';
  return isJsonObject(one) && typeof one.regex === 'string' && one.regex !== '' && Object.keys(one).length === 1;
}

/**
 * The maximum number of subscriptions that are cached for clients with equal requests, and the maximum total cost of the filters of these
 * subscriptions.
 */
const maxKnown = 1024;
const maxKnownWork = 2048;

/**
 * Creates a function that parses subscription requests. `boundOf` returns the filter for the parameters that a principal may see. Clients
 * with equal requests and rights share one subscription, because there may be thousands of such clients. Errors of the created function:
 * `bad-request`.
 */
export function createSubscriptionReader(
  boundOf: (principal: Principal) => Filter,
  fanOut: FanOut,
  limits: PatternLimits,
): (message: object, principal: Principal) => Request {
  const known = new Map<string, Subscription>();
  let knownWork = 0;
  const keep = (text: string, subscription: Subscription) => {
    known.set(text, subscription);
    knownWork += subscription.selection.work;
    while (known.size > maxKnown || knownWork > maxKnownWork) {
      const [oldest, { selection }] = known.entries().next().value!;
      known.delete(oldest);
      knownWork -= selection.work;
    }
  };
  return (message, principal) => {
    const { since, ...request } = parse(requestSchema, message);
    const text = `${principal.key}\n${JSON.stringify(request)}`;
    let subscription = known.get(text);
    if (subscription === undefined) {
      subscription = createSubscription(request, { filter: boundOf(principal), key: principal.key }, fanOut, limits);
      keep(text, subscription);
    }
    return { subscription, since };
  };
}

/**
 * Returns the parameters that subscriptions list by address; undefined if a subscription has other patterns and may therefore match any
 * parameter. Parameters that the filters reject are omitted, because the number of parameters must not reveal parameters that the client
 * may not see.
 */
export function listedParameters(
  subscriptions: Iterable<Pick<Subscription, 'addresses' | 'selection'>>,
  find: (address: string) => Parameter | undefined,
): Set<Parameter> | undefined {
  const listed = new Set<Parameter>();
  for (const { addresses, selection } of subscriptions) {
    if (addresses === undefined) return undefined;
    for (const address of addresses) {
      const parameter = find(address);
      if (parameter !== undefined && selection.has(parameter)) listed.add(parameter);
    }
  }
  return listed;
}
