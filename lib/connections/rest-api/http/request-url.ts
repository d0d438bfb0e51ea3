// Parses query parameters that are times or counts.

import { z } from 'zod';
import { describe, HubError } from '../../../model/error.ts';
import { readLongDurationMs } from '../../../model/time/duration.ts';
import { lastTimeMs, readIsoTime } from '../../../model/time/iso-time.ts';

/**
 * Parses the parameter `name` of a query as milliseconds since 1970: `2026-11-22T03:00Z`, `1795316400000`, or a time relative to now, such
 * as `-1h` or `-1y`. Without a zone, the time is in the hub's time zone. Errors: `bad-request`.
 */
export function readMoment(name: string, text: string, now: number): number {
  const timeMs = readText(text, now);
  if (timeMs !== undefined && Number.isFinite(timeMs) && Math.abs(timeMs) <= lastTimeMs) return timeMs;
  const expected = 'a time such as 2026-11-22T03:00Z, milliseconds since 1970, or -1h for an hour before now';
  throw new HubError('bad-request', `${name}: expected ${expected}, got ${describe(text)}`);
}

function readText(text: string, now: number): number | undefined {
  if (text.startsWith('-')) {
    const agoMs = readLongDurationMs(text.slice(1));
    return agoMs === undefined ? undefined : now - agoMs;
  }
  if (/^(0|\d{5,16})$/.test(text)) return Number(text); // four digits are more likely a year
  return readIsoTime(text);
}

/** Returns the schema for an integer from 1 up to a bound. */
export function countUpTo(most: number): z.ZodInt {
  const error = `an integer 1..${most}`;
  return z.int({ error }).min(1, { error }).max(most, { error });
}
