// The short form of `node bench/cuts.ts`: a database that is damaged in some ways.

import test from 'ava';
import { prepareCuts } from '../../bench/cuts/cuts.ts';
import { cutAt, folderInPlace, noise, turnBits } from '../../bench/cuts/damages.ts';

test('a hub starts on a database that is damaged, says what is lost, and has no wrong value', async (t) => {
  t.timeout(240_000);
  const cuts = await prepareCuts(1000);
  t.teardown(() => cuts.remove());
  const damages = [
    ...[0, 4096, cuts.bytes - 4096].map(cutAt),
    folderInPlace,
    ...[1, 2].map((seed) => turnBits(seed * 5, seed)),
    noise(200, 1),
  ];
  for (const { what, damage } of damages) {
    const { mistakes } = await cuts.start(damage);
    t.deepEqual(mistakes, [], what);
  }
});
