// Durations as people write them: milliseconds, or strings such as '500ms', '30s', '1m30s', '2h', '1d'.
import { describe, HubError } from '../error.ts';
import { dayMs } from './iso-time.ts';

const unitMs: Readonly<Record<string, number>> = {
  y: 365 * dayMs,
  d: dayMs,
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
};
/** The pattern of a duration string, such as '1m30s', as a regular expression. */
export const durationPattern = String.raw`^(?:\d+(?:\.\d+)?(?:ms|d|h|m|s))+$`;
const pattern = new RegExp(durationPattern);
const longPattern = /^(?:\d+(?:\.\d+)?(?:ms|y|d|h|m|s))+$/;
const part = /(\d+(?:\.\d+)?)(ms|y|d|h|m|s)/g;

/** The maximum duration in milliseconds, because a platform timer cannot wait longer. */
export const longestDurationMs = 2 ** 31 - 1;

/** The maximum retention time in milliseconds: a thousand years. */
const longestKeptMs = 1000 * unitMs.y!;

/** Reads a duration in milliseconds: `1500` → 1500, `'1m30s'` → 90000. Errors: `not-convertible`, `out-of-range`. */
export function readDurationMs(input: unknown): number {
  const durationMs = typeof input === 'string' ? readText(input) : input;
  if (typeof durationMs !== 'number' || Number.isNaN(durationMs))
    throw new HubError(
      'not-convertible',
      `expected milliseconds or a duration such as '1m30s', got ${describe(input)}`,
    );
  if (durationMs < 0 || durationMs > longestDurationMs)
    throw new HubError('out-of-range', `expected a duration of 0..${longestDurationMs} ms, got ${describe(input)}`);
  return durationMs;
}

/** Parses a duration of any length to milliseconds. Returns undefined if a string is not a duration. */
export function parseDurationMs(input: number | string): number | undefined {
  return typeof input === 'string' ? readText(input) : input;
}

/**
 * Reads a duration that is not used with a timer, in milliseconds: `'90d'`, or `'1y'`, which is 365 days. Returns undefined for any other
 * string, or for more than 1000 years.
 */
export function readLongDurationMs(text: string): number | undefined {
  const durationMs = readText(text, longPattern);
  return durationMs !== undefined && durationMs <= longestKeptMs ? durationMs : undefined;
}

function readText(text: string, shape = pattern): number | undefined {
  if (!shape.test(text)) return undefined;
  let durationMs = 0;
  for (const [, amount, unit] of text.matchAll(part)) durationMs += Number(amount) * unitMs[unit!]!;
  return durationMs;
}

// Counts durations in a histogram.

/** The upper bounds of the buckets, in seconds: 10 µs to 5 s. */
export const durationBounds = [1e-5, 1e-4, 1e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1, 0.25, 1, 5] as const;

export class Durations {
  /** The number of durations in each bucket. The last bucket contains the durations above all bounds. */
  readonly counts: number[] = new Array<number>(durationBounds.length + 1).fill(0);
  /** The sum of all counted durations, in seconds. */
  sum = 0;

  add(seconds: number): void {
    let bucket = 0;
    while (bucket < durationBounds.length && seconds > durationBounds[bucket]!) bucket++;
    this.counts[bucket]!++;
    this.sum += seconds;
  }
}
