import test from 'ava';
import fc from 'fast-check';
import { fixedText, groupDigits, numberWithin, roundTo, roundToSignificant } from '../../lib/model/digits.ts';

test('the numbers within bounds are named, also if a bound is missing', (t) => {
  t.is(numberWithin(0, 10), 'a number from 0 to 10');
  t.is(numberWithin(-1.5, undefined), 'a number of at least -1.5');
  t.is(numberWithin(undefined, 10), 'a number of at most 10');
  t.is(numberWithin(undefined, undefined), 'a number');
});

test('digits are grouped as in English', (t) => {
  t.is(groupDigits(20_000), '20,000');
  fc.assert(fc.property(fc.maxSafeInteger(), (count) => t.is(groupDigits(count), count.toLocaleString('en'))));
});

const rounded: [number: number, digits: number, rounded: number, text: string][] = [
  [2.5, 0, 3, '3'],
  [-2.5, 0, -3, '-3'],
  [-0.5, 0, -1, '-1'],
  [0.49999999999999994, 0, 0, '0'],
  [1.005, 2, 1.01, '1.01'],
  [-1.005, 2, -1.01, '-1.01'],
  [-0.04, 1, 0, '0.0'],
  [-0.05, 1, -0.1, '-0.1'],
  [-0, 1, 0, '0.0'],
  [999.95, 1, 1000, '1000.0'],
  [0.1 + 0.2, 1, 0.3, '0.3'],
  [9.012345678901234, 15, 9.012345678901234, '9.012345678901234'],
  [123456789.123, 15, 123456789.123, '123456789.123000000000000'],
  [5e-324, 15, 0, '0.000000000000000'],
  [1e20, 2, 1e20, '100000000000000000000.00'],
  [1e21, 2, 1e21, '1e+21'],
  [Number.POSITIVE_INFINITY, 2, Number.POSITIVE_INFINITY, 'Infinity'],
  [Number.NaN, 2, Number.NaN, 'NaN'],
];
for (const [number, digits, expected, text] of rounded)
  test(`${Object.is(number, -0) ? '-0' : number} with ${digits} digits is ${text}`, (t) => {
    t.is(roundTo(number, digits), expected);
    t.is(fixedText(number, digits), text);
  });

test('a number is rounded before the point, too', (t) => {
  t.is(roundTo(1250, -2), 1300);
  t.is(roundTo(-1250, -2), -1300);
  t.is(roundTo(4, -1), 0);
});

test('a number is rounded to digits from its first one, however large or small it is', (t) => {
  const rows: [number: number, count: number, expected: number][] = [
    [1234.565, 6, 1234.57],
    [-1234.565, 6, -1234.57],
    [1.0000005, 7, 1.000001],
    [0.1 + 0.2, 7, 0.3],
    [999.9995, 6, 1000],
    [1.5e-20, 1, 2e-20],
    [5e-324, 3, 5e-324],
    [1.25e300, 2, 1.3e300],
    [-0, 3, 0],
    [0, 3, 0],
    [Number.MAX_VALUE, 2, Number.MAX_VALUE],
    [Number.NEGATIVE_INFINITY, 3, Number.NEGATIVE_INFINITY],
  ];
  for (const [number, count, expected] of rows) t.is(roundToSignificant(number, count), expected, String(number));
  const numbers = fc.double({ noNaN: true, noDefaultInfinity: true, min: 1e-300, max: 1e300 });
  fc.assert(
    fc.property(numbers, fc.integer({ min: 1, max: 15 }), (number, count) => {
      const result = roundToSignificant(number, count);
      t.is(roundToSignificant(-number, count), -result + 0);
      t.true(Math.abs(result - Number(number.toPrecision(count))) <= Math.abs(number) * 10 ** (1 - count));
    }),
  );
});

test('a number and its negative are rounded alike, and the text reads back as the rounded number', (t) => {
  const numbers = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e20, max: 1e20 });
  fc.assert(
    fc.property(numbers, fc.integer({ min: 0, max: 15 }), (number, digits) => {
      const result = roundTo(number, digits);
      t.is(roundTo(-number, digits), -result + 0);
      t.is(Number(fixedText(number, digits)), result);
      t.true(Math.abs(result - number) <= 0.5 * 10 ** -digits + Math.abs(number) * 1e-15);
    }),
  );
});
