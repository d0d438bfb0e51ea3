// Times, sizes and values as people read them.

import { createSignal } from 'solid-js';
import type { Value } from '../../client/index.ts';
import { fixedText, roundToSignificant } from '../../model/digits.ts';
import { useInterval } from './page-timers.ts';

/** Tells the time in milliseconds since 1970, each second anew, for the scope that calls it. */
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

/** `4 s`, `12 min`, `3 h`, `8 d`. It rounds down, and is never less than 0 s. */
export function formatSpan(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000) || 0);
  const [unit, length] = spans.find(([, length]) => seconds >= length) ?? ['s', 1];
  return `${Math.floor(seconds / length)} ${unit}`;
}

/** What stands for a time that is none: one bad time of many is not to take the others along. */
const noTime = '–';
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const calendar = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const days = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full' });

/** `14:03:07.250` */
export function formatClock(time: string | number): string {
  const date = new Date(time);
  if (!isTime(date)) return noTime;
  return `${clock.format(date)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

/** `14:03:07.250` of today, `21 Nov, 14:03:07.250` of another day. */
export function formatMoment(time: string | number): string {
  const date = new Date(time);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday || !isTime(date) ? formatClock(time) : `${day.format(date)}, ${formatClock(time)}`;
}

/** `14:03:07` of the day that `now` is in, `21 Nov, 14:03:07` of another one. */
export function formatSince(time: number, now: number): string {
  const date = new Date(time);
  if (!isTime(date)) return noTime;
  const isToday = date.toDateString() === new Date(now).toDateString();
  return isToday ? clock.format(date) : `${day.format(date)}, ${clock.format(date)}`;
}

/** `21 Nov 2026, 14:03:07` */
export function formatDate(time: string | number): string {
  const date = new Date(time);
  return isTime(date) ? calendar.format(date) : noTime;
}

/** `Sunday 22 November 2026` */
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

/** `512 B`, `1.2 kB`, `340 MB` */
export function formatBytes(bytes: number): string {
  const found = sizes.find(([, size]) => bytes >= size);
  if (!found) return `${Math.round(bytes)} B`;
  const amount = bytes / found[1];
  return `${amount < 10 ? fixedText(amount, 1) : Math.round(amount)} ${found[0]}`;
}

const counts = new Intl.NumberFormat('en-GB');

/** `100,000` */
export function formatCount(count: number): string {
  return counts.format(count);
}

const longestText = 300;

/** As much of a text as people read at a glance; no character is cut in two. */
export function beginningOf(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText)}…`.toWellFormed() : text;
}

/** Shows a value in one line: seven digits of a float, and the beginning of a text. */
export function formatValue(value: Value | null | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return beginningOf(value);
  if (typeof value !== 'number' || Number.isInteger(value)) return String(value);
  return String(roundToSignificant(value, 7));
}
