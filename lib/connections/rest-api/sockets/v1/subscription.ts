// What a client asks for with `{"sub":1,…}` (lib/client/README.md "Subscribing"), checked and ready to match.

import { z } from 'zod';
import { leastRate, maxPatternLength, maxPatterns, maxRate, maxRegexes } from '../../../../wire/limits.ts';
import type { Pattern } from '../../../../wire/pattern.ts';
import type { Delivery, Since } from '../../../../wire/v1/client-messages.ts';
import { type Filter, filterOf } from '../../filters/filter.ts';
import { createPatternFilter, isAddress } from '../../filters/pattern.ts';
import { parse } from '../../input/parse.ts';
import { LimitError } from '../../limits/limit-error.ts';
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

/** A subscription as a client asks for it; `since`: where it was when its link broke. */
export interface SubscriptionRequest {
  readonly subscription: Subscription;
  readonly since: Since | undefined;
}

const idExpected = 'integer 0..2147483647';
/** The number of a subscription. */
export const subscriptionId = z
  .int({ error: idExpected })
  .min(0, { error: idExpected })
  .max(2 ** 31 - 1, { error: idExpected });
const patternExpected = `pattern of 1 to ${maxPatternLength} characters`;
const patternText = z
  .string({ error: patternExpected })
  .min(1, { error: patternExpected })
  .max(maxPatternLength, { error: patternExpected });
const pattern = z.union([patternText, z.strictObject({ regex: patternText })], {
  error: `${patternExpected}, or {"regex":…}`,
});
const listExpected = `list of at most ${maxPatterns} patterns`;
const patterns = z.array(pattern, { error: listExpected }).max(maxPatterns, { error: listExpected });
const rateExpected = 'number of times per second, or 0';
const revExpected = 'revision';

const schema = z.strictObject({
  sub: subscriptionId,
  include: patterns.default(['**']),
  exclude: patterns.default([]),
  rate: z.number({ error: rateExpected }).min(0, { error: rateExpected }).default(0),
  delivery: z.enum(['latest', 'all'], { error: '"latest" or "all"' }).default('latest'),
  since: z
    .strictObject({
      epoch: z.string({ error: 'epoch' }),
      rev: z.int({ error: revExpected }).min(0, { error: revExpected }),
    })
    .optional(),
});

/** How many subscriptions are kept for those who ask for the same, and how much work their filters may be together. */
const maxKnown = 1024;
const maxKnownWork = 2048;

/**
 * Creates what reads subscriptions; `bound` is what no client sees beyond. Clients that ask for the same share one object:
 * there may be thousands of them. Errors of what it creates: `bad-request`.
 */
export function createSubscriptionReader(bound: Filter, fanOut: FanOut): (message: object) => SubscriptionRequest {
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
  return (message) => {
    const { since, ...request } = parse(schema, message);
    const text = JSON.stringify(request);
    let subscription = known.get(text);
    if (subscription === undefined) {
      subscription = createSubscription(request, bound, fanOut);
      keep(text, subscription);
    }
    return { subscription, since };
  };
}

type Request = Omit<z.output<typeof schema>, 'since'>;

function createSubscription(
  { sub, include, exclude, rate, delivery }: Request,
  bound: Filter,
  fanOut: FanOut,
): Subscription {
  const count = include.length + exclude.length;
  if (count > maxPatterns)
    throw new LimitError(
      'patterns',
      'bad-request',
      `include, exclude: expected at most ${maxPatterns} patterns, got ${count}`,
    );
  const regexes = [...include, ...exclude].filter((one) => typeof one !== 'string').length;
  if (regexes > maxRegexes)
    throw new LimitError(
      'regexes',
      'bad-request',
      `include, exclude: expected at most ${maxRegexes} regexes, got ${regexes}`,
    );
  const isIncluded = createPatternFilter(include);
  const isExcluded = createPatternFilter(exclude);
  const filter = filterOf(
    bound.work + isIncluded.work + isExcluded.work,
    (address) => bound(address) && isIncluded(address) && !isExcluded(address),
  );
  const included = keyOf(include);
  const excluded = keyOf(exclude);
  const patternKey = JSON.stringify([included, excluded]);
  return {
    id: sub,
    rate: honour(rate),
    delivery,
    patterns: patternKey,
    key: `${delivery} ${honour(rate)} ${patternKey}`,
    selection: new Selection(filter, fanOut),
    shown: { include: shownOf(included), exclude: shownOf(excluded) },
    addresses: include.every(isAddress) ? include : undefined,
  };
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
