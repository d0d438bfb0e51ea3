// Two edits of one flow file.

import test from 'ava';
import fc from 'fast-check';
import { differenceOf, mergeTexts } from '../../lib/json5/merge-texts.ts';

const rule = (name: string, map = 'value') => `    { name: '${name}', from: 'desk/a', map: '${map}', to: 'desk/b' }`;
const file = (...rules: string[]) => `{\n  // studio\n  rules: [\n${rules.join(',\n')}\n  ],\n}\n`;
const base = file(rule('a'), rule('b'), rule('c'));

test('edits of different rules are both kept, also of neighbours', (t) => {
  t.is(
    mergeTexts(base, file(rule('a', '1'), rule('b'), rule('c')), file(rule('a'), rule('b', '2'), rule('c'))),
    file(rule('a', '1'), rule('b', '2'), rule('c')),
  );
});

test('two rules that are added at the same place are both kept', (t) => {
  const merged = mergeTexts(
    base,
    file(rule('a'), rule('b'), rule('c'), rule('d')),
    file(rule('a'), rule('b'), rule('c'), rule('e')),
  );
  for (const name of 'abcde') t.true(merged?.includes(`name: '${name}'`), merged);
});

test('a rule that one removes and the other changes is a conflict, and so are two changes of one rule', (t) => {
  t.is(mergeTexts(base, file(rule('a'), rule('c')), file(rule('a'), rule('b', '2'), rule('c'))), undefined);
  t.is(
    mergeTexts(base, file(rule('a', '1'), rule('b'), rule('c')), file(rule('a', '2'), rule('b'), rule('c'))),
    undefined,
  );
});

test('the same change on both sides is one change', (t) => {
  const changed = file(rule('a'), rule('b', '2'), rule('c'));
  t.is(mergeTexts(base, changed, changed), changed);
});

test('a difference of one changed value is one line', (t) => {
  const difference = differenceOf(base, file(rule('a'), rule('b', '2'), rule('c')));
  t.deepEqual(difference.match(/^[+-].*$/gm), [`-${rule('b')},`, `+${rule('b', '2')},`]);
  t.is(differenceOf(base, base), '');
});

test('a difference applied to the first text gives the second', (t) => {
  const text = fc.array(fc.constantFrom('a\n', 'b\n', 'c\n', '\n'), { maxLength: 30 }).map((lines) => lines.join(''));
  const property = fc.property(text, text, (before, after) => {
    const old = before.split('\n').slice(0, -1);
    const made: string[] = [];
    let at = 0;
    for (const line of differenceOf(before, after).split('\n').slice(0, -1)) {
      const start = /^@@ -(\d+)/.exec(line)?.[1];
      if (start !== undefined) while (at < Number(start) - 1) made.push(old[at++]!);
      else if (line.startsWith('+')) made.push(line.slice(1));
      else if (old[at++] !== line.slice(1)) return false;
      else if (line.startsWith(' ')) made.push(line.slice(1));
    }
    return [...made, ...old.slice(at), ''].join('\n') === after;
  });
  t.notThrows(() => fc.assert(property, { numRuns: 500 }));
});
