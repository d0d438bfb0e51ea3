// The short form of `npm run trial -- kills`: a hub with a store, killed in the middle of changes, knows all that was safe.

import test from 'ava';
import { DiskProbe } from './kills/disk-probe.ts';
import { createKilledFolder } from './kills/flow.ts';
import { type KillResult, kill } from './kills/kill.ts';

const parameters = 50;
/** What a slower disk has kept is not promised. */
const slowDiskMs = 300;

test('a hub that is killed under load has every value and every entry of the audit that was older than 500 ms, and no rule has fired', async (t) => {
  t.timeout(240_000);
  const folder = await createKilledFolder(parameters);
  t.teardown(() => folder.remove());
  const disk = await DiskProbe.start(folder.path);
  t.teardown(() => disk.stop());
  const task = { folder: folder.path, parameters, rate: 500, loadMs: 1200, isQuick: true };
  let diskMs = 0;
  let next: KillResult['next'] = { expected: new Map(), noted: [] };
  for (let round = 1; round <= 2; round++) {
    const result = await kill({ ...task, ...next, round, disk });
    if (diskMs > slowDiskMs) t.log(`the disk took ${diskMs.toFixed(0)} ms`);
    else t.deepEqual(result.mistakes, [], `start ${round}`);
    ({ next, diskMs } = result);
    t.true(next.expected.size > 0 && next.noted.length > 0, 'there was something to keep');
  }
});
