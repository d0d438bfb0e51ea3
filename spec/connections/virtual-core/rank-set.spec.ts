// The set of ranks, held against a sorted array.

import test from 'ava';
import fc from 'fast-check';
import { maxRanks, RankSet } from '../../../lib/connections/virtual-core/core-engine.ts';

/** A number adds that key, undefined takes the first. */
const commands = (key: fc.Arbitrary<number>) =>
  fc.array(fc.option(key, { nil: undefined, freq: 3 }), { maxLength: 300 });

test('a rank set gives the lowest rank first, each once', (t) => {
  const rank = fc.oneof(
    fc.integer({ min: 0, max: maxRanks - 1 }),
    fc.constantFrom(0, 31, 32, 1023, 1024, maxRanks - 1),
  );
  fc.assert(
    fc.property(commands(rank), (ranks) => {
      const set = new RankSet();
      let model: number[] = [];
      for (const rank of ranks) {
        if (rank === undefined) t.is(set.takeFirst(), model.shift() ?? -1);
        else {
          set.add(rank);
          model = [...new Set([...model, rank])].sort((a, b) => a - b);
        }
        t.is(set.isEmpty, model.length === 0);
      }
    }),
  );
});
