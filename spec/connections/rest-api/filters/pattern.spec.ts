// Patterns of addresses (docs/protocol.md "Subscribing"): globs against a matcher that tries everything, and time limits.

import test from 'ava';
import fc from 'fast-check';
import { createPatternFilter } from '../../../../lib/connections/rest-api/filters/address-glob.ts';
import { limits } from '../../../../lib/connections/rest-api/limits/client-limits.ts';
import { processorTimeOf } from '../../../support/system/machine.ts';

const maxSteps = limits.patternSteps.default;

/** Matches by trying every way, as the document says it. */
function matchesNaively(glob: string, address: string): boolean {
  const seen = new Map<string, boolean>();
  const matches = (g: number, a: number): boolean => {
    const key = `${g} ${a}`;
    const known = seen.get(key);
    if (known !== undefined) return known;
    const found = matchesFrom(g, a);
    seen.set(key, found);
    return found;
  };
  const matchesFrom = (g: number, a: number): boolean => {
    if (g === glob.length) return a === address.length;
    if (glob.startsWith('**', g)) {
      let end = g;
      while (glob[end] === '*') end++;
      const isWhole = glob[end] === '/' && (g === 0 || glob[g - 1] === '/');
      if (isWhole && matches(end + 1, a)) return true;
      for (let rest = a; rest <= address.length; rest++) if (matches(end, rest)) return true;
      return false;
    }
    if (glob[g] === '*') {
      for (let rest = a; rest <= address.length; rest++) {
        if (matches(g + 1, rest)) return true;
        if (address[rest] === '/') return false;
      }
      return false;
    }
    return glob[g] === address[a] && matches(g + 1, a + 1);
  };
  return matches(0, 0);
}

const rows: [glob: string, yes: string[], no: string[]][] = [
  ['desk/lamp', ['desk/lamp'], ['desk/lamp2', 'a/desk/lamp', 'desk']],
  ['desk/*', ['desk/a', 'desk/'], ['desk/a/b', 'desk', 'desks/a']],
  ['desk/**', ['desk/a', 'desk/a/b'], ['desk', 'desks/a']],
  ['**', ['a', 'a/b', 'a/b/c'], []],
  ['*', ['a'], ['a/b']],
  ['**/lamp', ['lamp', 'desk/lamp', 'a/b/lamp'], ['desk/alamp', 'lamp/a']],
  ['desk/**/lamp', ['desk/lamp', 'desk/a/lamp', 'desk/a/b/lamp'], ['desklamp', 'desk/a/alamp']],
  ['a.c/(x)[y]{z}+?$^|\\', ['a.c/(x)[y]{z}+?$^|\\'], ['abc/(x)[y]{z}+?$^|\\']],
  ['d*k/l*p', ['desk/lamp', 'dk/lp'], ['desk/x/lamp']],
];
for (const [glob, yes, no] of rows)
  test(`docs/protocol.md: the glob ${glob}`, (t) => {
    const matches = createPatternFilter([glob], maxSteps);
    for (const address of yes) t.true(matches(address), address);
    for (const address of no) t.false(matches(address), address);
  });

test('docs/protocol.md: any glob matches the same as an exhaustive search', (t) => {
  const part = fc.constantFrom('a', 'b', '/', '*', '**', '**/', '/**/', '***', '.', 'ab');
  const glob = fc.array(part, { minLength: 1, maxLength: 8 }).map((parts) => parts.join(''));
  const address = fc
    .array(fc.constantFrom('a', 'b', '/', '.', 'ab'), { minLength: 1, maxLength: 10 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(
      glob,
      address,
      (pattern, text) => createPatternFilter([pattern], maxSteps)(text) === matchesNaively(pattern, text),
    ),
    { numRuns: 5000 },
  );
  t.pass();
});

test('docs/protocol.md: a list matches if any of its patterns does, an empty one never', (t) => {
  const matches = createPatternFilter(['desk/lamp', 'x/*', { regex: 'me.er$' }], maxSteps);
  t.deepEqual(['desk/lamp', 'x/y', 'a/meter', 'a/meters'].map(matches), [true, true, true, false]);
  t.false(createPatternFilter([], maxSteps)('desk/lamp'));
});

const hostile: [what: string, pattern: string | { regex: string }][] = [
  ['one run of 1,023 stars', `${'*'.repeat(1023)}x`],
  ['many single stars', `${'*a'.repeat(500)}x`],
  ['many double stars', `${'**a'.repeat(300)}x`],
  ['runs of three', '***a***a***x'],
  ['double stars with slashes', `${'**/'.repeat(300)}x`],
  ['a nested regex', { regex: '^(a+)+$' }],
];
for (const [what, pattern] of hostile)
  test(`D-15: no pattern can stop the hub: ${what}`, async (t) => {
    const matches = createPatternFilter([pattern], maxSteps);
    const tookMs = await processorTimeOf(() => {
      for (let count = 0; count < 3; count++) t.false(matches(`${'a'.repeat(200)}/${'a/'.repeat(100)}b`));
    });
    t.true(tookMs < 1000, `${tookMs} ms`);
  });

test('D-15: no pattern can stop the hub: 1,500 globs of many stars', async (t) => {
  const matches = createPatternFilter(
    Array.from({ length: 1500 }, (_, index) => `*a*${index}*a**a*a*a*a*a*a*a*a**x`),
    maxSteps,
  );
  const tookMs = await processorTimeOf(() => {
    for (let count = 0; count < 3; count++) t.false(matches(`d/${'a'.repeat(253)}`));
  });
  t.true(tookMs < 1000, `${tookMs} ms`);
});
