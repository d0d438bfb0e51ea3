// The week of a schedule: its bars, the notation for days of the week in flow files, and times in words.

import { localTime } from '../../model/time/zone-time.ts';
import type { ScheduleEntry } from '../../wire/http/schedule-shapes.ts';
import { locale, t } from '../language/language.ts';

export const dayMinutes = 1440;
const weekDays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const names = new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' });
/** The names of the days in the language of the page. 1 January 2024 was a Monday. */
export const dayNames = weekDays.map((_, day) => names.format(Date.UTC(2024, 0, 1 + day)));

/** A period of a day, in minutes since midnight. `day` counts from Monday, which is 0. */
export interface Bar {
  readonly day: number;
  readonly from: number;
  readonly to: number;
  /** The day on which the period begins, if it began before midnight. */
  readonly begins?: number;
}

/** Parses days of the week: `'mon-fri,sun'` → 0, 1, 2, 3, 4, 6. Returns an empty set for anything else. */
export function readDays(text: unknown): ReadonlySet<number> {
  const days = new Set<number>();
  if (typeof text !== 'string') return days;
  for (const part of text.split(/,\s*/)) {
    const [first = -1, last = first] = part.split('-').map((name) => weekDays.indexOf(name));
    if (first < 0 || last < 0) continue;
    for (let day = first; days.add(day) && day !== last; ) day = (day + 1) % weekDays.length;
  }
  return days;
}

/** Returns the shortest notation for a set of days, such as 0, 1, 2, 3, 4, 6 → `'mon-fri,sun'`, or undefined if the set is empty. */
export function writeDays(days: ReadonlySet<number>): string | undefined {
  const parts: string[] = [];
  for (let first = 0; first < weekDays.length; first++) {
    if (!days.has(first)) continue;
    let last = first;
    while (days.has(last + 1)) last++;
    const [from, to] = [weekDays[first]!, weekDays[last]!];
    parts.push(last === first ? from : last === first + 1 ? `${from},${to}` : `${from}-${to}`);
    first = last;
  }
  return parts.length === 0 ? undefined : parts.join(',');
}

/** Parses a time: `'06:30'` → 390. Returns undefined for any other string. */
export function readTime(text: unknown): number | undefined {
  const [, hours, minutes, seconds = '0'] = /^(\d\d):(\d\d)(?::(\d\d))?$/.exec(String(text)) ?? [];
  return hours === undefined ? undefined : Number(hours) * 60 + Number(minutes) + Number(seconds) / 60;
}

/** Formats minutes as a time: 390 → `'06:30'`. */
export function writeTime(minutes: number): string {
  const whole = Math.floor(minutes);
  const seconds = Math.round((minutes - whole) * 60);
  const two = (number: number) => String(number).padStart(2, '0');
  return `${two(Math.floor(whole / 60))}:${two(whole % 60)}${seconds === 0 ? '' : `:${two(seconds)}`}`;
}

/**
 * Returns the bars of an entry on the given days, in two parts if a bar extends past midnight. A bar that begins on Sunday ends on Monday
 * of the same week.
 */
export function barsOf(days: Iterable<number>, from: number, to: number): readonly Bar[] {
  const end = to > from ? to : to + dayMinutes;
  return [...days].flatMap((day) =>
    [
      { day, from, to: Math.min(end, dayMinutes) },
      { day: (day + 1) % weekDays.length, from: 0, to: end - dayMinutes, begins: day },
    ].filter((bar) => bar.to > bar.from),
  );
}

/** Returns the position of a moment in a week: the day, counted from Monday, and the minutes since midnight. */
export function placeOf(
  timeMs: number,
  zone: string,
): { readonly day: number; readonly at: number; readonly date: string } {
  const local = localTime(timeMs, zone);
  const date = local.toISOString().slice(0, 10);
  return { day: (local.getUTCDay() + 6) % 7, at: local.getUTCHours() * 60 + local.getUTCMinutes(), date };
}

/**
 * Describes the next change of a schedule entry in words: `open until 18:00 today`, `closed until Mon 06:30`, `fires at 12:00 tomorrow`.
 * Returns an empty string if nothing will change.
 */
export function nextText({ bars, open, next }: ScheduleEntry, zone: string, nowMs: number): string {
  const [first] = next;
  if (bars === undefined)
    return first === undefined
      ? t('does not fire in the next week')
      : t('fires {1}', momentText(Date.parse(first.time), zone, nowMs));
  const isOpen = open ?? (first === undefined ? false : first.open === false);
  if (first === undefined) return t(isOpen ? 'open' : 'closed');
  const text = isOpen ? 'open until {1}' : 'closed until {1}';
  return t(text, momentText(Date.parse(first.time), zone, nowMs));
}

/** Formats a moment in a time zone relative to today: `18:00 today`, `06:00 tomorrow`, `Mon 06:00`. */
export function momentText(timeMs: number, zone: string, nowMs: number): string {
  const [there, now] = [localTime(timeMs, zone), localTime(nowMs, zone)];
  const time = there.toISOString().slice(11, there.getUTCSeconds() === 0 ? 16 : 19);
  const days = Math.floor(there.getTime() / 86_400_000) - Math.floor(now.getTime() / 86_400_000);
  if (days === 0) return t('{1} today', time);
  if (days === 1) return t('{1} tomorrow', time);
  return `${dayNames[(there.getUTCDay() + 6) % 7]} ${time}`;
}
