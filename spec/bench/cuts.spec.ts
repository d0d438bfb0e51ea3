// The short form of `node bench/cuts.ts`: a database that is cut, at a few lengths.

import test from 'ava';
import { prepareCuts } from '../../bench/cuts/cuts.ts';

test('a hub starts on a database that is cut at any length, and says what is lost', async (t) => {
  const cuts = await prepareCuts(1000);
  t.teardown(() => cuts.remove());
  for (const length of [0, 100, 4096, 12_288, cuts.bytes - 4096]) {
    const { mistakes } = await cuts.cut(length);
    t.deepEqual(mistakes, [], `cut at ${length} of ${cuts.bytes}`);
  }
});
