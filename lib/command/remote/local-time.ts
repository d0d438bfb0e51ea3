// Times as people read them, where they are.

import { isCalendarDay } from '../../model/time/calendar-day.ts';
import type { IsoTime } from '../../wire/time.ts';

const withoutZone = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?)?$/;

/** The time of day where the user is, with the date unless it is today. */
export function localTime(time: IsoTime): string {
  const local = (date: Date) => new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString();
  const [day, clock] = local(new Date(time)).split(/[TZ]/);
  return local(new Date()).startsWith(day!) ? clock! : `${day} ${clock}`;
}

/** A time that was typed without a zone is one where the user is, not where the hub is. Others stay as they are. */
export function withZone(text: string): string {
  if (!withoutZone.test(text) || !isCalendarDay(text.slice(0, 10))) return text;
  const time = new Date(text.includes('T') ? text : `${text}T00:00`);
  return Number.isNaN(time.getTime()) ? text : time.toISOString();
}
