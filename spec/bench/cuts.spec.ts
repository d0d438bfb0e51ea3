// The short form of `node bench/cuts.ts`: a database that is damaged in some ways.

import test from 'ava';
import { crowdDisk } from '../../bench/cuts/crowded-disk.ts';
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

test('on a disk that the store fills the history stops first, the audit next, and the values go on', async (t) => {
  t.timeout(240_000);
  const crowded = await crowdDisk();
  if ('reason' in crowded) t.log(crowded.reason);
  t.deepEqual('mistakes' in crowded ? crowded.mistakes : [], []);
});
