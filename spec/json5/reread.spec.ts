// Text that is read again after a change says the same, at the same places, as one that is read for the first time.

import test from 'ava';
import fc from 'fast-check';
import { readJson5 } from '../../lib/json5/read-json5.ts';
import { rereadJson5, withSameParts } from '../../lib/json5/reread.ts';

const written = `{ // a comment: [1]
  connections: { a: { type: 'dummy', parameters: ['x', 'y'] } },
  rules: [
    { from: 'a/x', to: 'a/y' }, /* between, */
    { folder: 'f', rules: [{ from: 'a/y', to: "a/x" }, 7,] },
    [1, 2], 'text, with ]', // at the end: }
    { from: 'a/x', map: 'value + 1', to: 'a/y' }
  ],
  tests: [{ name: 'one' }, { name: 'two', steps: [{ at: '1s' }] }],
}`;

const attempt = (read: () => ReturnType<typeof readJson5>) => {
  try {
    const { data, duplicates, positionOf } = read();
    const paths = [[], ['rules'], ['tests', 1, 'steps'], ...[0, 1, 2, 3, 4, 5].flatMap((at) => [['rules', at, 'to']])];
    return { data, duplicates, places: [...paths, ['rules', 1, 'rules', 0]].map((path) => positionOf(path)) };
  } catch (error) {
    return (error as Error).message;
  }
};

const pieces = [
  ...['', ' ', ',', ', ,', '[', ']', '{', '}', '{}', "'", '"', '//', '/*', '*/', '\n', '\\', ':', '1', 'x'],
  ...["{ from: 'b/c' },", "'a',", '],', 'tests: [', '}],', '{ a: 1, a: 2 },', "], rules: [{ name: 'n' }, "],
];

test('after any change of the text, its content and positions equal those of a first reading', (t) => {
  const change = fc.record({
    at: fc.nat(written.length),
    removed: fc.oneof(fc.constant(0), fc.nat(3), fc.nat(120)),
    added: fc.array(fc.constantFrom(...pieces), { maxLength: 3 }).map((some) => some.join('')),
  });
  const changes = fc.array(change, { minLength: 1, maxLength: 3 });
  const property = fc.property(changes, (all) => {
    let before = readJson5(written);
    for (const { at, removed, added } of all) {
      const text = before.source.text.slice(0, at) + added + before.source.text.slice(at + removed);
      t.deepEqual(
        attempt(() => rereadJson5(text, before)),
        attempt(() => readJson5(text)),
        text,
      );
      try {
        before = rereadJson5(text, before);
      } catch {
        return;
      }
    }
  });
  const behindComment = { at: written.indexOf("{ name: 'one'"), removed: 0, added: ']//' };
  t.notThrows(() => fc.assert(property, { numRuns: 500, examples: [[[behindComment]]] }));
});

test('unchanged items stay the same objects, around a changed, added or removed one', (t) => {
  const before = readJson5(written);
  const rulesOf = (text: string) => (rereadJson5(text, before).data as { rules: object[] }).rules;
  const rules = (before.data as { rules: object[] }).rules;
  const changed = rulesOf(written.replace('value + 1', 'value + 2'));
  t.deepEqual([changed.length, changed[4]], [5, { from: 'a/x', map: 'value + 2', to: 'a/y' }]);
  t.true(changed.slice(0, 4).every((rule, index) => rule === rules[index]));
  const added = rulesOf(written.replace('[1, 2],', '[1, 2], { name: "new" },'));
  t.is(added.length, 6);
  t.true(added[1] === rules[1] && added[5] === rules[4]);
  const taken = rulesOf(written.replace("{ from: 'a/x', to: 'a/y' },", ''));
  t.is(taken.length, 4);
  t.true(taken[1] === rules[2] && taken[3] === rules[4]);
});

test('equal parts stay the same objects, for any source of the data', (t) => {
  const before = { a: [{ x: 1 }, { x: 2 }, { x: [3] }], b: { c: {}, d: null } };
  const copy = () => structuredClone(before);
  t.is(withSameParts(before, copy()), before);
  const after = { ...copy(), a: [{ x: 1 }, { x: 0 }, { x: 2 }, { x: [3] }] };
  const result = withSameParts(before, after) as typeof before;
  t.deepEqual(result, after);
  t.is(result.b, before.b);
  t.deepEqual(
    [0, 2, 3].map((index) => result.a[index]),
    before.a,
  );
  t.true(result.a[0] === before.a[0] && result.a[2] === before.a[1] && result.a[3] === before.a[2]);
  const changes = fc.tuple(fc.jsonValue(), fc.jsonValue());
  t.notThrows(() => fc.assert(fc.property(changes, ([one, other]) => t.deepEqual(withSameParts(one, other), other))));
});
