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

test('rows come out of another thread as they were packed, whatever is in them', (t) => {
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
