// Filters that are found without an engine match what the engine matches (D-05).

import test from 'ava';
import fc from 'fast-check';
import { createFilter } from '../../../lib/connections/rest-api/filter.ts';

const pieces = fc.array(
  fc.constantFrom('a', 'b', '/', '-', '\\.', '.', '\\/', '\\\\', '\\$', '^', '$', 'b*', '(a|b)', 'ü'),
  {
    maxLength: 5,
  },
);
const addresses = fc.array(fc.constantFrom('a', 'b', '/', '-', '.', '\\', '$', 'ü', '^'), { maxLength: 8 });

test('D-05: a pattern of a client matches as a regular expression of JavaScript that means the same', (t) => {
  fc.assert(
    fc.property(pieces, addresses, (parts, characters) => {
      const pattern = parts.join('');
      const address = characters.join('');
      t.is(createFilter([pattern])(address), new RegExp(pattern, 'u').test(address), `${pattern} in ${address}`);
    }),
    { numRuns: 2000 },
  );
});
