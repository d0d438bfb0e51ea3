// npm run trial -- backup: backs up a hub while it changes, restores it in an empty folder, starts it there, and looks whether the state is one
// moment of what was written. Exit status 1 when it is not.

import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { Random } from '../../support/random.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';
import { type Numbers, runScript, tell } from '../script.ts';
import { changesPerWrite, writeFlow } from './backups/flow.ts';
import { startLoad } from './backups/load.ts';
import { backUpOnce, type RoundResult } from './backups/round.ts';
import { startKilledHub } from './kills/killed-hub.ts';

const usage = `npm run trial -- backup [options]

  --backups <n>  how many backups are made (20)
  --rate <n>     changes per second (5000)
  --pairs <n>    how many pairs of parameters are changed (200)
  --seed <n>     what the moments of the backups are made of (1)
`;

await runScript(usage, { backups: 20, rate: 5000, pairs: 200, seed: 1 }, run);

async function run({ backups, rate, pairs, seed }: Numbers<'backups' | 'rate' | 'pairs' | 'seed'>): Promise<number> {
  const random = new Random(seed, 0);
  const { path: folder, remove } = await createTemporaryFolder('backups');
  const source = join(folder, 'source');
  await writeFlow(source, pairs);
  const hub = await startKilledHub(source);
  const results: RoundResult[] = [];
  try {
    const load = await startLoad(hub.port, pairs, rate / changesPerWrite);
    for (let number = 1; number <= backups; number++) {
      await after(500 + random.below(1000));
      const place = join(folder, String(number));
      const result = await backUpOnce({ port: hub.port, load, pairs, folder: place });
      await rm(place, { recursive: true });
      results.push(result);
      for (const mistake of result.mistakes.slice(0, 5)) tell(`backup ${number}: ${mistake}`);
    }
    await load.stop();
    tell(summary(results, load.sent * changesPerWrite));
  } finally {
    hub.process.kill();
    await once(hub.process, 'exit');
    await remove();
  }
  return results.every(({ mistakes }) => mistakes.length === 0) ? 0 : 1;
}

function summary(results: readonly RoundResult[], changes: number): string {
  const most = (of: (result: RoundResult) => number) => Math.max(...results.map(of)).toFixed(0);
  const failed = results.filter(({ mistakes }) => mistakes.length > 0).length;
  return [
    `${results.length} backups, ${failed} of them with a mistake`,
    `${changes} changes`,
    `slowest backup ${most(({ backupMs }) => backupMs)} ms, slowest start ${most(({ startMs }) => startMs)} ms`,
  ].join('; ');
}
