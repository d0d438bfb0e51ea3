// What is recorded, how finely, and for how long.

import { z } from 'zod';
import { messageOf } from '../../../model/error.ts';
import { readDurationMs } from '../../../model/time/duration.ts';
import { longDuration } from '../long-duration.ts';
import { selectionSettings } from '../selection-settings.ts';
import type { HistoryRule } from './rules.ts';

const expectedEvery = "'change' or a duration of up to a minute, such as '1s'";
const expectedDeadband = 'a number, at least 0';
/** An interval of which the last value is recorded is no longer than a row of `minute`. */
const longestEveryMs = 60_000;

const entrySchema = z.strictObject({
  ...selectionSettings,
  every: z
    .union([z.string(), z.number()], { error: expectedEvery })
    .default('change')
    .transform((input, context) => {
      if (input === 'change') return 0;
      try {
        const everyMs = readDurationMs(input);
        if (everyMs > 0 && everyMs <= longestEveryMs) return everyMs;
        context.addIssue({ code: 'custom', message: `expected ${expectedEvery}, got ${JSON.stringify(input)}` });
      } catch (error) {
        context.addIssue({ code: 'custom', message: messageOf(error) });
      }
      return z.NEVER;
    })
    .describe("'change': every change is recorded; '1s': the last one of each second"),
  deadband: z
    .number({ error: expectedDeadband })
    .min(0, { error: expectedDeadband })
    .default(0)
    .describe('A number is recorded once it differs by so much from the one that was recorded last'),
  raw: longDuration('10d', { mayBeNone: true }).describe(
    "How long each change is kept: '10d', 'forever'; '0': not at all",
  ),
  minutes: longDuration('1y', { mayBeNone: true }).describe(
    'How long the mean, least and greatest value of each minute are kept',
  ),
  hours: longDuration('forever', { mayBeNone: true }).describe(
    'How long the mean, least and greatest value of each hour are kept',
  ),
});

export const historySetting = z
  .array(entrySchema, { error: "a list such as [{ include: ['desk/**'], raw: '30d' }]" })
  .prefault([{}])
  .describe('What is recorded: of several entries, the first one that selects a parameter holds for it');

export function rulesOf(entries: z.output<typeof historySetting>): HistoryRule[] {
  return entries.map(({ include, exclude, every, deadband, raw, minutes, hours }) => ({
    include,
    exclude,
    everyMs: every,
    deadband,
    rawMs: raw,
    minutesMs: minutes,
    hoursMs: hours,
  }));
}
