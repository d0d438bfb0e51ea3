// The size of a program is estimated from its pattern. The estimate is never much too low, so no pattern takes long to compile.

import test from 'ava';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { estimateSteps } from '../../lib/regex/regex.ts';

const pieces = [
  'a',
  'é',
  '.',
  '[^/]',
  '[a-z]',
  '[]a]',
  '[^\\]]',
  '[a{9}]',
  '[[:alpha:]]',
  '\\d',
  '\\pL',
  '\\x{41}',
  '\\b',
  '^',
  '$',
];
const marks = [
  '(',
  '(?:',
  '(?P<x>',
  '(?i)',
  ')',
  '|',
  '*',
  '+',
  '?',
  '{',
  '{3}',
  '{2,}',
  '{0,5}',
  '{1,9}',
  '\\Qab{3}\\E',
];

test('the estimate is at least about the size of the program', (t) => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces, ...marks), { maxLength: 14 }), (parts) => {
      const pattern = parts.join('');
      const steps = stepsOf(pattern);
      if (steps !== undefined) t.true(estimateSteps(pattern) * 1.5 >= steps, `${pattern}: ${steps}`);
    }),
    { numRuns: 5000 },
  );
});

const rows: [pattern: string, least: number, most: number][] = [
  ['^desk/.*(lamp|mic)-[0-9]+$', 15, 40],
  ['(?i)^desk/[a-zäöü ]+$', 5, 30],
  ['(?i)(.*){1,200}~', 1000, 2000],
  ['[^a]{1000}'.repeat(100), 100_000, 250_000],
  [`(?i)${'[a-\\x{10ffff}]'.repeat(60)}`, 40_000, 60_000],
];
for (const [pattern, least, most] of rows)
  test(`an estimate: ${pattern.slice(0, 40)}`, (t) => {
    const estimate = estimateSteps(pattern);
    t.true(least <= estimate && estimate <= most, String(estimate));
  });

/** Undefined: it is no regular expression. */
function stepsOf(pattern: string): number | undefined {
  try {
    return RE2JS.compile(pattern).programSize();
  } catch {
    return undefined;
  }
}
