// Days of the calendar in texts.

/** `2026-02-28` is one. `2026-02-30` is none, though `Date.parse` takes it for 2 March. */
export function isCalendarDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
