// Decimal numbers as bytes of text: what nearly all numbers on a socket are, read and written without making a text of them.
// Both give up, and leave it to the slower way, where they would not give exactly what `Number` and `String` give.

/** A number of so many digits is a whole number below 2^53 over a power of ten below 10^22: dividing them rounds once. */
const maxReadDigits = 15;
/** With so few decimals no number is written with an exponent. */
const maxWrittenDecimals = 6;
const maxWritten = 2 ** 31 - 1;
const powersOfTen = Array.from({ length: maxReadDigits }, (_, exponent) => 10 ** exponent);
const minus = 0x2d;
const point = 0x2e;
const zero = 0x30;

/** The most bytes that `writeDecimal` writes. */
export const maxDecimalBytes = 12;

/** Reads all bytes of a range, `-12.5`; undefined for what is written otherwise (`1e3`, `.5`, `5.`, `+5`), and for too long. */
export function readDecimal(bytes: Uint8Array, from: number, to: number): number | undefined {
  const first = bytes[from] === minus ? from + 1 : from;
  if (to - first > maxReadDigits + 1) return undefined;
  let pointAt = to;
  let digits = 0;
  for (let at = first; at < to; at++) {
    const byte = bytes[at]!;
    if (isDigit(byte)) digits = digits * 10 + (byte - zero);
    else if (byte === point && pointAt === to) pointAt = at;
    else return undefined;
  }
  const decimals = pointAt === to ? 0 : to - pointAt - 1;
  const count = to - first - (pointAt === to ? 0 : 1);
  if (count > maxReadDigits || pointAt === first || pointAt === to - 1) return undefined;
  const number = decimals === 0 ? digits : digits / powersOfTen[decimals]!;
  return first > from ? -number : number;
}

/** Whether a number begins as JSON does not allow: `007`. */
export function hasLeadingZero(bytes: Uint8Array, from: number): boolean {
  const at = bytes[from] === minus ? from + 1 : from;
  return bytes[at] === zero && isDigit(bytes[at + 1]!);
}

/** Writes what `String` gives and returns where it ends; 0 when the number has more than some nine digits or six decimals. */
export function writeDecimal(bytes: Uint8Array, from: number, number: number): number {
  const magnitude = Math.abs(number);
  let decimals = 0;
  let scaled = Math.round(magnitude);
  while (scaled / powersOfTen[decimals]! !== magnitude) {
    if (++decimals > maxWrittenDecimals) return 0;
    scaled = Math.round(magnitude * powersOfTen[decimals]!);
  }
  if (scaled > maxWritten) return 0;
  let first = from;
  if (number < 0) bytes[first++] = minus;
  let count = decimals + 1;
  while (scaled >= powersOfTen[count]!) count++;
  const end = first + count + (decimals === 0 ? 0 : 1);
  let rest = scaled | 0;
  for (let at = end - 1; at >= first; at--) {
    if (decimals > 0 && at === end - 1 - decimals) {
      bytes[at] = point;
      continue;
    }
    const tenth = (rest / 10) | 0;
    bytes[at] = zero + rest - tenth * 10;
    rest = tenth;
  }
  return end;
}

function isDigit(byte: number): boolean {
  return byte >= zero && byte <= zero + 9;
}
