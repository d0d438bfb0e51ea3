// Long text that is kept takes little memory, and is the same text when it is asked for.

import { setImmediate as nextTurn } from 'node:timers/promises';
import test from 'ava';
import { KeptText } from '../../lib/json5/kept-text.ts';
import { readJson5 } from '../../lib/json5/read-json5.ts';
import { rereadJson5 } from '../../lib/json5/reread.ts';
import { usedMemory } from '../support/system/used-memory.ts';

const usedBytes = () => usedMemory().heapBytes;
const ruleOf = (index: number) => `    { name: 'Grüße ${index} 🎙', from: 'a/x${index}', to: 'a/y' },\n`;
const textOf = (rules: number) =>
  `{\n  rules: [\n${Array.from({ length: rules }, (_, index) => ruleOf(index)).join('')}  ],\n}`;

test.serial('long text takes less than a tenth when packed', async (t) => {
  const before = usedBytes();
  const kept = new KeptText(textOf(100_000));
  const bytes = usedBytes() - before;
  await kept.pack(Buffer.from(textOf(100_000)));
  await kept.pack(Buffer.from(textOf(100_000)));
  await nextTurn(); // what has packed it holds it until then
  const packedBytes = usedBytes() - before;
  t.true(bytes > 5e6 && packedBytes < bytes / 10, `${bytes} bytes, packed ${packedBytes}`);
  t.true(kept.text === textOf(100_000));
  t.true(kept.text === textOf(100_000), 'it can be asked for more than once');
});

test.serial('a short text stays unchanged', async (t) => {
  const kept = new KeptText(textOf(1));
  await kept.pack(Buffer.from(textOf(1)));
  t.is(kept.text, textOf(1));
});

test.serial('text can be read again, and places are reported, while the previous one is packed', async (t) => {
  const before = readJson5(textOf(10_000));
  const place = before.positionOf(['rules', 7, 'to']);
  await before.source.pack(Buffer.from(textOf(10_000)));
  t.deepEqual(before.positionOf(['rules', 7, 'to']), place);
  const text = textOf(10_000).replace("from: 'a/x9998'", "from: 'a/z'");
  const after = rereadJson5(text, before);
  const [rules, known] = [after.data, before.data].map((data) => (data as { rules: object[] }).rules) as [
    object[],
    object[],
  ];
  t.deepEqual(
    rules.flatMap((rule, index) => (rule === known[index] ? [] : [index])),
    [9998],
  );
  t.deepEqual(after.data, readJson5(text).data);
});
