// Times as strings. `Date.parse` accepts nearly anything: it parses "Studio 7" as a date in 2001, and 30 February as 2 March.

const shape = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?)?$/;
const wholeShape = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/**
 * Reads a date, with or without a time, seconds and a zone, as milliseconds since 1970: `2026-11-22`, `2026-11-22T03:00+01:00`. Without a
 * zone, the zone of this process applies. Returns undefined for any other string, or if the day or time does not exist.
 */
export function readIsoTime(text: string): number | undefined {
  const [, day, clock = '00:00', zone = ''] = shape.exec(text) ?? [];
  if (day === undefined || !isCalendarDay(day)) return undefined;
  const time = Date.parse(`${day}T${clock}${zone}`);
  return Number.isNaN(time) ? undefined : time;
}

/** Reads a complete RFC 3339 timestamp: `2026-11-22T03:00:00.5+01:00`. Returns undefined for any other string. */
export function readTimestamp(text: string): number | undefined {
  const upper = text.toUpperCase(); // section 5.6: T and Z may be in lower case
  return wholeShape.test(upper) ? readIsoTime(upper) : undefined;
}

// Times, in milliseconds since 1970.

/** The latest time that a `Date` can have. The earliest time is equally long before 1970. */
export const lastTimeMs = 8.64e15;

/** Returns whether a value is a time in whole milliseconds that a `Date` can have. */
export function isTime(at: unknown): at is number {
  return Number.isSafeInteger(at) && Math.abs(at as number) <= lastTimeMs;
}

// Calendar days, as strings and in milliseconds.

/** The length of a UTC day, which has no clock shifts, in milliseconds. */
export const dayMs = 86_400_000;

/** Returns whether a day exists in the calendar: `2026-02-28` exists; `2026-02-30` does not, although `Date.parse` parses it as 2 March. */
function isCalendarDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
