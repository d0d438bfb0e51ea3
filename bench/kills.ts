// node bench/kills.ts: kills a hub with a store at random moments under load, starts it again, and looks whether it has kept what
// it promises: every value, and every entry of the audit, that was older than half a second. Exit status 1 when it has not.

import { parseArgs } from 'node:util';
import { messageOf } from '../lib/model/error.ts';
import { Random } from './fuzz/random.ts';
import { createKilledFolder } from './kills/flow.ts';
import { type KillResult, kill } from './kills/kill.ts';

const usage = `node bench/kills.ts [options]

  --kills <n>       how often the hub is killed (1000)
  --rate <n>        changes per second (5000)
  --parameters <n>  how many parameters are changed (500)
  --start <ms>      how long a start may take (2000)
  --seed <n>        what the moments of the kills are made of (1)
`;

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '1000' },
    rate: { type: 'string', default: '5000' },
    parameters: { type: 'string', default: '500' },
    start: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean' },
  },
});
const tell = (line: string) => void process.stdout.write(`${line}\n`);

try {
  if (values.help) tell(usage);
  else process.exitCode = await run();
} catch (error) {
  tell(messageOf(error));
  process.exitCode = 1;
}

async function run(): Promise<number> {
  const [kills, rate, parameters, start, seed] = [
    values.kills,
    values.rate,
    values.parameters,
    values.start,
    values.seed,
  ].map(Number) as [number, number, number, number, number];
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
