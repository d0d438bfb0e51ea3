// Parses percent-encoded paths.
import { z } from 'zod';
import { describe, HubError } from '../../../model/error.ts';
import { printable } from '../../../model/printable.ts';
import { readLongDurationMs } from '../../../model/time/duration.ts';
import { lastTimeMs, readIsoTime } from '../../../model/time/iso-time.ts';

/** Decodes a percent-encoded path. Errors: `bad-address`. */
export function decodePath(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    throw new HubError('bad-address', `expected a percent-encoded UTF-8 path, got "${path}"`);
  }
}

/** The prefix of a path that ends with the name of a flow file. */
const source = '/hub/source/';

/**
 * Returns a path in the form shown to people in messages: decoded if possible; for the source of a flow file, only the name of the file.
 */
export function shownPath(url: string): string {
  let path = url;
  try {
    path = decodePath(url);
  } catch {} // shown as received
  path = printable(path);
  return path.startsWith(source) ? path.slice(source.length) : path;
}

// Parses query parameters that are times or counts.

/**
 * Parses the parameter `name` of a query as milliseconds since 1970: `2026-11-22T03:00Z`, `1795316400000`, or relative to now, `-1h`,
 * `-1y`. Without a zone, the time is in the hub's time zone. Errors: `bad-request`.
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

/** Returns the schema for a count up to a bound. */
export function countUpTo(most: number): z.ZodInt {
  const error = `an integer 1..${most}`;
  return z.int({ error }).min(1, { error }).max(most, { error });
}
