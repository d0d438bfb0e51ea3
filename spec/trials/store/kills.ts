// npm run trial -- kills: kills a hub with a store at random moments under load, starts it again, and looks whether it has kept what
// it promises: every value, and every entry of the audit, that was older than half a second. Exit status 1 when it has not. What is
// missing after a disk has taken longer than 300 ms is told apart, since the promise is only made for disks that do not.

import { Random } from '../../support/random.ts';
import { type Numbers, runScript, tell } from '../script.ts';
import { DiskProbe } from './kills/disk-probe.ts';
import { createKilledFolder } from './kills/flow.ts';
import { type KillResult, kill } from './kills/kill.ts';

/** The promise is made for disks that keep something within this. */
const slowDiskMs = 300;

const usage = `npm run trial -- kills [options]

  --kills <n>       how often the hub is killed (1000)
  --rate <n>        changes per second (5000)
  --parameters <n>  how many parameters are changed (500)
  --start <ms>      how long a start may take (2000)
  --seed <n>        what the moments of the kills are made of (1)
`;

await runScript(usage, { kills: 1000, rate: 5000, parameters: 500, start: 2000, seed: 1 }, run);

type Options = Numbers<'kills' | 'rate' | 'parameters' | 'start' | 'seed'>;

async function run({ kills, rate, parameters, start, seed }: Options): Promise<number> {
  const random = new Random(seed, 0);
  const folder = await createKilledFolder(parameters);
  const results: KillResult[] = [];
  let next: KillResult['next'] = { expected: new Map(), noted: [] };
  const counts = { failed: 0, excused: 0 };
  let isDiskSlow = false;
  const disk = await DiskProbe.start(folder.path);
  try {
    for (let number = 1; number <= kills; number++) {
      const loadMs = 700 + random.below(1300);
      const result = await kill({ folder: folder.path, parameters, rate, loadMs, ...next, round: number, disk });
      results.push(result);
      ({ next } = result);
      const late = result.startMs > start ? [`it started in ${result.startMs.toFixed(0)} ms`] : [];
      if (late.length > 0 || (result.mistakes.length > 0 && !isDiskSlow)) counts.failed++;
      else if (result.mistakes.length > 0) counts.excused++;
      const why = isDiskSlow ? ', after a disk that was slow' : '';
      for (const mistake of [...result.mistakes, ...late].slice(0, 5)) tell(`kill ${number}${why}: ${mistake}`);
      isDiskSlow = result.diskMs > slowDiskMs;
      if (number % 20 === 0) tell(summary(results, counts));
    }
    tell(summary(results, counts));
  } finally {
    await disk.stop();
    await folder.remove();
  }
  return counts.failed === 0 ? 0 : 1;
}

interface Counts {
  readonly failed: number;
  readonly excused: number;
}

function summary(results: readonly KillResult[], { failed, excused }: Counts): string {
  const most = (of: (result: KillResult) => number) => Math.max(...results.map(of)).toFixed(0);
  const checked = results.reduce((sum, { checked }) => sum + checked, 0);
  const noted = results.reduce((sum, { noted }) => sum + noted, 0);
  const merged = results.reduce((sum, { merged }) => sum + merged, 0);
  const changes = results.reduce((sum, { changes }) => sum + changes, 0);
  return [
    `${results.length} kills, ${failed} of them with a mistake, ${excused} more after a disk that took over ${slowDiskMs} ms`,
    `${changes} changes, ${checked} values older than 500 ms were looked for`,
    `${noted} changes older than 500 ms were looked for in the audit, where ${merged} entries count several`,
    `slowest start ${most(({ startMs }) => startMs)} ms, slowest restore ${most(({ restoreMs }) => restoreMs)} ms, slowest disk ${most(({ diskMs }) => diskMs)} ms`,
  ].join('; ');
}
