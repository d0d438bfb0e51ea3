// npm run trial -- due: kills a hub while a TOF with two seconds to go and a timer with ten run, and looks whether both end when they
// should have. In every other round the TOF falls due while the hub is down. Exit status 1 when one is too early or too late.

import { Random } from '../../support/random.ts';
import { type Numbers, runScript, tell } from '../script.ts';
import { type DueResult, killWhileRunning } from './due/due.ts';

const usage = `npm run trial -- due [options]

  --kills <n>       how often a hub is killed (20)
  --tolerance <ms>  how much too early or too late an end may be (300)
  --seed <n>        what the moments of the kills are made of (1)
`;

await runScript(usage, { kills: 20, tolerance: 300, seed: 1 }, run);

async function run({ kills, tolerance: toleranceMs, seed }: Numbers<'kills' | 'tolerance' | 'seed'>): Promise<number> {
  const random = new Random(seed, 0);
  const results: DueResult[] = [];
  let failed = 0;
  for (let number = 1; number <= kills; number++) {
    const leadMs = 600 + random.below(2000);
    const downMs = number % 2 === 0 ? 2500 + random.below(2000) : 0;
    const result = await killWhileRunning({ tofMs: 2000, timerMs: 10_000, leadMs, downMs });
    results.push(result);
    const { tofLateMs, timerLateMs, fires } = result;
    const isInTime = [tofLateMs, timerLateMs].every((ms) => Math.abs(ms) <= toleranceMs) && fires === 1;
    if (!isInTime) failed++;
    if (!isInTime)
      tell(`kill ${number}: the TOF ended ${tofLateMs} ms late, the timer ${timerLateMs} ms; it fired ${fires} times`);
  }
  const worst = (of: (result: DueResult) => number) => Math.max(...results.map((result) => Math.abs(of(result))));
  tell(
    `${kills} kills, ${failed} of them with a mistake; ${results.filter(({ wasDue }) => wasDue).length} TOFs fell due meanwhile; ` +
      `worst TOF ${worst(({ tofLateMs }) => tofLateMs)} ms, worst timer ${worst(({ timerLateMs }) => timerLateMs)} ms`,
  );
  return failed === 0 ? 0 : 1;
}
