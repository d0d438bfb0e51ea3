// The short form of `node bench/cuts.ts`: a database that is damaged in some ways.

import test, { type ExecutionContext } from 'ava';
import { crowdDisk } from '../../bench/cuts/crowded-disk.ts';
import { type Cuts, prepareCuts } from '../../bench/cuts/cuts.ts';
import { cutAt, folderInPlace, type NamedDamage, noise, turnBits } from '../../bench/cuts/damages.ts';
import { prepareRecords } from '../../bench/cuts/records.ts';

test('a hub starts on a database that is damaged, says what is lost, and has no wrong value', async (t) => {
  t.timeout(240_000);
  const cuts = await prepareCuts(1000);
  const damages = [cutAt(cuts.bytes - 4096), folderInPlace, turnBits(5, 1), noise(200, 1)];
  await expectBorne(t, cuts, damages);
});

for (const name of ['history', 'audit'] as const)
  test(`a hub starts on a ${name} that is damaged, says what is lost, and records what comes`, async (t) => {
    t.timeout(240_000);
    const cuts = await prepareRecords(name, 1000);
    await expectBorne(t, cuts, [name === 'history' ? cutAt(0) : turnBits(26, 5)]);
  });

async function expectBorne(t: ExecutionContext, cuts: Cuts, damages: readonly NamedDamage[]): Promise<void> {
  t.teardown(() => cuts.remove());
  for (const { what, damage } of damages) {
    const { mistakes } = await cuts.start(damage);
    t.deepEqual(mistakes, [], what);
  }
}

test('on a disk that the store fills the history stops first, the audit next, and the values go on', async (t) => {
  t.timeout(240_000);
  const crowded = await crowdDisk();
  if ('reason' in crowded) t.log(crowded.reason);
  t.deepEqual('mistakes' in crowded ? crowded.mistakes : [], []);
});
