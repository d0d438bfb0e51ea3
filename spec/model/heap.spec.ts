// A heap gives out what a sorted list would.

import test from 'ava';
import fc from 'fast-check';
import { Heap } from '../../lib/model/heap.ts';

test('it removes the first, like a sorted list, after any additions and removals', (t) => {
  const steps = fc.array(fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined }), { maxLength: 200 });
  fc.assert(
    fc.property(steps, (numbers) => {
      const heap = new Heap<number>((one, other) => one < other);
      const sorted: number[] = [];
      for (const number of numbers) {
        if (number === undefined) t.is(heap.take(), sorted.shift());
        else {
          heap.add(number);
          sorted.push(number);
          sorted.sort((one, other) => one - other);
        }
        t.is(heap.first, sorted[0]);
        t.is(heap.size, sorted.length);
      }
    }),
    { numRuns: 50 },
  );
});
