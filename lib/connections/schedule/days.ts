// Which days an entry means: days of the week and dates. A day is counted from 1970, as a date without a zone.

import { dayMs } from '../../model/time/iso-time.ts';

const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const weekday = `(?:${weekdays.join('|')})`;
const monthAndDay = String.raw`(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])`;
const date = String.raw`(?:\d{4}-)?${monthAndDay}`;

/** What days of the week and dates look like in text. */
export const daysPattern = String.raw`^${weekday}(?:-${weekday})?(?:,\s*${weekday}(?:-${weekday})?)*$`;
export const datePattern = String.raw`^${date}(?:\.\.${date})?$`;

/** Tells whether a day is meant. */
export type IsDay = (day: number) => boolean;

/** Reads days of the week: `'mon-fri,sun'`, `'fri-mon'`; undefined if it is none. */
export function readDays(text: string): IsDay | undefined {
  if (!new RegExp(daysPattern).test(text)) return undefined;
  const meant = new Set<number>();
  for (const part of text.split(/,\s*/)) {
    const [first = 0, last = first] = part.split('-').map((name) => weekdays.indexOf(name));
    for (let one = first; meant.add(one) && one !== last; ) one = (one + 1) % 7;
  }
  return (day) => meant.has(dateOf(day).getUTCDay());
}

/** Reads a date, `'2026-12-24'`, of each year `'12-24'`, or a range: `'12-24..01-06'`; undefined if it is none. */
export function readDate(text: string): IsDay | undefined {
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

/** `'2026-12-24'` → 20261224, `'12-24'` → 1224; undefined if there is no such day. */
function numberOf(text: string): number | undefined {
  const isDate = new Date(`${text.length === 5 ? `2024-${text}` : text}T00:00Z`)
    .toISOString()
    .slice(0, 10)
    .endsWith(text);
  return isDate ? Number(text.replaceAll('-', '')) : undefined;
}

/** 20261224 */
function ofYear(day: number): number {
  const date = dateOf(day);
  return date.getUTCFullYear() * 10_000 + (date.getUTCMonth() + 1) * 100 + date.getUTCDate();
}

function dateOf(day: number): Date {
  return new Date(day * dayMs);
}
