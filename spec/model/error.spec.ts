// How messages show values: with the beginning of their JSON and their type, however long or deep they are.

import test from 'ava';
import fc from 'fast-check';
import { describe } from '../../lib/model/error.ts';
import { processorTimeOf } from '../support/system/machine.ts';

const rows: [value: unknown, expected: string][] = [
  [undefined, 'nothing'],
  [null, 'null'],
  ['abc', '"abc" (string)'],
  [70_000, '70000 (number)'],
  [Number.NaN, 'NaN (number)'],
  [true, 'true (boolean)'],
  [[1, 'a', null], '[1,"a",null] (array)'],
  [{ a: { b: [] }, c: undefined }, '{"a":{"b":[]}} (object)'],
  ['x'.repeat(58), `"${'x'.repeat(58)}" (string)`],
  ['x'.repeat(59), `"${'x'.repeat(56)}… (string)`],
];
test('values are shown with their types, shortened', (t) => {
  for (const [value, expected] of rows) t.is(describe(value), expected);
});

const circle: unknown[] = [];
circle.push({ circle });
const fails = () => {
  throw new Error('no');
};
const revoked = Proxy.revocable({}, {});
revoked.revoke();
const strangeRows: [value: unknown, expected: string][] = [
  [5n, '5 (bigint)'],
  [[5n, { a: -5n }], '[5,{"a":-5}] (array)'],
  [Symbol('lamp'), 'Symbol(lamp) (symbol)'],
  [Object.assign(() => 0, { toJSON: fails }), '() => 0 (function)'],
  [Object.assign(() => 0, { toString: fails }), 'a value that cannot be shown (function)'],
  [{ toJSON: fails, a: 1 }, `{"toJSON":${String(fails).slice(0, 10)}`],
  [
    {
      get lamp() {
        return fails();
      },
    },
    'a value that cannot be shown (object)',
  ],
  [revoked.proxy, 'a value that cannot be shown (object)'],
  [circle, `[{"circle":`.repeat(6).slice(0, 57)],
  [new Date(0), '{} (object)'],
  [new Uint8Array(100_000_000), `[${'0,'.repeat(28)}… (object)`],
];
test('other values than JSON are shown as well, and nothing throws', (t) => {
  for (const [value, expected] of strangeRows) t.is(describe(value).slice(0, expected.length), expected);
});

test('any JSON is shown as its beginning', (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      const shown = text.length > 60 ? `${text.slice(0, 57)}…` : text;
      return describe(value).startsWith(value === null ? 'null' : `${Object.is(value, -0) ? '0' : shown} (`);
    }),
  );
  t.pass();
});

test('depth and length cost nothing', async (t) => {
  const deep = JSON.parse('['.repeat(1_000_000) + ']'.repeat(1_000_000)) as unknown;
  t.is(describe(deep), `${'['.repeat(57)}… (array)`);
  const long = Array.from({ length: 1_000_000 }, () => 'x'.repeat(10));
  const tookMs = await processorTimeOf(() => {
    for (let times = 0; times < 10; times++) describe(long);
  });
  t.true(tookMs < 5000, `${tookMs} ms`);
});
