// How long a store keeps something, as settings say it.

import { z } from 'zod';
import { describe } from '../../model/error.ts';
import { readLongDurationMs } from '../../model/time/duration.ts';

/** `'90d'`, `'1y'` → milliseconds; `'forever'` → Infinity; `'0'` → 0, where that may be. */
export function longDuration(defaultText: string, { mayBeNone = false } = {}) {
  const expected = `a duration such as '90d' or '1y', or 'forever'${mayBeNone ? ", or '0'" : ''}`;
  return z
    .string({ error: expected })
    .default(defaultText)
    .transform((text, context) => {
      if (text === 'forever') return Number.POSITIVE_INFINITY;
      const durationMs = text === '0' ? 0 : readLongDurationMs(text);
      if (durationMs !== undefined && (durationMs > 0 || mayBeNone)) return durationMs;
      context.addIssue({ code: 'custom', message: `expected ${expected}, got ${describe(text)}` });
      return z.NEVER;
    });
}
