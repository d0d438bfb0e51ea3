// Decimal numbers as bytes: reading gives what `Number` gives, and writing what `String` gives, or both give up.

import test from 'ava';
import fc from 'fast-check';
import {
  hasLeadingZero,
  maxDecimalBytes,
  readDecimal,
  writeDecimal,
} from '../../../../../lib/connections/rest-api/sockets/plain/decimal.ts';
import { readNumber } from '../../../../../lib/model/value.ts';

function read(text: string): number | undefined {
  const bytes = Buffer.from(`1${text}1`); // the bytes around the range must not count
  return readDecimal(bytes, 1, bytes.length - 1);
}

function write(number: number): string | undefined {
  const bytes = Buffer.alloc(maxDecimalBytes + 1, 'x');
  const end = writeDecimal(bytes, 1, number);
  return end === 0 ? undefined : bytes.toString('latin1', 1, end);
}

const decimals: [text: string, number: number | undefined][] = [
  ['0', 0],
  ['-0', -0],
  ['0.123', 0.123],
  ['-12.50', -12.5],
  ['007', 7],
  ['999999999999999', 999999999999999],
  ['-99999999.9999999', -99999999.9999999],
  ['0.00000000000001', 1e-14],
  ['1000000000000000', undefined],
  ['0.000000000000001', undefined],
  ['9007199254740993', undefined],
  ['', undefined],
  ['-', undefined],
  ['.', undefined],
  ['.5', undefined],
  ['-.5', undefined],
  ['5.', undefined],
  ['+5', undefined],
  ['1.2.3', undefined],
  ['1-2', undefined],
  ['1e3', undefined],
  [' 5', undefined],
  ['0x10', undefined],
  ['٣', undefined],
];
for (const [text, number] of decimals)
  test(`D-02: "${text}" is read as ${Object.is(number, -0) ? '-0' : number}`, (t) => {
    t.is(read(text), number);
  });

const numberLike = fc.oneof(
  fc.stringMatching(/^-?[0-9]{1,18}(\.[0-9]{1,18})?$/),
  fc.stringMatching(/^[-+.e0-9 ]{0,20}$/),
  fc.double().map(String),
);

test('D-02: any text is read as its exact number', (t) => {
  let readable = 0;
  fc.assert(
    fc.property(numberLike, (text) => {
      const number = read(text);
      if (number === undefined) return true;
      readable++;
      return Object.is(number, readNumber(text)) && hasLeadingZero(Buffer.from(text), 0) !== isJson(text);
    }),
    { numRuns: 10_000 },
  );
  t.true(readable > 1000);
});

const written: [number: number, text: string | undefined][] = [
  [0, '0'],
  [-0, '0'],
  [1, '1'],
  [0.123, '0.123'],
  [-0.000001, '-0.000001'],
  [1e-7, undefined],
  [2147.483647, '2147.483647'],
  [-2147.483647, '-2147.483647'],
  [2147483647, '2147483647'],
  [-2147483647, '-2147483647'],
  [2147483648, undefined],
  [214748364.8, undefined],
  [0.1 + 0.2, undefined],
  [1e21, undefined],
  [Number.MAX_VALUE, undefined],
  [Number.MIN_VALUE, undefined],
  [Number.NaN, undefined],
  [Number.POSITIVE_INFINITY, undefined],
];
for (const [number, text] of written)
  test(`D-02: ${Object.is(number, -0) ? '-0' : number} is written as ${text}`, (t) => {
    t.is(write(number), text);
  });

test('D-02: any number is written in its shortest form, and short numbers are written', (t) => {
  const short = fc.tuple(fc.integer(), fc.nat(6)).map(([digits, decimals]) => digits / 10 ** decimals);
  let count = 0;
  fc.assert(
    fc.property(fc.oneof(short, fc.double(), fc.float()), (number) => {
      const text = write(number);
      if (text !== undefined) count++;
      return text === undefined || text === String(number);
    }),
    { numRuns: 10_000 },
  );
  t.true(count > 1000);
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
