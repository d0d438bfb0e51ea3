// Reads and writes decimal numbers as bytes, without an intermediate string. Nearly all numbers on a socket are decimal. If the result
// would differ from that of `Number` or `String`, both functions return no result, and the caller uses `Number` or `String`.

/**
 * The maximum number of digits that are read. A number with so few digits is an integer below 2^53, divided by a power of ten below 10^22,
 * and this division rounds only once.
 */
const maxReadDigits = 15;
/** The maximum number of decimals that are written. `String` never writes a number with so few decimals with an exponent. */
const maxWrittenDecimals = 6;
const maxWritten = 2 ** 31 - 1;
const powersOfTen = Array.from({ length: maxReadDigits }, (_, exponent) => 10 ** exponent);
const minus = 0x2d;
const point = 0x2e;
const zero = 0x30;

/** The maximum number of bytes that `writeDecimal` writes. */
export const maxDecimalBytes = 12;

/**
 * Parses the bytes from `from` to `to` as a decimal number, such as `-12.5`. Returns undefined if the bytes have another form (`1e3`, `.5`,
 * `5.`, `+5`) or too many digits.
 */
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

/** Returns whether the number at `from` begins with a zero that JSON forbids, as in `007`. */
export function hasLeadingZero(bytes: Uint8Array, from: number): boolean {
  const at = bytes[from] === minus ? from + 1 : from;
  return bytes[at] === zero && isDigit(bytes[at + 1]!);
}

/**
 * Writes a number at `from` in the same form as `String`, and returns the offset of its end. Returns 0 if the number has more than six
 * decimals or more than about nine digits.
 */
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
