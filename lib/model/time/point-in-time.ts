// Points in time, in milliseconds since 1970.

/** The last one that a date can be, and as long before 1970 the first one. */
export const lastTimeMs = 8.64e15;

/** Whether something is one, in whole milliseconds. */
export function isTime(at: unknown): at is number {
  return Number.isSafeInteger(at) && Math.abs(at as number) <= lastTimeMs;
}
