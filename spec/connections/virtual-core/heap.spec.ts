// The queue by key, held against a sorted array.

import test from 'ava';
import fc from 'fast-check';
import { Heap } from '../../../lib/connections/virtual-core/heap.ts';

/** A number adds that key, undefined takes the first. */
const commands = (key: fc.Arbitrary<number>) =>
  fc.array(fc.option(key, { nil: undefined, freq: 3 }), { maxLength: 300 });

test('a heap gives the lowest key first', (t) => {
  fc.assert(
    fc.property(commands(fc.integer({ min: 0, max: 50 })), (keys) => {
      const heap = new Heap<{ key: number }>();
      let model: number[] = [];
      for (const key of keys) {
        if (key === undefined) {
          t.is(heap.firstKey, model[0] ?? Infinity);
          t.is(heap.pop()?.key, model.shift());
        } else {
          heap.push(key, { key });
          model = [...model, key].sort((a, b) => a - b);
        }
        t.is(heap.size, model.length);
        t.is(heap.first?.key, model[0]);
      }
    }),
  );
});
