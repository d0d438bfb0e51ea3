// No circle of imports in lib, neither of what runs nor of types: each file can be read, and tested, before those that import it.

import test from 'ava';
import { circlesOf, importsOf, libFiles } from './support/repository/imports.ts';

const rows: readonly (readonly [text: string, circles: string])[] = [
  ['a-b b-c', ''],
  ['a-b a-c b-d c-d', ''],
  ['a-a', 'a'],
  ['a-b b-a', 'a b'],
  ['a-b b-c c-a c-d d-e e-d', 'd e, a b c'],
  ['a-b b-c c-b b-d d-a', 'a b c d'],
];

for (const [text, expected] of rows)
  test(`circles of ${text}: ${expected || 'none'}`, (t) => {
    const graph = new Map<string, string[]>();
    for (const [from, to] of text.split(' ').map((arrow) => arrow.split('-') as [string, string]))
      graph.set(from, [...(graph.get(from) ?? []), to]);
    t.is(
      circlesOf(graph)
        .map((circle) => circle.join(' '))
        .join(', '),
      expected,
    );
  });

test('no file of lib imports itself indirectly', async (t) => {
  const graph = new Map<string, string[]>();
  for (const file of await libFiles()) graph.set(file, await importsOf(file));
  t.true(graph.size > 200 && [...graph.values()].flat().length > 1000, 'the imports of lib were found');
  t.deepEqual(circlesOf(graph), []);
});
