// How long timers and pulses take, in milliseconds.

import { describe, HubError } from '../../model/error.ts';
import { longestDurationMs } from '../../model/time/duration.ts';
import { readNumber, type Value } from '../../model/value.ts';

/** Where the settings say nothing (S-15, D-08). */
export const defaultMs = 1000;

/** Reads what starts a timer (D-07): a number, also as text, is the duration in ms; another scalar means its default. */
export function readStartMs(input: unknown, defaultDurationMs: number): Value {
  if (typeof input !== 'number' && typeof input !== 'string' && typeof input !== 'boolean')
    throw new HubError('not-convertible', `expected a duration in ms or any other scalar, got ${describe(input)}`);
  const number = typeof input === 'string' ? readNumber(input) : input;
  if (typeof number !== 'number') return defaultDurationMs;
  if (!(number >= 0 && number < longestDurationMs + 1))
    throw new HubError('out-of-range', `expected a duration of 0..${longestDurationMs} ms, got ${describe(input)}`);
  return Math.trunc(number) + 0;
}
