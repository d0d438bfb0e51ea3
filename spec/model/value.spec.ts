// Conversions (D-02): every row of the decision, and the laws that hold for all values.

import test from 'ava';
import fc from 'fast-check';
import { HubError } from '../../lib/model/error.ts';
import { convert, maxTextLength, toText, type Value, type ValueType, valueTypes } from '../../lib/model/value.ts';
import { processorTimeOf } from '../support/system/machine.ts';

const rows: [ValueType, unknown, Value][] = [
  ['I', 3, 3],
  ['I', 3.99, 3],
  ['I', -3.99, -3],
  ['I', -0.5, 0],
  ['I', '42', 42],
  ['I', ' -42.9 ', -42],
  ['I', '1e3', 1000],
  ['I', '.5', 0],
  ['I', true, 1],
  ['I', false, 0],
  ['I', 2 ** 53 - 1, 2 ** 53 - 1],
  ['I', -(2 ** 53 - 1), -(2 ** 53 - 1)],
  ['F', '0.25', 0.25],
  ['F', '+1.5E-3', 0.0015],
  ['F', '5.', 5],
  ['F', true, 1],
  ['F', -0, 0],
  ['B', 'true', true],
  ['B', 'TRUE', true],
  ['B', '1', true],
  ['B', 'yes', false],
  ['B', '', false],
  ['B', '0', false],
  ['B', 2, true],
  ['B', 0.1, true],
  ['B', 0, false],
  ['B', -1, false],
  ['S', true, 'true'],
  ['S', false, 'false'],
  ['S', 0.1, '0.1'],
  ['S', 1e21, '1e+21'],
  ['S', -5, '-5'],
  ['S', 'Zürich', 'Zürich'],
  ['S', 'lone \ud800 surrogate', 'lone \ufffd surrogate'],
  ['T', false, 1],
  ['T', '', 1],
  ['T', 0, 1],
];

for (const [type, input, expected] of rows)
  test(`D-02: ${type} from ${JSON.stringify(input)} is ${JSON.stringify(expected)}`, (t) => {
    t.is(convert(type, input), expected);
  });

const refused: [ValueType, unknown][] = [
  ['I', 'abc'],
  ['I', ''],
  ['I', '1,5'],
  ['I', '0x10'],
  ['I', '12 apples'],
  ['I', 2 ** 53],
  ['I', '1e300'],
  ['F', 'Infinity'],
  ['F', 'NaN'],
  ['F', '1e400'],
  ['S', 'x'.repeat(maxTextLength + 1)],
  ...valueTypes.flatMap((type) =>
    [Number.NaN, Number.POSITIVE_INFINITY, null, undefined, {}, [], [1]].map((input): [ValueType, unknown] => [
      type,
      input,
    ]),
  ),
];

refused.forEach(([type, input], index) => {
  test(`D-02: ${type} from ${String(JSON.stringify(input)).slice(0, 20)} is refused (${index})`, (t) => {
    const error = t.throws(() => convert(type, input), { instanceOf: HubError });
    t.is(error?.code, 'not-convertible');
    t.regex(error?.message ?? '', /^expected .+, got .+/);
  });
});

const finite = fc.double({ noNaN: true, noDefaultInfinity: true });

test('D-02: the text of a number reads back as the same number', (t) => {
  fc.assert(fc.property(finite, (number) => convert('F', toText(convert('F', number))) === number + 0));
  fc.assert(fc.property(fc.maxSafeInteger(), (number) => convert('I', toText(number)) === number));
  t.pass();
});

test('D-02: converting twice is converting once', (t) => {
  const scalar = fc.oneof(fc.string(), fc.boolean(), finite);
  fc.assert(
    fc.property(scalar, fc.constantFrom(...valueTypes), (input, type) => {
      let once: Value;
      try {
        once = convert(type, input);
      } catch (error) {
        return error instanceof HubError;
      }
      return Object.is(convert(type, once), once);
    }),
  );
  t.pass();
});

test('D-02: text of digits that is not a number is refused immediately, and a long number is accepted', async (t) => {
  const digits = '1'.repeat(65_000);
  const refuse = () => {
    for (const text of [`${digits}x`, `${digits}.${digits}x`, `.${digits}x`, `1e${digits}x`])
      for (const type of ['I', 'F'] as const) t.throws(() => convert(type, text), { code: 'not-convertible' });
  };
  t.true((await processorTimeOf(refuse)) < 500);
  t.is(convert('F', `0.${digits}`), 1 / 9);
});

test('D-02: text is true only as `true` in any case or as `1`', (t) => {
  fc.assert(fc.property(fc.string(), (text) => convert('B', text) === (text === '1' || text.toLowerCase() === 'true')));
  t.pass();
});
