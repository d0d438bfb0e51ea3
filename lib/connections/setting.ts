// The words that the settings schemas of all types share.

import { z } from 'zod';

/** The settings that every connection has beside those of its type. */
export const commonSettings = {
  enabled: z.boolean().default(true).describe('false: the connection is declared but not started'),
  description: z.string().default('').describe('What the connection is for, in the words of its operator'),
  statusParameter: z
    .boolean()
    .default(false)
    .describe('true: adds the read-only parameter _status/connected (B), true while running'),
};

/** A setting that is an integer within bounds, both included; `unit` is shown in mistakes. */
export function integerSetting(least: number, most: number, unit = ''): z.ZodNumber {
  const expected = `integer ${least}..${most}${unit && ` (${unit})`}`;
  return z
    .number({ error: expected })
    .int({ error: expected })
    .min(least, { error: expected })
    .max(most, { error: expected });
}
