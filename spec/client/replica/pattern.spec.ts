// Which addresses a pattern matches, as README.md "Subscribing" says.

import test from 'ava';
import { type AddressPattern, createMatcher, encodePattern } from '../../../lib/client/replica/replica-pattern.ts';

const rows: readonly (readonly [pattern: AddressPattern, matching: string, other: string])[] = [
  ['desk/lamp', 'desk/lamp', 'desk/lamp2'],
  ['desk/*', 'desk/lamp', 'desk/a/b'],
  ['desk/**', 'desk/a/b', 'core/a'],
  ['**', 'desk/lamp', ''],
  ['**/lamp', 'desk/a/lamp', 'desk/a-lamp'],
  ['desk/*-lamp', 'desk/-lamp', 'desk/a/b-lamp'],
  ['desk/**/lamp', 'desk/lamp', 'desk/a-lamp'],
  ['desk/**/lamp', 'desk/a/b/lamp', 'desklamp'],
  ['de**/lamp', 'desk/lamp', 'delamp'],
  ['***/lamp', 'desk/a/lamp', 'desk/a-lamp'],
  ['***/lamp', 'lamp', 'a-lamp'],
  ['d**p', 'desk/a/lamp', 'desk/a/lamps'],
  ['desk/a.b(c)[d]', 'desk/a.b(c)[d]', 'desk/axb(c)[d]'],
  ['desk/{1}^$|+?\\*', 'desk/{1}^$|+?\\x', 'desk/'],
  [/^desk\/.*-lamp$/, 'desk/red-lamp', 'desk/lamp'],
  [/LAMP/i, 'desk/lamp', 'desk/level'],
  [/lamp/g, 'desk/lamp', 'desk/level'],
];
for (const [pattern, matching, other] of rows)
  test(`${pattern} matches ${matching} and not ${other || 'nothing'}`, (t) => {
    const matches = createMatcher([pattern], []);
    for (let time = 0; time < 3; time++) t.true(matches(matching));
    if (other !== '') t.false(matches(other));
    t.false(createMatcher(['**'], [pattern])(matching));
  });

test('a parameter matches if any of include and none of exclude match', (t) => {
  const matches = createMatcher(['a/*', 'b/1', /c/], ['a/2', /c\/.*x/]);
  t.deepEqual(['a/1', 'a/2', 'b/1', 'b/2', 'c/1', 'c/x', 'd/c'].filter(matches), ['a/1', 'b/1', 'c/1', 'd/c']);
  t.deepEqual(['a'].filter(createMatcher([], [])), []);
});

test('patterns are sent in the form of the protocol', (t) => {
  t.is(encodePattern('desk/*'), 'desk/*');
  t.deepEqual(encodePattern(/lamp$/), { regex: 'lamp$' });
  t.deepEqual(encodePattern(/lamp$/gimsu), { regex: '(?ims)lamp$' });
});
