// Positions in JSON5 text, and keys that an object has twice.

import test from 'ava';
import { findDuplicateKeys, findPosition } from '../../lib/json5/positions.ts';

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

test('a path of nothing has no position', (t) => t.is(findPosition(text, []), undefined));

test('a key that an object has twice is found, the same key in two objects is none', (t) => {
  const twice = '{ a: { x: 1, y: 2, "x": 3 }, b: { x: 1 }, c: [{ x: 1 }, { x: 1 }], \'a\': 1 }';
  t.deepEqual(
    findDuplicateKeys(twice).map(({ path }) => path.join('.')),
    ['a.x', 'a'],
  );
});
