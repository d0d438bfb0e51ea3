// What a search of the console finds: as a regular expression what the hub would find, or an error.

import test from 'ava';
import { search } from '../../../../lib/console/parameters/list/search.ts';
import { compileRegex } from '../../../../lib/regex/regex.ts';

const addresses = ['desk/lamp', 'desk/LAMP', 'desk/a]b', 'desk/λ', 'studio-1/mic', 'studio-12/mic', 'x/Ä', 'x/\u00a0y'];
const catalogue = { addresses, lowered: addresses.map((address) => address.toLowerCase()) };
const found = (text: string) => Array.from(search(catalogue, 'regex', text), (index) => addresses[index]);

const patterns = [
  'lamp$',
  '(?i)lamp',
  '^studio-\\d/',
  'a\\]b',
  '[\\]]',
  '[^a-z]$',
  '\\p{L}$',
  'a|m',
  '(?:mic){1}',
  '.',
  '',
];
for (const pattern of patterns)
  test(`a regex finds the same as on the hub: ${pattern}`, (t) => {
    const { test: isFound } = compileRegex(pattern, 1000);
    t.deepEqual(
      found(pattern),
      addresses.filter((address) => isFound(address)),
    );
  });

for (const pattern of ['[]a]', '\\Z', '\\h', '\\C', '\\A', '\\pN', '(?=a)', '(?<=a)b', '(a)\\1', '(', 'a{1,', '\\_'])
  test(`an ambiguous regex is an error: ${pattern}`, (t) => {
    t.throws(() => found(pattern), { instanceOf: SyntaxError });
  });
