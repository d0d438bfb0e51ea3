// Dummy lines (S-16, D-11).

import test from 'ava';
import { dummy, readLine } from '../../../lib/connections/dummy/dummy.ts';
import { connect } from '../../support/connection.ts';

const lines: [line: string, expected: object][] = [
  ['lamp', { id: 'lamp', type: 'S' }],
  ['lamp,B', { id: 'lamp', type: 'B' }],
  ['lamp,B,true', { id: 'lamp', type: 'B', defaultValue: true }],
  ['lamp,B,no', { id: 'lamp', type: 'B', defaultValue: false }],
  ['a/b/c,I,42', { id: 'a/b/c', type: 'I', defaultValue: 42 }],
  ['level , F , 0.5 ', { id: 'level', type: 'F', defaultValue: 0.5 }],
  ['text,S,one, two, three', { id: 'text', type: 'S', defaultValue: 'one, two, three' }],
  ['text,S, spaced ', { id: 'text', type: 'S', defaultValue: ' spaced ' }],
  ['text,S,', { id: 'text', type: 'S', defaultValue: '' }],
  ['text,,x', { id: 'text', type: 'S', defaultValue: 'x' }],
  ['go,T', { id: 'go', type: 'T' }],
];

for (const [line, expected] of lines)
  test(`S-02, D-11: ${JSON.stringify(line)}`, (t) =>
    t.deepEqual(readLine(line), { ...expected, access: 'read-write' } as never));

test('D-11: blank lines and lines that start with # are skipped, in a list and in one text', (t) => {
  const ids = (parameters: unknown) => connect(dummy, { parameters }).parameters.map(({ id }) => id);
  t.deepEqual(ids(['a', '', '  ', '# b', '  # c', 'd']), ['a', 'd']);
  t.deepEqual(ids('a\n\n  # b\r\n  d,B\r\n'), ['a', 'd']);
});

test('the number of parameters is arbitrary', (t) => {
  const many = Array.from({ length: 100_000 }, (_, index) => `p/${index},I,${index}`);
  t.is(connect(dummy, { parameters: many }).parameters.length, 100_000);
  t.is(connect(dummy, {}).parameters.length, 0);
});
