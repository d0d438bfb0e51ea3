// Local times as users read and type them.

import { locale } from '../../language/language.ts';
import { dayMs, minuteMs } from './timeframe.ts';

const withSeconds = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' });
const withoutSeconds = new Intl.DateTimeFormat(locale, { timeStyle: 'short' });
const day = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' });

/** Returns the label for a grid line on a time axis: `03:04:10`, `03:04`, or `22 Nov` where a day starts. */
export function axisText(time: number, spanMs: number, incrementMs: number): string {
  const date = new Date(time);
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0 && date.getSeconds() === 0;
  if (incrementMs >= dayMs || (isMidnight && spanMs > dayMs / 4)) return day.format(date);
  return (incrementMs < minuteMs ? withSeconds : withoutSeconds).format(date);
}

/** Returns a time in the form that users type: `2026-11-22 03:04:10`. */
export function fieldText(time: number): string {
  const { year, month, date, hours, minutes, seconds } = partsOf(time);
  return `${year}-${pad(month)}-${pad(date)} ${pad(hours)}:${pad(minutes)}:${pad(seconds)}`;
}

const typed = /^(?:(\d{4})-(\d{1,2})-(\d{1,2})[ T]+)?(\d{1,2}):(\d{2})(?::(\d{2}))?$/;

/** Parses a typed date and time, or a time alone, which means its most recent occurrence. Returns undefined for any other string. */
export function readField(text: string, now: number): number | undefined {
  const match = typed.exec(text.trim());
  if (!match) return undefined;
  const [year, month, date, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0));
  if (hours! > 23 || minutes! > 59 || seconds! > 59) return undefined;
  const clock = [hours!, minutes!, seconds!] as const;
  if (match[1] !== undefined) {
    const time = new Date(year!, month! - 1, date, ...clock);
    return time.getMonth() === month! - 1 ? time.getTime() : undefined; // rejects 31 April
  }
  const today = partsOf(now);
  const time = new Date(today.year, today.month - 1, today.date, ...clock).getTime();
  return time <= now ? time : new Date(today.year, today.month - 1, today.date - 1, ...clock).getTime();
}

function partsOf(time: number) {
  const at = new Date(time);
  return {
    year: at.getFullYear(),
    month: at.getMonth() + 1,
    date: at.getDate(),
    hours: at.getHours(),
    minutes: at.getMinutes(),
    seconds: at.getSeconds(),
  };
}

function pad(number: number): string {
  return String(number).padStart(2, '0');
}

const date = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });

/** Formats a time as `22 Nov, 03:04`, or as `22 Nov, 03:04:10` unless the seconds are 0. */
export function momentText(time: number): string {
  const text = date.format(time);
  return time % minuteMs === 0 ? text : `${text}:${pad(new Date(time).getSeconds())}`;
}
