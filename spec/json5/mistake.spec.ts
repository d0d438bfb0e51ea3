// A mistake in the name of a setting says what is wrong with that name, not with its object.

import test from 'ava';
import { z } from 'zod';
import { formatMistake, MistakeList } from '../../lib/json5/mistake.ts';

const short = z.string().max(3, { error: 'a name of at most 3 letters' });
const withoutDash = short.refine((name) => !name.includes('-'), {
  error: ({ input }) => `expected no -, got ${input}`,
});
const schema = z.strictObject({ by: z.record(withoutDash, z.number(), { error: 'an object of numbers by name' }) });
const file = { name: 'a.json5', positionOf: () => undefined };

const rows: [data: unknown, expected: string][] = [
  [{ by: { long: 1 } }, 'a.json5: by.long: expected a name of at most 3 letters, got "long" (string)'],
  [{ by: { 'a-b': 1 } }, 'a.json5: by.a-b: expected no -, got a-b'],
  [{ by: { abc: 'x' } }, 'a.json5: by.abc: expected number, got "x" (string)'],
  [{ by: 3 }, 'a.json5: by: expected an object of numbers by name, got 3 (number)'],
];

for (const [data, expected] of rows)
  test(`${JSON.stringify(data)} is reported as ${expected}`, (t) => {
    const mistakes = new MistakeList();
    mistakes.parse(schema, data, file, []);
    t.deepEqual(mistakes.items.map(formatMistake), [expected]);
  });

test('an unknown setting is reported before the missing one that it may have been meant as', (t) => {
  const mistakes = new MistakeList();
  mistakes.parse(z.strictObject({ url: z.string(), from: z.string() }), { server: 'mail.test', from: 2 }, file, []);
  t.deepEqual(
    mistakes.items.map(({ path }) => path),
    ['server', 'url', 'from'],
  );
});
