// Points in time.

/** A point in time as the hub tells it, ISO 8601 in UTC with milliseconds: `2026-11-22T03:21:44.125Z`. */
export type IsoTime = string;

/** Tells a time of the hub, milliseconds since 1970. */
export function toIsoTime(timeMs: number): IsoTime {
  return new Date(timeMs).toISOString();
}
