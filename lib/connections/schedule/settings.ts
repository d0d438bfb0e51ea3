// The settings of a schedule: a time zone and entries. An entry is either open from one time to another, or fires at set times.
import { z } from 'zod';
import { parameterIdMistake } from '../../model/address.ts';
import { describe } from '../../model/error.ts';
import { readBy, record } from '../../model/record-schema.ts';
import { dayMs } from '../../model/time/iso-time.ts';
import { isZone } from '../../model/time/zone-time.ts';

// Times of day, in milliseconds since midnight

const hour = String.raw`(?:[01]\d|2[0-3])`;
const below60 = String.raw`[0-5]\d`;

/** The regular expressions for a time, and for times in which `*` stands for every hour or every minute. */
const clockPattern = `^(?:${hour}:${below60}(?::${below60})?|24:00)$`;
const timesPattern = String.raw`^(?:\*|${hour}):(?:\*|${below60})(?::${below60})?$`;

/**
 * Parses a time such as `'06:00'`, `'21:59:30'` or `'24:00'`. Returns milliseconds since midnight, or undefined if the string is invalid.
 */
function readClock(text: string): number | undefined {
  if (!new RegExp(clockPattern).test(text)) return undefined;
  const [hours, minutes, seconds = 0] = text.split(':').map(Number);
  return ((hours! * 60 + minutes!) * 60 + seconds) * 1000;
}

/** Parses times such as `'06:00'`, `'*:00'` or `'08:*'`. Returns milliseconds since midnight, or undefined if the string is invalid. */
function readTimes(text: string): number[] | undefined {
  if (!new RegExp(timesPattern).test(text)) return undefined;
  const [hours, minutes, seconds = '00'] = text.split(':');
  return each(hours!, 24).flatMap((one) =>
    each(minutes!, 60).map((other) => ((one * 60 + other) * 60 + Number(seconds)) * 1000),
  );
}

function each(text: string, count: number): number[] {
  return text === '*' ? Array.from({ length: count }, (_, index) => index) : [Number(text)];
}

// The days of an entry: days of the week and dates. A day is the number of days since 1970, regardless of time zones.

const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const weekday = `(?:${weekdays.join('|')})`;
const monthAndDay = String.raw`(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])`;
const dateShape = String.raw`(?:\d{4}-)?${monthAndDay}`;

/** The regular expressions for days of the week and for dates. */
const daysPattern = String.raw`^${weekday}(?:-${weekday})?(?:,\s*${weekday}(?:-${weekday})?)*$`;
const datePattern = String.raw`^${dateShape}(?:\.\.${dateShape})?$`;

/** A function that returns whether an entry applies on a day. */
export type IsDay = (day: number) => boolean;

/** Parses days of the week such as `'mon-fri,sun'` or `'fri-mon'`. Returns undefined if the string is invalid. */
function readDays(text: string): IsDay | undefined {
  if (!new RegExp(daysPattern).test(text)) return undefined;
  const meant = new Set<number>();
  for (const part of text.split(/,\s*/)) {
    const [first = 0, last = first] = part.split('-').map((name) => weekdays.indexOf(name));
    for (let one = first; meant.add(one) && one !== last; ) one = (one + 1) % 7;
  }
  return (day) => meant.has(dateOf(day).getUTCDay());
}

/**
 * Parses a date such as `'2026-12-24'`, a yearly date such as `'12-24'`, or a range such as `'12-24..01-06'`. Returns undefined if the
 * string is invalid.
 */
function readDate(text: string): IsDay | undefined {
  if (!new RegExp(datePattern).test(text)) return undefined;
  const [first, last = first] = text.split('..').map((part) => numberOf(part));
  if (first === undefined || last === undefined || isYearly(first) !== isYearly(last)) return undefined;
  if (!isYearly(first)) return first <= last ? (day) => isWithin(ofYear(day), first, last) : undefined;
  if (first <= last) return (day) => isWithin(ofYear(day) % 10_000, first, last);
  return (day) => !isWithin(ofYear(day) % 10_000, last + 1, first - 1);
}

function isWithin(number: number, first: number, last: number): boolean {
  return number >= first && number <= last;
}

function isYearly(number: number): boolean {
  return number < 10_000;
}

/** Converts `'2026-12-24'` to 20261224 and `'12-24'` to 1224. Returns undefined if there is no such day. */
function numberOf(text: string): number | undefined {
  const isDate = new Date(`${text.length === 5 ? `2024-${text}` : text}T00:00Z`)
    .toISOString()
    .slice(0, 10)
    .endsWith(text);
  return isDate ? Number(text.replaceAll('-', '')) : undefined;
}

/** Returns the date of a day as a number such as 20261224. */
function ofYear(day: number): number {
  const dateShape = dateOf(day);
  return dateShape.getUTCFullYear() * 10_000 + (dateShape.getUTCMonth() + 1) * 100 + dateShape.getUTCDate();
}

function dateOf(day: number): Date {
  return new Date(day * dayMs);
}

const maxEntries = 1000;
const maxItems = 1000;

const day = 'days such as "mon-fri" or "sat,sun"';
const date = 'a date such as "2026-12-24", for each year "12-24", or a range "12-24..01-06"';
const clock = 'a time such as "06:00" or "21:59:30"';
const times = 'a time such as "06:00", or for each hour "*:00"';

const clockSetting = text(clock, clockPattern, readClock);
const timesSetting = text(times, timesPattern, readTimes);
const datesSetting = z
  .array(text(date, datePattern, readDate), { error: `a list of dates: [${date.slice('a date such as '.length)}]` })
  .max(maxItems, { error: `at most ${maxItems} dates` });

const entrySetting = z
  .strictObject(
    {
      days: text(day, daysPattern, readDays).optional().describe('Days of the week'),
      dates: datesSetting.optional().describe('Dates, in addition to `days`. Without either, every day'),
      except: datesSetting.default([]).describe('Dates on which the entry does not open or fire'),
      from: clockSetting.optional().describe('The opening time; default: 00:00'),
      to: clockSetting
        .optional()
        .describe('The closing time, on the next day if it is not later than from; default: 24:00'),
      at: z
        .union([timesSetting, z.array(timesSetting).min(1).max(maxItems)], { error: `${times}, or a list of them` })
        .transform((input) => [...new Set([input].flat(2))].sort((a, b) => a - b))
        .optional()
        .describe('The times at which the entry fires as a trigger'),
    },
    { error: "an entry such as { days: 'mon-fri', from: '06:00', to: '22:00' }" },
  )
  .refine(({ at, from, to }) => at === undefined || (from === undefined && to === undefined), {
    error: 'expected either `at`, or `from` and `to`; got both',
  })
  .meta({ not: { required: ['at'], anyOf: [{ required: ['from'] }, { required: ['to'] }] } });

export const settingsSchema = z.strictObject({
  zone: z
    .string({ error: 'a time zone such as "Europe/Berlin"' })
    .refine(isZone, { error: ({ input }) => `expected a time zone such as "Europe/Berlin", got ${describe(input)}` })
    .describe('The time zone of all times'),
  entries: record(z.string().superRefine(checkName), entrySetting, { error: 'an object of entries by name' })
    .refine((entries) => Object.keys(entries).length <= maxEntries, {
      error: ({ input }) => `expected at most ${maxEntries} entries, got ${Object.keys(input as object).length}`,
    })
    .describe('The parameters by name'),
});

export type EntrySettings = z.output<typeof entrySetting>;

/** Returns the schema for a string that `read` converts. The string is invalid if `read` returns undefined. */
function text<Result>(expected: string, pattern: string, read: (text: string) => Result | undefined) {
  return readBy(z.string({ error: expected }).meta({ pattern }), expected, read);
}

/** Checks the name of an entry, which also serves as the Parameter ID. */
function checkName(name: string, context: z.RefinementCtx): void {
  const message = parameterIdMistake(name);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
}
