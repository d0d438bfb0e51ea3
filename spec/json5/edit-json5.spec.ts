// Edits of JSON5 text: each row shows the text that a person would have typed.

import test from 'ava';
import { type EditOp, editJson5, undoSplices } from '../../lib/json5/edit-json5.ts';
import { parsePath } from '../../lib/json5/positions.ts';

const rules = `{
  // Rules of the studio

  rules: [
    // the lamp
    { name: 'lamp', from: 'desk/mic', to: 'desk/lamp' }, // always
    { name: "it's", from: 'desk/a',   to: 'desk/b' },

    // others

    { name: 'last', from: 'desk/a', map: '!value', to: 'desk/c' }
  ],
}
`;

/** The lines that an edit removes, with -, and adds, with +. */
function linesChanged(before: string, after: string): string[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const removed = old.filter((line) => !now.includes(line)).map((line) => `-${line}`);
  return [...removed, ...now.filter((line) => !old.includes(line)).map((line) => `+${line}`)];
}

const rows: [title: string, op: EditOp, changed: string[]][] = [
  [
    'a changed value is one line, in its own quotes',
    { path: 'rules[1].name', set: 'other' },
    [
      `-    { name: "it's", from: 'desk/a',   to: 'desk/b' },`,
      `+    { name: "other", from: 'desk/a',   to: 'desk/b' },`,
    ],
  ],
  [
    'a rule that is set changes only in what differs',
    { path: 'rules[1]', set: { name: "it's", from: 'desk/x', to: 'desk/b' } },
    [
      `-    { name: "it's", from: 'desk/a',   to: 'desk/b' },`,
      `+    { name: "it's", from: 'desk/x',   to: 'desk/b' },`,
    ],
  ],
  [
    'a new key takes its place among the others',
    { path: 'rules[2].when', set: 'value' },
    [
      "-    { name: 'last', from: 'desk/a', map: '!value', to: 'desk/c' }",
      "+    { name: 'last', from: 'desk/a', when: 'value', map: '!value', to: 'desk/c' }",
    ],
  ],
  [
    'a rule after the last one gets its comma, and none behind',
    { path: 'rules[3]', insert: { name: 'new', from: 'desk/a', to: 'desk/d' } },
    [
      "-    { name: 'last', from: 'desk/a', map: '!value', to: 'desk/c' }",
      "+    { name: 'last', from: 'desk/a', map: '!value', to: 'desk/c' },",
      "+    { name: 'new', from: 'desk/a', to: 'desk/d' }",
    ],
  ],
  [
    'a removed rule takes the comments above and behind it along',
    { path: 'rules[0]', remove: true },
    ['-    // the lamp', "-    { name: 'lamp', from: 'desk/mic', to: 'desk/lamp' }, // always"],
  ],
  [
    'a heading with a blank line below it stays, and so does the style of the last comma',
    { path: 'rules[2]', remove: true },
    [
      `-    { name: "it's", from: 'desk/a',   to: 'desk/b' },`,
      "-    { name: 'last', from: 'desk/a', map: '!value', to: 'desk/c' }",
      `+    { name: "it's", from: 'desk/a',   to: 'desk/b' }`,
    ],
  ],
  [
    'the first connection of a file is written on lines of its own',
    { path: 'connections', set: { desk: { type: 'dummy', parameters: ['lamp,B', 'mic,B'] } } },
    ["+  connections: { desk: { type: 'dummy', parameters: ['lamp,B', 'mic,B'] } },"],
  ],
];

const order = ['name', 'from', 'when', 'map', 'pipe', 'to'];

for (const [title, op, changed] of rows)
  for (const eol of ['\n', '\r\n'])
    test(`${title}${eol === '\n' ? '' : ' (CRLF, byte order mark)'}`, (t) => {
      const text = eol === '\n' ? rules : `\ufeff${rules.replaceAll('\n', eol)}`;
      const { text: after, splices } = editJson5(text, [op], () => order);
      t.deepEqual(
        linesChanged(text, after).map((line) => line.replace('\r', '')),
        changed,
      );
      t.is(undoSplices(after, splices), text);
    });

test('a moved rule takes its comments along, and moves back to the same bytes', (t) => {
  const { text } = editJson5(rules, [{ path: 'rules[0]', move: 'rules[1]' }]);
  const moved = "    // the lamp\n    { name: 'lamp', from: 'desk/mic', to: 'desk/lamp' }, // always\n\n    // others";
  t.true(text.includes(moved), text);
  t.is(editJson5(text, [{ path: 'rules[1]', move: 'rules[0]' }]).text, rules);
});

test('an inserted item that is removed leaves the same bytes', (t) => {
  for (const at of [0, 1, 2, 3]) {
    const path = `rules[${at}]`;
    t.is(
      editJson5(rules, [
        { path, insert: { from: 'a/b', to: 'c/d' } },
        { path, remove: true },
      ]).text,
      rules,
      path,
    );
  }
});

test('a typed item stays as typed', (t) => {
  const typed = '{ from: \'a/b\', /* so */ to: "c/d" }';
  t.true(editJson5(rules, [{ path: 'rules[1]', text: typed }]).text.includes(`    ${typed},\n`));
});

for (const [op, message] of [
  [{ path: 'rules[7].map', set: '1' }, /rules\[7\]: the file has no item at this path/],
  [{ path: 'rules[3]', remove: true }, /rules\[3\]: the file has no item/],
  [{ path: 'rules[9]', insert: 1 }, /rules\[9\]: the file has no item/],
  [{ path: 'rules', insert: [] }, /rules: expected a new key, but this one already exists: use set/],
  [{ path: 'rules[', set: 1 }, /path: expected a path such as rules\[3\]\.map, got "rules\["/],
  [{ path: 'rules', move: 'rules[0]' }, /does not fit|has no item/],
  [{ path: 'rules[0]', text: '{ from: ' }, /rules\[0\]: expected/],
  [{ path: 'rules[0]', text: '1, 2' }, /rules\[0\]/],
] as const)
  test(`the edit ${JSON.stringify(op)} is refused`, (t) => {
    t.throws(() => editJson5(rules, [op]), { message });
  });

test('paths are read as errors write them', (t) => {
  t.deepEqual(parsePath('rules[3].map'), ['rules', 3, 'map']);
  t.deepEqual(parsePath('describe["desk/lamp"].label'), ['describe', 'desk/lamp', 'label']);
  t.deepEqual(parsePath(''), []);
  for (const wrong of ['rules[', 'a..b', '[x]', 'a b', '["a]']) t.is(parsePath(wrong), undefined, wrong);
});
