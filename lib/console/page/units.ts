// Formats times, sizes and values for people.

import { createSignal } from 'solid-js';
import type { Value } from '../../client/index.ts';
import { fixedText, roundToSignificant } from '../../model/digits.ts';
import { locale, localNumber, said } from '../language/language.ts';
import { useInterval } from './page-timers.ts';

/** Returns the time in milliseconds since 1970, updated every second until the calling reactive scope is disposed. */
export function useNow(): () => number {
  const [now, setNow] = createSignal(Date.now());
  useInterval(() => setNow(Date.now()), 1000);
  return now;
}

const spans = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
] as const;

/** Formats a time span as `4 s`, `12 min`, `3 h` or `8 d`, rounded down and never less than 0 s. */
export function formatSpan(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000) || 0);
  const [unit, length] = spans.find(([, length]) => seconds >= length) ?? ['s', 1];
  return `${Math.floor(seconds / length)} ${said(unit)}`;
}

/** The text for an invalid time, so that a single invalid time does not break the whole view. */
const noTime = '–';
const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' });
const calendar = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' });
const day = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' });
const days = new Intl.DateTimeFormat(locale, { dateStyle: 'full' });

/** Formats the time of day in the browser's time zone: `14:03:07.250`. */
export function formatClock(time: string | number): string {
  const date = new Date(time);
  if (!isTime(date)) return noTime;
  return `${clock.format(date)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

/** Formats a time on the current day as `14:03:07.250`, and any other time as `21 Nov, 14:03:07.250`. */
export function formatMoment(time: string | number): string {
  const date = new Date(time);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday || !isTime(date) ? formatClock(time) : `${day.format(date)}, ${formatClock(time)}`;
}

/** Formats a time on the same day as `now` as `14:03:07`, and any other time as `21 Nov, 14:03:07`. */
export function formatSince(time: number, now: number): string {
  const date = new Date(time);
  if (!isTime(date)) return noTime;
  const isToday = date.toDateString() === new Date(now).toDateString();
  return isToday ? clock.format(date) : `${day.format(date)}, ${clock.format(date)}`;
}

/** Formats a date and time as `21 Nov 2026, 14:03:07`. */
export function formatDate(time: string | number): string {
  const date = new Date(time);
  return isTime(date) ? calendar.format(date) : noTime;
}

/** Formats a day as `Sunday 22 November 2026`. */
export function formatDay(time: string | number): string {
  const date = new Date(time);
  return isTime(date) ? days.format(date) : noTime;
}

function isTime(date: Date): boolean {
  return !Number.isNaN(date.getTime());
}

const sizes = [
  ['GB', 1e9],
  ['MB', 1e6],
  ['kB', 1e3],
] as const;

/** Formats a size as `512 B`, `1.2 kB` or `340 MB`. */
export function formatBytes(bytes: number): string {
  const found = sizes.find(([, size]) => bytes >= size);
  if (!found) return `${Math.round(bytes)} B`;
  const amount = bytes / found[1];
  return `${amount < 10 ? localNumber(fixedText(amount, 1)) : Math.round(amount)} ${found[0]}`;
}

const longestText = 300;

/** Returns the beginning of a long string, without splitting a character. Returns a short string unchanged. */
export function beginningOf(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText)}…`.toWellFormed() : text;
}

/** Formats a value on one line: a float has at most seven digits, and only the beginning of a long string is shown. */
export function formatValue(value: Value | null | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return beginningOf(value);
  if (typeof value !== 'number' || Number.isInteger(value)) return String(value);
  return localNumber(String(roundToSignificant(value, 7)));
}
