// npm run trial -- shadow: records an hour of a studio, and replays it with each of many changes of a rule: in shadow, and live. Exit
// status 1 when the shadow tells another difference than then occurs, or when a replay is not the same twice.

import { inTemporaryFolder } from '../support/temporary-folder.ts';
import { type Numbers, runScript, tell } from './script.ts';
import { compareChange, recordStudio } from './shadow/compare.ts';
import { changes } from './shadow/studio.ts';

const usage = `npm run trial -- shadow [options]

  --minutes <n>  how long the studio is recorded (60)
  --seed <n>     what happens in it (1)
`;

await runScript(usage, { minutes: 60, seed: 1 }, run);

function run({ minutes, seed }: Numbers<'minutes' | 'seed'>): Promise<number> {
  return inTemporaryFolder('shadow', async (folder) => {
    const recorded = await recordStudio(seed, minutes * 60_000, folder);
    tell(`${recorded.changes.length} changes in ${minutes} minutes`);
    tell('| rule | changed to | deviations | time of four replays | |\n|---|---|---|---|---|');
    let failed = 0;
    for (const change of changes) {
      const startMs = performance.now();
      const { deviations, difference } = await compareChange(recorded, change);
      if (difference !== undefined) failed++;
      const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
      tell(
        `| ${change[0]} | ${JSON.stringify(change[1] ?? 'nothing')} | ${deviations} | ${seconds} s | ${difference ?? 'the same in shadow'} |`,
      );
    }
    return failed === 0 ? 0 : 1;
  });
}
