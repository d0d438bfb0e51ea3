// Conditions and expressions of rules (design.md section 2).

import test from 'ava';
import { compileExpression } from '../../lib/expression/expression.ts';
import type { Value, ValueType } from '../../lib/model/value.ts';

const variables: Record<string, ValueType> = { value: 'F', flag: 'B', text: 'S' };
const scope = { value: 3.5, flag: true, text: '5,6' };

const results: [string, Value][] = [
  ['value * 2', 7],
  ['2 * value', 7],
  ['value + 1', 4.5],
  ['7 / 2', 3.5],
  ['value % 2', 1.5],
  ['-value', -3.5],
  ['value == 3', false],
  ['value in [1, 2, 3.5]', true],
  ['value > 0.5 && flag', true],
  ['!flag', false],
  ['flag ? 1 : 0.5', 1],
  ['flag ? "on" : "off"', 'on'],
  ['30000', 30_000],
  ['text + "!"', '5,6!'],
  ['text.size()', 3],
  ['text.size() == 3', true],
  ['text.size() + 1', 4],
  ['text.substring(0, 1)', '5'],
  ['text.split(",")[1]', '6'],
  ['double(text.split(",")[1]) + 1', 7],
  ['string(value)', '3.5'],
  ['min(value, 2)', 2],
  ['max(1, value)', 3.5],
  ['round(value)', 4],
  ['floor(7 / 2)', 3],
  ['abs(-5)', 5],
  ['[1, 2].exists(x, x > 1)', true],
];

for (const [expression, expected] of results)
  test(`${expression} is ${expected}`, (t) => t.is(compileExpression(expression, variables)(scope), expected));

const refused: [string, RegExp][] = [
  ['value +', /Unexpected token/],
  ['nope + 1', /Unknown variable: nope/],
  ['text + 1', /string \+/],
  ['!value', /!double/],
  ['flag + 1', /bool \+/],
  ['null', /result is null/],
  ['[value]', /result is list/],
  ['x'.repeat(20_000), /./],
  [`${'('.repeat(60)}1${')'.repeat(60)}`, /depth/i],
  [Array(2000).fill('1').join('+'), /./],
];

for (const [expression, message] of refused)
  test(`${expression.slice(0, 20)} is refused at load`, (t) => {
    t.like(
      t.throws(() => compileExpression(expression, variables), { message }),
      { code: 'bad-flow' },
    );
  });

test('a condition is a boolean', (t) => {
  t.true(compileExpression('value > 1', variables, 'B')(scope));
  t.throws(() => compileExpression('value', variables, 'B'), { message: /expected bool/ });
});

test('a name of unknown type is checked when it runs', (t) => {
  const double = compileExpression('x * 2', { x: undefined });
  t.is(double({ x: 4 }), 8);
  t.throws(() => double({ x: 'a' }));
});
