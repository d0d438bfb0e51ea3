// Conditions and expressions of rules (D-21).

import test from 'ava';
import { compileExpression, freeNames, isLanguageName } from '../../lib/expression/expression.ts';
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
  test(`${expression} is ${expected}`, (t) => t.is(compileExpression(expression, variables).evaluate(scope), expected));

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
  t.true(compileExpression('value > 1', variables, 'B').evaluate(scope));
  t.throws(() => compileExpression('value', variables, 'B'), { message: /expected bool/ });
});

test('a name of unknown type is checked when it runs', (t) => {
  const { evaluate: double } = compileExpression('x * 2', { x: undefined });
  t.is(double({ x: 4 }), 8);
  t.throws(() => double({ x: 'a' }));
});

test('a result has to fit the type that is expected', (t) => {
  for (const [expression, type, message] of [
    ['value', 'B', /its result is double, expected bool/],
    ['value', 'T', /its result is double, expected bool/],
    ['flag', 'F', /its result is bool, expected a number/],
    ['value', 'S', /its result is double, expected string/],
  ] as const)
    t.throws(() => compileExpression(expression, variables, type), { message });
  t.is(compileExpression('size(text)', variables, 'I').evaluate(scope), 3);
});

const reads = test.macro((t, text: string, names: string[]) => t.deepEqual(freeNames(text), names));

test('names: each once, in order', reads, 'b + a > b ? min(a, c) : -a', ['b', 'a', 'c']);
test('names: not in texts, nor names of functions', reads, '"a b" + size(c)', ['c']);
test('names: not the item of a list, but what it is held against', reads, '[a, 2.0].exists(x, x > level)', [
  'a',
  'level',
]);
test('names: not what is bound, but outside of it', reads, 'cel.bind(x, y * 2, x + x) + x', ['cel', 'y', 'x']);
test('names: methods are no names', reads, 'text.substring(0, 2)', ['text']);

test('names of the language', (t) => {
  t.true(isLanguageName('double'));
  t.false(isLanguageName('mic1'));
});

test('bad syntax is a mistake', (t) => {
  t.throws(() => freeNames('a +'), { code: 'bad-flow', message: /expected an expression, got "a \+"/ });
});
