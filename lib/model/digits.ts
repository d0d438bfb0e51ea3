// Formats numbers for display: decimal rounding, with ties away from zero, and grouped digits. Expressions and dashboards share this file.

const mostDigits = 15;

/**
 * Rounds to −15 to 15 decimal places, based on the decimal notation: 1.005 rounded to two places is 1.01. Ties round away from zero: −2.5
 * becomes −3. Never returns −0.
 */
export function roundTo(number: number, digits: number): number {
  const places = placesOf(digits, -mostDigits);
  if (!Number.isFinite(number)) return number;
  if (places === 0) return Math.sign(number) * Math.round(Math.abs(number)) + 0;
  return Number(`${number < 0 ? '-' : ''}${wholeDigits(number, places)}e${-places}`) + 0;
}

/** Rounds like `roundTo`, but to a number of significant digits, which is at least 1: 1234.565 rounded to six digits is 1234.57. */
export function roundToSignificant(number: number, count: number): number {
  if (!Number.isFinite(number) || number === 0) return number + 0;
  const [, exponent] = number.toExponential().split('e');
  const places = count - 1 - Number(exponent);
  const rounded = Number(`${number < 0 ? '-' : ''}${wholeDigits(number, places)}e${-places}`);
  return Number.isFinite(rounded) ? rounded : number; // a larger number does not exist
}

/** Returns the number rounded by `roundTo`, with exactly this many decimal places, from 0 to 15: `-0.04` with one place is `0.0`. */
export function fixedText(number: number, digits: number): string {
  const places = placesOf(digits, 0);
  if (!(Math.abs(number) < 1e21)) return String(number); // as `toFixed` does
  const whole = wholeDigits(number, places).padStart(places + 1, '0');
  const point = whole.length - places;
  const text = places === 0 ? whole : `${whole.slice(0, point)}.${whole.slice(point)}`;
  return number < 0 && /[1-9]/.test(whole) ? `-${text}` : text;
}

/** Groups the digits of an integer: `20,000`. `Intl` can do the same, but loading `Intl` adds about 20 ms to the start of a process. */
export function groupDigits(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** Describes the numbers within bounds: `a number from 0 to 10`, `a number of at least 0`, `a number of at most 10`, `a number`. */
export function numberWithin(min: number | undefined, max: number | undefined): string {
  if (min === undefined) return max === undefined ? 'a number' : `a number of at most ${max}`;
  return max === undefined ? `a number of at least ${min}` : `a number from ${min} to ${max}`;
}

/** Returns a count with its noun: `1 rule`, `20,000 rules`. */
export function counted(count: number, noun: string, nouns = `${noun}s`): string {
  return `${groupDigits(count)} ${count === 1 ? noun : nouns}`;
}

function placesOf(digits: number, fewest: number): number {
  return Math.min(mostDigits, Math.max(fewest, Math.trunc(digits) || 0));
}

/**
 * Returns the digits of |number| × 10^places, rounded to an integer. The rounding is based on the shortest string that parses to the same
 * number.
 */
function wholeDigits(number: number, places: number): string {
  const [mantissa, exponent] = Math.abs(number).toExponential().split('e') as [string, string];
  const digits = mantissa.replace('.', '');
  const kept = Number(exponent) + 1 + places;
  if (kept >= digits.length) return digits.padEnd(kept, '0');
  if (kept < 0) return '0';
  const isUp = digits[kept]! >= '5';
  return String(BigInt(digits.slice(0, kept)) + (isUp ? 1n : 0n));
}

/**
 * Returns the decimal number with the fewest digits that has the same 32-bit float value, which is usually the number that the sender
 * typed.
 */
export function shortestFloat(float: number): number {
  const short = Math.round(float * 1000) / 1000; // most numbers have up to three decimals
  if (Math.fround(short) === float && Math.abs(short) < 1e6) return short;
  for (let digits = 6; digits <= 9; digits++) {
    const shorter = Number(float.toPrecision(digits));
    if (Math.fround(shorter) === float) return shorter;
  }
  return float;
}
