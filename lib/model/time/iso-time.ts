// Points in time in texts. `Date.parse` takes anything for one: "Studio 7" is in 2001, and 30 February the 2 March.

import { isCalendarDay } from './calendar-day.ts';

const shape = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?)?$/;
const wholeShape = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/**
 * Reads a date, with or without a time, seconds and a zone, as milliseconds since 1970: `2026-11-22`, `2026-11-22T03:00+01:00`.
 * Without a zone it is where this process is. undefined: it is none, or there is no such day or time.
 */
export function readIsoTime(text: string): number | undefined {
  const [, day, clock = '00:00', zone = ''] = shape.exec(text) ?? [];
  if (day === undefined || !isCalendarDay(day)) return undefined;
  const time = Date.parse(`${day}T${clock}${zone}`);
  return Number.isNaN(time) ? undefined : time;
}

/** Reads a whole point in time as RFC 3339 has it: `2026-11-22T03:00:00.5+01:00`. undefined: it is none. */
export function readTimestamp(text: string): number | undefined {
  const upper = text.toUpperCase(); // section 5.6: t and z may be small
  return wholeShape.test(upper) ? readIsoTime(upper) : undefined;
}
