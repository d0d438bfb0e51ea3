// Positions in JSON5 text, and keys that an object has twice.

import test from 'ava';
import { KeptText } from '../../lib/json5/kept-text.ts';
import { createKnownPlaces, findInText, findPosition } from '../../lib/json5/positions.ts';
import { readJson5 } from '../../lib/json5/read-json5.ts';

const text = `// a comment with { and "
{
  connections: {
    'desk one': { parameters: ['a:b', /* , */ 'c'], },
    clock: { timers: [1, [2, 3], { x: 1 }] },
  },
  "rules": [],
}`;

const rows: [(string | number)[], number, number][] = [
  [['connections'], 3, 3],
  [['connections', 'desk one'], 4, 5],
  [['connections', 'desk one', 'parameters', 1], 4, 47],
  [['connections', 'clock', 'timers', 0], 5, 23],
  [['connections', 'clock', 'timers', 1, 1], 5, 30],
  [['connections', 'clock', 'timers', 2, 'x'], 5, 36],
  [['rules'], 7, 3],
  [['connections', 'clock', 'missing', 'deeper'], 5, 5],
];

for (const [path, line, column] of rows)
  test(`${path.join('.')} is at ${line}:${column}`, (t) => t.deepEqual(findPosition(text, path), { line, column }));

test('a byte order mark is not a column', (t) => {
  t.deepEqual(findPosition('\ufeff{ a: 1,\n  b: 2 }', ['a']), { line: 1, column: 3 });
  t.deepEqual(findPosition('\ufeff{ a: 1,\n  b: 2 }', ['b']), { line: 2, column: 3 });
  t.like(
    t.throws(() => readJson5('\ufeff{ a: }')),
    { position: { line: 1, column: 6 } },
  );
});

test('an empty path is the beginning of the text', (t) => t.deepEqual(findPosition(text, []), { line: 2, column: 1 }));

const inTexts: [text: string, index: number, column: number | undefined][] = [
  ["{ a: { b: 'value = 3' } }", 6, 18],
  ['{ a: { /* c: */ "b" /* : */ : /* " */ "value" } }', 2, 42],
  ["{ a: { b: '\\u0041\\x42\\\\\\'C' } }", 4, 26],
  ["{ a: { b: 'ab' } }", 2, 14],
  ['{ a: { b: 7 } }', 0, undefined],
];

for (const [written, index, column] of inTexts)
  test(`character ${index} of the text in ${written}`, (t) =>
    t.is(findInText(written, ['a', 'b'], index)?.column, column));

test('text on two lines', (t) => {
  t.deepEqual(findInText("['a\\\nbc']", [0], 2), { line: 2, column: 2 });
});

test('a duplicate key of an object is found, the same key in two objects is not one', (t) => {
  const twice = '{ a: { x: 1, y: 2, "x": 3 }, b: { x: 1 }, c: [{ x: 1 }, { x: 1 }], \'a\': 1 }';
  t.deepEqual(
    createKnownPlaces(new KeptText(twice)).found.duplicates.map(({ path }) => path.join('.')),
    ['a.x', 'a'],
  );
});

test('known facts about the text lead to the same positions, also of items of its lists', (t) => {
  const long = `{ // a comment: [1]
    tests: [ 7, { name: 'a', steps: [1, { at: 'x' }] },
      { name: "b" }, [2, [3]] ],
    tests: [{ name: 'again' }], other: [] }`;
  const known = createKnownPlaces(new KeptText(long));
  const at = (...path: (string | number)[]) => Object.values(findPosition(long, path, known)!).join(':');
  t.is(at(), '1:1');
  t.is(at('tests'), '2:5');
  t.is(at('tests', 0), '2:14');
  t.is(at('tests', 0, 'name'), '2:14');
  t.is(at('tests', 1, 'steps', 1, 'at'), '2:43');
  t.is(at('tests', 1, 'stops', 1), '2:17');
  t.is(at('tests', 2, 'name'), '3:9');
  t.is(at('tests', 3, 1, 0), '3:27');
  t.is(at('tests', 9, 'name'), '2:5');
  t.is(at('other', 0), '4:33');
  t.deepEqual(findInText(long, ['tests', 2, 'name'], 0, known), { line: 3, column: 16 });
});
