// JSON5 rewritten as JSON: whatever the engine's parser accepts means what it meant before.

import test from 'ava';
import fc from 'fast-check';
import JSON5 from 'json5';
import { toJson } from '../../lib/json5/to-json.ts';

const space = fc.constantFrom('', ' ', '\n', '// x, ]\n', '/* } */', '\t', '\u00a0');
const key = fc.constantFrom('a', '$b', 'true', '"k"', "'k2'", "'k\"3'", '__proto__', 'é', '1');
const text = fc.constantFrom(
  "'x'",
  '"y"',
  "'a\\\nb'",
  "'q\\'q'",
  '"d\\"d"',
  "'d\"d'",
  '"\\u0041\\n"',
  "'\\x41\\v\\0'",
  "'//no'",
  "'/*no*/'",
  '"\t"',
);
const scalar = fc.constantFrom('1', '-2.5e3', '.5', '+1', '0x1f', 'Infinity', 'true', 'null');
const inBrackets = (open: string, close: string) => (items: readonly (readonly string[])[]) =>
  fc
    .boolean()
    .map((hasComma) => `${open}${items.map((parts) => parts.join('')).join(',')}${hasComma ? ',' : ''}${close}`);
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    scalar,
    fc.array(fc.tuple(space, tie('value'), space), { maxLength: 4 }).chain(inBrackets('[', ']')),
    fc
      .array(fc.tuple(space, key, space, fc.constant(':'), space, tie('value'), space), { maxLength: 4 })
      .chain(inBrackets('{', '}')),
  ),
}));
const splinter = fc.constantFrom(...'{}[]:,\'"\\/*ax1\n', '\\u', '\\\n', '//', '/*', '*/');

/** Returns what a parser reads in text; undefined when it refuses the text. */
function parsed(parse: () => unknown): { data: unknown } | undefined {
  try {
    return { data: parse() };
  } catch {
    return undefined;
  }
}

test.before(() => {
  console.warn = () => {}; // JSON5 warns of U+2028 in texts
});

test('a rewritten text keeps its meaning, also with a missing or additional character', (t) => {
  let taken = 0;
  fc.assert(
    fc.property(value, fc.nat(), fc.nat(2), splinter, (whole, place, kind, added) => {
      const at = place % (whole.length + 1);
      const broken = whole.slice(0, at) + (kind === 2 ? added : '') + whole.slice(kind === 1 ? at + 1 : at);
      const ours = parsed(() => JSON.parse(toJson(broken)));
      if (ours === undefined) return;
      taken++;
      t.deepEqual(
        ours,
        parsed(() => JSON5.parse(broken)),
        broken,
      );
    }),
    { numRuns: 5000 },
  );
  t.true(taken > 1000);
});

test('the usual style of authors is accepted', (t) => {
  const author = `// a flow
  { connections: { desk: { type: 'dummy', parameters: ['lamp,B', "it's,S", 'say "hi",S',], }, /* more */ },
    rules: [{ from: 'desk/lamp', when: "value == \\"on\\"", to: 'desk/lamp' }] }`;
  t.deepEqual(JSON.parse(toJson(author)), JSON5.parse(author));
});
