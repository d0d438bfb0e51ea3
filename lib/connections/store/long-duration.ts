// How long a store keeps something, as settings say it.

import { z } from 'zod';
import { readLongDurationMs } from '../../model/duration.ts';
import { describe } from '../../model/error.ts';

const expected = "a duration such as '90d' or '1y', or 'forever'";

/** `'90d'`, `'1y'` → milliseconds; `'forever'` → Infinity. */
export function longDuration(defaultText: string) {
  return z
    .string({ error: expected })
    .default(defaultText)
    .transform((text, context) => {
      const durationMs = text === 'forever' ? Number.POSITIVE_INFINITY : readLongDurationMs(text);
      if (durationMs !== undefined && durationMs > 0) return durationMs;
      context.addIssue({ code: 'custom', message: `expected ${expected}, got ${describe(text)}` });
      return z.NEVER;
    });
}
