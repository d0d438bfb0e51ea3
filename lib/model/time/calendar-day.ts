// Days of the calendar, in texts and in milliseconds.

/** A day as UTC has it: no clock is shifted in it. */
export const dayMs = 86_400_000;

/** `2026-02-28` is one. `2026-02-30` is none, though `Date.parse` takes it for 2 March. */
export function isCalendarDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
