// Times as people read and type them, where they are.

import { dayMs, minuteMs } from './timeframe.ts';

const withSeconds = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const withoutSeconds = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

/** What stands below a line of the grid: `03:04:10`, `03:04`, and where a day begins `22 Nov`. */
export function axisText(time: number, spanMs: number, incrementMs: number): string {
  const date = new Date(time);
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0 && date.getSeconds() === 0;
  if (incrementMs >= dayMs || (isMidnight && spanMs > dayMs / 4)) return day.format(date);
  return (incrementMs < minuteMs ? withSeconds : withoutSeconds).format(date);
}

/** A time as people type it: `2026-11-22 03:04:10`. */
export function fieldText(time: number): string {
  const { year, month, date, hours, minutes, seconds } = partsOf(time);
  return `${year}-${pad(month)}-${pad(date)} ${pad(hours)}:${pad(minutes)}:${pad(seconds)}`;
}

const typed = /^(?:(\d{4})-(\d{1,2})-(\d{1,2})[ T]+)?(\d{1,2}):(\d{2})(?::(\d{2}))?$/;

/** Reads what people type: a date and a time, or a time alone, which is the last one that has been. undefined: it is neither. */
export function readField(text: string, now: number): number | undefined {
  const match = typed.exec(text.trim());
  if (!match) return undefined;
  const [year, month, date, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0));
  if (hours! > 23 || minutes! > 59 || seconds! > 59) return undefined;
  const clock = [hours!, minutes!, seconds!] as const;
  if (match[1] !== undefined) {
    const time = new Date(year!, month! - 1, date, ...clock);
    return time.getMonth() === month! - 1 ? time.getTime() : undefined; // no 31 April
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

const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });

/** `22 Nov, 03:04`, and `22 Nov, 03:04:10` where seconds count. */
export function momentText(time: number): string {
  const text = date.format(time);
  return time % minuteMs === 0 ? text : `${text}:${pad(new Date(time).getSeconds())}`;
}
