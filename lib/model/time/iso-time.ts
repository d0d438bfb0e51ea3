// Points in time in texts. `Date.parse` takes anything for one: "Studio 7" is in 2001, and 30 February the 2 March.

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

// Points in time, in milliseconds since 1970.

/** The last one that a date can be, and as long before 1970 the first one. */
export const lastTimeMs = 8.64e15;

/** Whether something is one, in whole milliseconds. */
export function isTime(at: unknown): at is number {
  return Number.isSafeInteger(at) && Math.abs(at as number) <= lastTimeMs;
}

// Days of the calendar, in texts and in milliseconds.

/** A day as UTC has it: no clock is shifted in it. */
export const dayMs = 86_400_000;

/** `2026-02-28` is one. `2026-02-30` is none, though `Date.parse` takes it for 2 March. */
function isCalendarDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
