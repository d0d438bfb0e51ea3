// How a dashboard shows values: the decimals of numbers, when a lamp is lit, and the tone of a number.

import type { Value } from '../../client/index.ts';
import type { Tone } from '../../dashboard/format.ts';
import { fixedText, roundTo } from '../../model/digits.ts';

/** The default maximum of decimals. */
const mostDigits = 3;

/** Returns `-3.5`, `12.00`, formatted as by `fixed` in expressions. Without `digits` a number has at most three decimals; an unknown value is a dash. */
export function showValue(value: Value | undefined, digits?: number): string {
  if (value === undefined) return '–';
  if (typeof value !== 'number') return String(value);
  return digits === undefined ? String(roundTo(value, mostDigits)) : fixedText(value, digits);
}

/** Whether a lamp is lit: at the value `equals`, or else at values that D-02 converts to true. */
export function isLit(value: Value | undefined, equals?: Value): boolean {
  if (value === undefined) return false;
  if (equals !== undefined) return String(value) === String(equals);
  if (typeof value === 'string') return value === '1' || value.toLowerCase() === 'true';
  return Number(value) > 0;
}

/** Returns the tone of the highest zone that a number has reached. */
export function toneAt(zones: readonly { from: number; tone: Tone }[], value: Value | undefined): Tone | undefined {
  if (typeof value !== 'number') return undefined;
  let reached: { from: number; tone: Tone } | undefined;
  for (const zone of zones) if (value >= zone.from && zone.from >= (reached?.from ?? -Infinity)) reached = zone;
  return reached?.tone;
}

/** Returns the position of a value within a range, 0..1. */
export function shareOf(value: Value | undefined, min: number, max: number): number {
  const share = (Number(value ?? min) - min) / (max - min);
  return Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0;
}
