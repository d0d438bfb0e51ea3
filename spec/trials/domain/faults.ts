// npm run trial -- faults: three hubs and three servers of NATS under load, of which one is killed, stopped or cut off again and again.
// Afterwards all hubs have the values of the owners, no acknowledged write is missing, and no rule has run in two hubs at once. Exit
// status 1 when it is not so.

import { setTimeout as after } from 'node:timers/promises';
import { Random } from '../../support/random.ts';
import { type Numbers, runScript, tell } from '../script.ts';
import { checkTerms } from './check.ts';
import { startDomain } from './domain.ts';
import { killOfMachine, pickFault } from './fault.ts';
import { watchPauses } from './pauses.ts';
import { beginLoad, runRound } from './round.ts';

const usage = `npm run trial -- faults [options]

  --rounds <n>      how many faults (30)
  --first <n>       the number of the first one: each number of a seed is always the same fault (1)
  --parameters <n>  how many parameters the hubs have together (3000)
  --rate <n>        changes per second, of all hubs together (3000)
  --longest <s>     how long a fault lasts at most (20)
  --equal <ms>      how long it may take until all values are equal (5000)
  --takeover <ms>   how long a takeover may take (8000)
  --planned <ms>    how long it may take after SIGTERM (1000)
  --servers <n>     how many servers: 1 or 3 (3)
  --seed <n>        what faults are made of (1)
  --machines <n>    1: each fault is the death of the hub that runs together with the server that it asks (0)
`;

const unless = {
  rounds: 30,
  first: 1,
  parameters: 3000,
  rate: 3000,
  longest: 20,
  equal: 5000,
  takeover: 8000,
  planned: 1000,
  servers: 3,
  seed: 1,
  machines: 0,
};
/** Before a machine dies, each server leads what it is meant to; it comes back after the takeover. */
const spreadMs = 15_000;
const machineMs = 10_000;

await runScript(usage, unless, run);

async function run(options: Numbers<keyof typeof unless>): Promise<number> {
  const isOfMachines = options.machines !== 0;
  const domain = await startDomain(options);
  const acknowledged = new Map<string, number>();
  process.once('SIGTERM', () => void domain.end().finally(() => process.exit(1)));
  let failed = 0;
  const equals: number[] = [];
  const takeovers: number[] = [];
  try {
    await beginLoad(domain, acknowledged);
    for (let number = options.first; number < options.first + options.rounds; number++) {
      const random = new Random(options.seed, number);
      const pauses = watchPauses();
      await after(isOfMachines ? spreadMs : 1000);
      const forMs = isOfMachines ? machineMs : 1000 + random.below(1000 * (options.longest - 1));
      const fault = isOfMachines ? killOfMachine(domain) : pickFault(domain, random);
      const result = await runRound(domain, fault, forMs, options.equal, acknowledged);
      const mistakes = [...result.mistakes];
      if (result.equalMs !== undefined) equals.push(result.equalMs);
      if (result.takeoverMs !== undefined) takeovers.push(result.takeoverMs);
      const longest = fault.isPlanned ? options.planned : options.takeover;
      if ((result.takeoverMs ?? 0) > longest) mistakes.push('the takeover took too long');
      const takeover = result.takeoverMs === undefined ? '' : `, takeover after ${result.takeoverMs} ms`;
      const longestMs = pauses.end();
      const pause =
        longestMs < 500 ? '' : ` (the machine was busy: this script itself stood still for ${longestMs} ms)`;
      const equal = `equal after ${result.equalMs?.toFixed(0) ?? 'too many'} ms`;
      tell(`${new Date().toISOString()} ${number}: ${result.text}: ${equal}${takeover}${pause}`);
      for (const mistake of mistakes) tell(`   ${mistake}`);
      if (mistakes.length > 0) failed++;
    }
    const { mistakes, terms, fired } = await checkTerms(domain.hubs.slice(0, 2));
    for (const mistake of mistakes) tell(mistake);
    tell(
      `${options.rounds} faults, ${failed} with a mistake; ${fired} firings in ${terms} terms, ${mistakes.length} mistakes in these; slowest: equal after ${most(equals)} ms, takeover after ${most(takeovers)} ms`,
    );
    failed += mistakes.length;
    return failed === 0 ? 0 : 1;
  } finally {
    await domain.end(failed > 0);
    if (failed > 0) tell(`the logs of hubs and servers are in ${domain.folder}`);
  }
}

function most(values: readonly number[]): string {
  return Math.max(0, ...values).toFixed(0);
}
