// What would take long to read as JSON is refused before it is read.

import test from 'ava';
import { maxStep, read, readHubReport, walkAnswer } from '../../../../lib/connections/nats/wire/domain-messages.ts';
import { expectShallow } from '../../../../lib/connections/nats/wire/shallow.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const listOf = (count: number, item: (index: number) => string) =>
  `[${Array.from({ length: count }, (_, index) => item(index)).join()}]`;
const spaces = ' '.repeat(40_000);

for (const [what, text, expected] of [
  ['brackets', '['.repeat(40_000), 'expected at most 32 levels of nesting'],
  [
    'one object of many keys',
    `{${listOf(9000, (index) => `"k${index}":1`).slice(1, -1)}}`,
    'expected at most 64 different keys',
  ],
  ['many objects of a key each', listOf(9000, (index) => `{"k${index}":1}`), 'expected at most 64 different keys'],
  [
    'keys that differ late',
    listOf(200, (index) => `{"${'k'.repeat(40)}${index}":"${'x'.repeat(200)}"}`),
    'expected at most 64 different keys',
  ],
  ['a long key', `{"${'k'.repeat(40_000)}":1}`, 'expected keys of at most 64 characters'],
  ['short texts', listOf(40_000, (index) => `"a${index}"`), 'expected at most 30000 strings'],
  ['numbers', listOf(130_000, () => '0'), 'expected at most 120000 values'],
  ['empty lists', listOf(70_000, () => '[]'), 'expected at most 120000 values'],
] as const)
  test(`a message of ${what} is refused`, (t) => {
    const data = bytes(text);
    t.throws(() => expectShallow(data), { message: expected });
    t.throws(() => readHubReport(data), { message: expected });
  });

test('the longest messages of hubs are accepted', (t) => {
  const context = (index: number) =>
    `{"by":["client","api user ${index}","","west"],"at":${1_700_000_000_000 + index},"hop":1}`;
  const turn = listOf(Math.floor((2 * maxStep) / 3), (index) => `${context(index)},${index},"some text ${index}"`);
  const head = '"hub":"west","epoch":"1","term":1,"structure":0,"clock":1,"rev":2';
  t.is(readHubReport(bytes(`{${head},"prev":1,"turns":[${turn}]}`)).turns.length, 1);
  t.notThrows(() =>
    readHubReport(bytes(`{${head},"prev":1,"turns":[${listOf(40_000, (index) => `${index % 10},1`)}]}`)),
  );
  const definitions = listOf(4000, (index) => `[${index},"west/parameter/${index}","I","read-write"]`);
  t.is(read(walkAnswer, bytes(`{${head},"definitions":${definitions}}`)).definitions!.length, 4000);
});

test('keys and brackets within texts do not count, in any escaping', (t) => {
  const text = JSON.stringify({ a: `${'[{"k":1},'.repeat(9000)}\\"`, b: '\\' });
  t.notThrows(() => expectShallow(bytes(text)));
  t.notThrows(() => expectShallow(bytes(`${spaces}"an end is missing \\`)));
});
