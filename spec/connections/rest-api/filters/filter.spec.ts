// Filters that need no engine match what the engine matches (D-05).

import test from 'ava';
import fc from 'fast-check';
import { createFilter } from '../../../../lib/connections/rest-api/filters/filter.ts';
import { limits } from '../../../../lib/connections/rest-api/limits/client-limits.ts';
import { LimitError } from '../../../../lib/connections/rest-api/limits/limit-hits.ts';
import { bestOf, processorTimeOf } from '../../../support/system/machine.ts';

const maxSteps = limits.patternSteps.default;
const pieces = fc.array(
  fc.constantFrom('a', 'b', '/', '-', '\\.', '.', '\\/', '\\\\', '\\$', '^', '$', 'b*', '(a|b)', 'ü'),
  {
    maxLength: 5,
  },
);
const addresses = fc.array(fc.constantFrom('a', 'b', '/', '-', '.', '\\', '$', 'ü', '^'), { maxLength: 8 });

test('D-05: a pattern of a client matches like the equivalent regular expression of JavaScript', (t) => {
  fc.assert(
    fc.property(pieces, addresses, (parts, characters) => {
      const pattern = parts.join('');
      const address = characters.join('');
      t.is(
        createFilter([pattern], maxSteps)(address),
        new RegExp(pattern, 'u').test(address),
        `${pattern} in ${address}`,
      );
    }),
    { numRuns: 2000 },
  );
});

const large: [what: string, patterns: string[], steps: number][] = [
  ['a repetition', ['(?i)(.*){1,200}~'], 1002],
  ['repetitions in a row', ['[^a]{1000}'.repeat(100)], 200_002],
  ['wide classes in small and capital letters', [`(?i)${'[a-\\x{10ffff}]'.repeat(60)}`], 48_062],
  ['many that are small', Array.from({ length: 16 }, (_, index) => `.{60}${index % 10}`), 1008],
];
for (const [what, patterns, steps] of large)
  test(`patterns with programs too large are refused before they cost anything: ${what}`, async (t) => {
    let error: LimitError | undefined;
    const tookMs = await processorTimeOf(() => {
      error = t.throws(() => createFilter(patterns, maxSteps), { instanceOf: LimitError });
    });
    t.true(tookMs < 200, `${tookMs} ms`);
    t.is(error?.limit, 'patternSteps');
    t.is(
      error?.message,
      `filter: expected regular expressions of at most 1000 steps in total (a part that is repeated n times counts n times), got about ${steps}`,
    );
  });

test('the largest permitted programs match the longest addresses in some milliseconds', async (t) => {
  const address = `d/${'a'.repeat(253)}`;
  for (const pattern of ['(?i)(.*){1,199}~', '(?i)[\\pL\\pN]{1,400}~', '(?:[^~]?){480}~']) {
    const matches = createFilter([pattern], maxSteps);
    const matchMs = await bestOf(50, () => processorTimeOf(() => t.false(matches(address))));
    t.true(matchMs < 50, `${pattern}: ${matchMs} ms`);
  }
});
