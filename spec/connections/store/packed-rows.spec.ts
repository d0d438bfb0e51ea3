import test from 'ava';
import fc from 'fast-check';
import { buffersOf, packRows, unpackRows } from '../../../lib/connections/store/packed-rows.ts';
import { codePoint } from '../../support/any-text.ts';

const cell = fc.oneof(
  fc.string({ unit: codePoint }),
  fc.constantFrom('', '\0', '\ud800', '🎚'),
  fc.double(),
  fc.boolean(),
  fc.constant(undefined),
);

test('rows leave another thread as they were packed, with any content', (t) => {
  const table = fc
    .integer({ min: 1, max: 6 })
    .chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { maxLength: 20 }));
  fc.assert(
    fc.property(table, (rows) => {
      const packed = packRows(rows);
      t.deepEqual(unpackRows(structuredClone(packed, { transfer: buffersOf(packed) })), rows);
    }),
  );
});
