// Reads what a client asks for with `{"sub":1,…}` (lib/client/README.md "Subscribing").

import { z } from 'zod';
import { isJsonObject } from '../../../../../model/json-object.ts';
import type { Pattern } from '../../../../../wire/pattern.ts';
import type { Since } from '../../../../../wire/v1/client-messages.ts';
import type { Filter } from '../../../filters/filter.ts';
import { parse } from '../../../input/parse.ts';
import type { Visitor } from '../../../users/visitor.ts';
import type { FanOut } from '../../fan-out.ts';
import { createSubscription, type PatternLimits, patternExpected, type Subscription } from '../subscription.ts';

/** A subscription as a client asks for it; `since`: where it was when its link broke. */
export interface Request {
  readonly subscription: Subscription;
  readonly since: Since | undefined;
}

const idExpected = 'integer 0..2147483647';
/** The number of a subscription. */
export const subscriptionId = z
  .int({ error: idExpected })
  .min(0, { error: idExpected })
  .max(2 ** 31 - 1, { error: idExpected });
// What goes past a limit is told later, when it is counted. Only the first wrong pattern is told: to describe thousands takes too long.
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

const schema = z.strictObject({
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

/** How many subscriptions are kept for those who ask for the same, and how much work their filters may be together. */
const maxKnown = 1024;
const maxKnownWork = 2048;

/**
 * Creates what reads subscriptions; `boundOf` is what a visitor may see. Clients that ask for the same and may see the same share one object:
 * there may be thousands of them. Errors of what it creates: `bad-request`.
 */
export function createSubscriptionReader(
  boundOf: (visitor: Visitor) => Filter,
  fanOut: FanOut,
  limits: PatternLimits,
): (message: object, visitor: Visitor) => Request {
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
  return (message, visitor) => {
    const { since, ...request } = parse(schema, message);
    const text = `${visitor.key}\n${JSON.stringify(request)}`;
    let subscription = known.get(text);
    if (subscription === undefined) {
      subscription = createSubscription(request, { filter: boundOf(visitor), key: visitor.key }, fanOut, limits);
      keep(text, subscription);
    }
    return { subscription, since };
  };
}
