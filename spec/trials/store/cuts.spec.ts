// The short form of `npm run trial -- cuts`: a database that is damaged in some ways.

import test, { type ExecutionContext } from 'ava';
import { crowdDisk } from './cuts/crowded-disk.ts';
import { type Cuts, prepareCuts } from './cuts/cuts.ts';
import { cutAt, folderInPlace, type NamedDamage, noise, turnBits } from './cuts/damages.ts';
import { prepareRecords } from './cuts/records.ts';

test('a hub starts on a database that is damaged, says what is lost, and has no wrong value', async (t) => {
  t.timeout(240_000);
  const cuts = await prepareCuts(1000);
  await expectBorne(t, cuts, [folderInPlace, noise(200, 1)]);
});

test('a hub starts on a history and an audit that are damaged, says what is lost, and records what comes', async (t) => {
  t.timeout(240_000);
  const cuts = await prepareRecords(['history', 'audit'], 1000);
  const [ofHistory, ofAudit] = [cutAt(0), turnBits(26, 5)];
  const damage = (path: string) => (path.endsWith('history.db') ? ofHistory : ofAudit).damage(path);
  await expectBorne(t, cuts, [{ what: `${ofHistory.what}, ${ofAudit.what}`, damage }]);
});

async function expectBorne(t: ExecutionContext, cuts: Cuts, damages: readonly NamedDamage[]): Promise<void> {
  t.teardown(() => cuts.remove());
  for (const { what, damage } of damages) {
    const { mistakes, lost } = await cuts.start(damage);
    t.deepEqual(mistakes, [], what);
    t.true(lost > 0, what);
  }
}

test('on a disk that the store fills the history stops first, the audit next, and the values go on', async (t) => {
  t.timeout(240_000);
  const crowded = await crowdDisk();
  if ('reason' in crowded) t.log(crowded.reason);
  t.deepEqual('mistakes' in crowded ? crowded.mistakes : [], []);
});
