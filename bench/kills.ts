// node bench/kills.ts: kills a hub with a store at random moments under load, starts it again, and looks whether it has kept what
// it promises: every value, and every entry of the audit, that was older than half a second. Exit status 1 when it has not.

import { Random } from './fuzz/random.ts';
import { createKilledFolder } from './kills/flow.ts';
import { type KillResult, kill } from './kills/kill.ts';
import { type Numbers, runScript, tell } from './script.ts';

const usage = `node bench/kills.ts [options]

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
  let failed = 0;
  try {
    for (let number = 1; number <= kills; number++) {
      const loadMs = 700 + random.below(1300);
      const result = await kill({ folder: folder.path, parameters, rate, loadMs, ...next, round: number });
      results.push(result);
      ({ next } = result);
      const mistakes = [...result.mistakes];
      if (result.startMs > start) mistakes.push(`it started in ${result.startMs.toFixed(0)} ms`);
      if (mistakes.length > 0) failed++;
      for (const mistake of mistakes.slice(0, 5)) tell(`kill ${number}: ${mistake}`);
      if (number % 20 === 0) tell(summary(results, failed));
    }
    tell(summary(results, failed));
  } finally {
    await folder.remove();
  }
  return failed === 0 ? 0 : 1;
}

function summary(results: readonly KillResult[], failed: number): string {
  const most = (of: (result: KillResult) => number) => Math.max(...results.map(of)).toFixed(0);
  const checked = results.reduce((sum, { checked }) => sum + checked, 0);
  const noted = results.reduce((sum, { noted }) => sum + noted, 0);
  const merged = results.reduce((sum, { merged }) => sum + merged, 0);
  const changes = results.reduce((sum, { changes }) => sum + changes, 0);
  return [
    `${results.length} kills, ${failed} of them with a mistake`,
    `${changes} changes, ${checked} values older than 500 ms were looked for`,
    `${noted} changes older than 500 ms were looked for in the audit, where ${merged} entries count several`,
    `slowest start ${most(({ startMs }) => startMs)} ms, slowest restore ${most(({ restoreMs }) => restoreMs)} ms`,
  ].join('; ');
}
