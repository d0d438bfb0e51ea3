// The settings of a schedule: a time zone, and entries that are open from one time to another, or fire at times.

import { z } from 'zod';
import { parameterIdMistake } from '../../model/address.ts';
import { describe } from '../../model/error.ts';
import { record } from '../../model/record-schema.ts';
import { isZone } from '../../model/time/zone-time.ts';
import { datePattern, daysPattern, readDate, readDays } from './days.ts';
import { clockPattern, readClock, readTimes, timesPattern } from './times.ts';

const maxEntries = 1000;
const maxItems = 1000;

const day = 'days such as "mon-fri" or "sat,sun"';
const date = 'a date such as "2026-12-24", of each year "12-24", or a range "12-24..01-06"';
const clock = 'a time such as "06:00" or "21:59:30"';
const times = 'a time such as "06:00", or of each hour "*:00"';

const clockSetting = text(clock, clockPattern, readClock);
const timesSetting = text(times, timesPattern, readTimes);
const datesSetting = z
  .array(text(date, datePattern, readDate), { error: `a list of dates: [${date.slice('a date such as '.length)}]` })
  .max(maxItems, { error: `at most ${maxItems} dates` });

const entrySetting = z
  .strictObject(
    {
      days: text(day, daysPattern, readDays).optional().describe('Days of the week'),
      dates: datesSetting.optional().describe('Dates; with `days` the entry has both. Without either, every day'),
      except: datesSetting.default([]).describe('Dates on which the entry has nothing'),
      from: clockSetting.optional().describe('When it opens; left out: 00:00'),
      to: clockSetting.optional().describe('When it closes, on the next day if that is not later; left out: 24:00'),
      at: z
        .union([timesSetting, z.array(timesSetting).min(1).max(maxItems)], { error: `${times}, or a list of them` })
        .transform((input) => [...new Set([input].flat(2))].sort((a, b) => a - b))
        .optional()
        .describe('When it fires: the entry is a trigger'),
    },
    { error: "an entry such as { days: 'mon-fri', from: '06:00', to: '22:00' }" },
  )
  .refine(({ at, from, to }) => at === undefined || (from === undefined && to === undefined), {
    error: 'expected `at`, which fires, or `from` and `to`, which open and close; got both',
  })
  .meta({ not: { required: ['at'], anyOf: [{ required: ['from'] }, { required: ['to'] }] } });

export const settingsSchema = z.strictObject({
  zone: z
    .string({ error: 'a time zone such as "Europe/Berlin"' })
    .refine(isZone, { error: ({ input }) => `expected a time zone such as "Europe/Berlin", got ${describe(input)}` })
    .describe('Time zone whose clocks count'),
  entries: record(z.string().superRefine(checkName), entrySetting, { error: 'an object of entries by name' })
    .refine((entries) => Object.keys(entries).length <= maxEntries, {
      error: ({ input }) => `expected at most ${maxEntries} entries, got ${Object.keys(input as object).length}`,
    })
    .describe('The parameters by name'),
});

export type EntrySettings = z.output<typeof entrySetting>;

/** A setting in text; `read` gives undefined for what is none. */
function text<Result>(expected: string, pattern: string, read: (text: string) => Result | undefined) {
  return z
    .string({ error: expected })
    .meta({ pattern })
    .transform((input, context): Result => {
      const result = read(input);
      if (result !== undefined) return result;
      context.addIssue({ code: 'custom', message: `expected ${expected}, got ${describe(input)}` });
      return z.NEVER;
    });
}

/** The name of an entry is the ID of its parameter. */
function checkName(name: string, context: z.RefinementCtx): void {
  const message = parameterIdMistake(name);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
}
