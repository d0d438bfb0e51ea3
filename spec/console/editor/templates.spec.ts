// Rules that `each` makes, written out: the file afterwards is what a person would have typed.

import test from 'ava';
import { joined, partsOf, separate } from '../../../lib/console/editor/templates.ts';
import { type EditOp, editJson5 } from '../../../lib/json5/edit-json5.ts';
import { readTemplate } from '../../support/source-text.ts';

const about = { file: 'studio.json5', etag: '', canEdit: true, reason: '', made: [] };

/** Separates the rule with the number `made` of the item at a path; returns the text, the path of the rule, and its data. */
function separated(text: string, path: string, made: number) {
  const edit = separate({ ...about, text, tree: readTemplate(text) }, path, made);
  if (edit === undefined) return undefined;
  return { text: editJson5(text, edit.ops as readonly EditOp[]).text, path: edit.path, rule: edit.rule };
}

test('one of a single name leaves the each, with comments, quotes and layout', (t) => {
  const text = `{
  rules: [
    // the lamps
    {
      each: { n: [1, 2, 3] },
      name: "red \${n}", // as on the wall
      from: 'desk/mic\${n}',
      map: '\${n}',
      to: { 'desk/red-\${n}': 'value', 'desk/lamp': "value > \${n}" },
    },
    { name: 'last', from: 'desk/a', to: 'desk/b' },
  ],
}
`;
  const found = separated(text, 'rules[0]', 1)!;
  t.is(
    found.text,
    `{
  rules: [
    // the lamps
    {
      each: { n: [1, 3] },
      name: "red \${n}", // as on the wall
      from: 'desk/mic\${n}',
      map: '\${n}',
      to: { 'desk/red-\${n}': 'value', 'desk/lamp': "value > \${n}" },
    },
    {
      name: "red 2", // as on the wall
      from: 'desk/mic2',
      map: 2,
      to: { 'desk/red-2': 'value', 'desk/lamp': "value > 2" },
    },
    { name: 'last', from: 'desk/a', to: 'desk/b' },
  ],
}
`,
  );
  t.is(found.path, 'rules[1]');
});

test('an each of several names, or of one value, is written out', (t) => {
  const text = `{
  rules: [
    {
      each: { side: ['l', 'r'], n: [1, 2] },
      rules: [
        // a lamp of \${side}
        { name: 'a \${side}\${n}', from: 'desk/\${side}', to: 'desk/x' }, // red
        { name: 'b \${side}\${n}', from: 'desk/\${n}', to: 'desk/y' },
      ],
    },
  ],
}
`;
  const found = separated(text, 'rules[0].rules[1]', 2)!;
  const lines = (side: string, n: number) => `    // a lamp of ${side}
    // red
    { name: 'a ${side}${n}', from: 'desk/${side}', to: 'desk/x' },
    { name: 'b ${side}${n}', from: 'desk/${n}', to: 'desk/y' },
`;
  const all = [lines('l', 1), lines('l', 2), lines('r', 1), lines('r', 2)].join('');
  t.is(found.text, `{\n  rules: [\n${all}  ],\n}\n`);
  t.is(found.path, 'rules[5]');
  t.deepEqual(found.rule, { name: 'b r1', from: 'desk/1', to: 'desk/y' });
  const single = `{ rules: [{ name: 'x \${n}', each: { n: ["it's"] }, from: 'desk/a', map: '"\${n}"', to: 'desk/b' }] }`;
  t.deepEqual(separated(single, 'rules[0]', 0)!.rule, { name: "x it's", from: 'desk/a', map: `"it's"`, to: 'desk/b' });
  t.is(separated(single, 'rules[0]', 0)!.text, `{ rules: [{ name: 'x it\\'s', from: 'desk/a', map: '"it\\'s"', to: 'desk/b' }] }`); // biome-ignore format: a file
});

test('a group with a folder stays a group', (t) => {
  const text = `{
  rules: [
    { each: { n: [1, 2] }, folder: 'desk \${n}', rules: [{ name: 'a \${n}', from: 'desk/a', to: 'desk/b' }] },
  ],
}
`;
  const found = separated(text, 'rules[0].rules[0]', 0)!;
  t.is(
    found.text,
    `{
  rules: [
    { each: { n: [2] }, folder: 'desk \${n}', rules: [{ name: 'a \${n}', from: 'desk/a', to: 'desk/b' }] },
    { folder: 'desk 1', rules: [{ name: 'a 1', from: 'desk/a', to: 'desk/b' }] },
  ],
}
`,
  );
  t.is(found.path, 'rules[1].rules[0]');
  t.deepEqual(found.rule, { name: 'a 1', from: 'desk/a', to: 'desk/b' });
});

test('nothing is separated outside of an each, and nothing of hundreds', (t) => {
  t.is(separated(`{ rules: [{ name: 'a' }] }`, 'rules[0]', 0), undefined);
  const many = JSON.stringify(Array.from({ length: 99 }, (_, n) => n));
  t.is(separated(`{ rules: [{ each: { n: ${many}, m: [1, 2] }, name: '\${n}\${m}' }] }`, 'rules[0]', 0), undefined);
});

test('a text is split at its variables, and joined again', (t) => {
  t.deepEqual(partsOf('desk/mic${n}'), [{ text: 'desk/mic' }, { text: '${n}', variable: 'n' }, { text: '' }]);
  t.deepEqual(
    partsOf('${ desk }${n}/on').map(({ text, variable }) => variable ?? text),
    ['', 'desk', '', 'n', '/on'],
  );
  for (const plain of ['desk/mic1', '', '$${n}', '${n']) t.deepEqual(partsOf(plain), [{ text: plain }]);
  for (const text of ['desk/mic${n}', '${a}${b}', 'x', '']) t.is(joined(partsOf(text)), text);
});
