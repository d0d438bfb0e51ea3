// What people type for a number, and what the page writes. Or it says what is wrong, and writes nothing.

import test from 'ava';
import fc from 'fast-check';
import { readTypedNumber } from '../../../../lib/console/parameters/edit/typed-number.ts';

const meant: [typed: string, value: number][] = [
  ['-12.5', -12.5],
  ['-12,5', -12.5],
  ['−12,5', -12.5],
  ['–3', -3],
  ['.5', 0.5],
  [',5', 0.5],
  ['-.5', -0.5],
  ['5.', 5],
  ['1e3', 1000],
  ['1E-3', 0.001],
  ['1,5e3', 1500],
  ['+7', 7],
  [' 12 ', 12],
  ['007', 7],
  ['0,125', 0.125],
  ['1234,567', 1234.567],
  ['12,50', 12.5],
  ['1.000', 1],
  ['-0', 0],
  ['0e5', 0],
];

test('a float is written as it was intended', (t) => {
  for (const [typed, value] of meant) t.deepEqual(readTypedNumber(typed, false), { value }, typed);
});

const refused: [typed: string, isInteger: boolean, mistake: RegExp][] = [
  ['', false, /^Expected a number, got nothing\.$/],
  ['  ', true, /got nothing/],
  ['1,000', false, /^"1,000" may mean 1000 or 1\.000: type one of these instead\.$/],
  ['-12,500', false, /may mean -12500 or -12\.500/],
  ['1,000,000', false, /without thousands separators/],
  ['1.000,5', false, /without thousands separators/],
  ["1'000", true, /without thousands separators/],
  ['1 000', true, /without thousands separators/],
  ['abc', false, /^Expected a number such as -12\.5, got "abc"\.$/],
  ['NaN', false, /Expected a number such as/],
  ['Infinity', false, /Expected a number such as/],
  ['0x10', true, /Expected a number such as/],
  ['--5', false, /Expected a number such as/],
  ['1-2', false, /Expected a number such as/],
  ['-', false, /Expected a number such as/],
  ['.', false, /Expected a number such as/],
  ['5 dB', false, /got "5 dB"/],
  ['1e999', false, /from -1\.8e308 to 1\.8e308/],
  ['1e-999', false, /Expected 0 or a number of at least ±5e-324/],
  ['12.5', true, /^Expected a whole number, got "12\.5"\.$/],
  ['12,5', true, /^Expected a whole number/],
  ['9007199254740993', true, /from -9007199254740991 to 9007199254740991/],
  ['x'.repeat(5000), false, /got "x{40}…"/],
];

test('an invalid or ambiguous number is refused with a sentence', (t) => {
  for (const [typed, isInteger, mistake] of refused) {
    const answer = readTypedNumber(typed, isInteger);
    t.regex('mistake' in answer ? answer.mistake : `written: ${answer.value}`, mistake, typed);
  }
});

test('an integer may be typed with an exponent, or with a point and zeros', (t) => {
  t.deepEqual(readTypedNumber('1e3', true), { value: 1000 });
  t.deepEqual(readTypedNumber('12.0', true), { value: 12 });
  t.deepEqual(readTypedNumber('-9007199254740991', true), { value: Number.MIN_SAFE_INTEGER });
});

test('every number is read back from its text, also with a comma', (t) => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      t.deepEqual(readTypedNumber(String(value), false), { value: value + 0 });
      const typed = readTypedNumber(String(value).replace('.', ','), false);
      if ('value' in typed) t.is(typed.value, value + 0);
      else t.regex(typed.mistake, /may mean/);
    }),
  );
});
