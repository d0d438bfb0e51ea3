// Numbers as people read them: rounded as they are written, ties away from zero, grouped. Expressions and dashboards share this.

const mostDigits = 15;

/**
 * Rounds to digits after the point, −15 to 15 of them, as the number is written: 1.005 is 1.01, as people expect of two digits. Ties
 * go away from zero: −2.5 is −3. Never −0.
 */
export function roundTo(number: number, digits: number): number {
  const places = placesOf(digits, -mostDigits);
  if (!Number.isFinite(number)) return number;
  if (places === 0) return Math.sign(number) * Math.round(Math.abs(number)) + 0;
  return Number(`${number < 0 ? '-' : ''}${wholeDigits(number, places)}e${-places}`) + 0;
}

/** Rounds to so many digits from the first that is not 0, 1 at least, in the same way: 1234.565 with six of them is 1234.57. */
export function roundToSignificant(number: number, count: number): number {
  if (!Number.isFinite(number) || number === 0) return number + 0;
  const [, exponent] = number.toExponential().split('e');
  const places = count - 1 - Number(exponent);
  const rounded = Number(`${number < 0 ? '-' : ''}${wholeDigits(number, places)}e${-places}`);
  return Number.isFinite(rounded) ? rounded : number; // there is no larger one
}

/** The number rounded by `roundTo`, with exactly so many digits after the point, 0 to 15: `-0.04` with one is `0.0`. */
export function fixedText(number: number, digits: number): string {
  const places = placesOf(digits, 0);
  if (!(Math.abs(number) < 1e21)) return String(number); // so does `toFixed`
  const whole = wholeDigits(number, places).padStart(places + 1, '0');
  const point = whole.length - places;
  const text = places === 0 ? whole : `${whole.slice(0, point)}.${whole.slice(point)}`;
  return number < 0 && /[1-9]/.test(whole) ? `-${text}` : text;
}

/** Groups the digits of a whole number: `20,000`. Locales know that as well, but to load them takes the start of a process some 20 ms. */
export function groupDigits(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

function placesOf(digits: number, fewest: number): number {
  return Math.min(mostDigits, Math.max(fewest, Math.trunc(digits) || 0));
}

/** The digits of |number| × 10^places, rounded to a whole number. They are those of the shortest text that reads back. */
function wholeDigits(number: number, places: number): string {
  const [mantissa, exponent] = Math.abs(number).toExponential().split('e') as [string, string];
  const digits = mantissa.replace('.', '');
  const kept = Number(exponent) + 1 + places;
  if (kept >= digits.length) return digits.padEnd(kept, '0');
  if (kept < 0) return '0';
  const isUp = digits[kept]! >= '5';
  return String(BigInt(digits.slice(0, kept)) + (isUp ? 1n : 0n));
}
