// The form of points in time in messages.

/** An ISO 8601 time in UTC with milliseconds: `2026-11-22T03:21:44.125Z`. */
export type IsoTime = string;

/** Formats a time of the hub, in milliseconds since 1970. */
export function toIsoTime(timeMs: number): IsoTime {
  return new Date(timeMs).toISOString();
}
