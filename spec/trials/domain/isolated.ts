// npm run trial -- isolation: three hubs under load, whose servers of NATS are all killed for a minute. Meanwhile what is of other hubs is
// stale and not written, the hub that is alone does its work, a pair stops or goes on as it is told, and afterwards all of it heals by
// itself. Exit status 1 when it is not so.

import { type Numbers, runScript, tell } from '../script.ts';
import { checkTerms } from './check.ts';
import { startDomain } from './domain.ts';
import { isolationOf } from './isolation.ts';
import { beginLoad, runRound } from './round.ts';

const usage = `npm run trial -- isolation [options]

  --rounds <n>      how many times (1)
  --seconds <n>     for how long the servers are gone (60)
  --parameters <n>  how many parameters the hubs have together (3000)
  --rate <n>        changes per second, of all hubs together (3000)
  --servers <n>     how many servers: 1 or 3 (3)
  --go-on <n>       1: the pair is told to go on without servers (0)
  --stale <ms>      how long it may take until all values of other hubs are stale (3000)
  --equal <ms>      how long it may take afterwards until all values are equal (5000)
`;

const unless = {
  rounds: 1,
  seconds: 60,
  parameters: 3000,
  rate: 3000,
  servers: 3,
  'go-on': 0,
  stale: 3000,
  equal: 5000,
};
await runScript(usage, unless, run);

async function run(options: Numbers<keyof typeof unless>): Promise<number> {
  const goesOn = options['go-on'] !== 0;
  const domain = await startDomain({ ...options, goesOn });
  process.once('SIGTERM', () => void domain.end().finally(() => process.exit(1)));
  const acknowledged = new Map<string, number>();
  const mistakes: string[] = [];
  try {
    await beginLoad(domain, acknowledged);
    for (let number = 0; number < options.rounds; number++) {
      const isolation = isolationOf(domain, acknowledged, { goesOn, staleMs: options.stale });
      const round = await runRound(domain, isolation.fault, options.seconds * 1000, options.equal, acknowledged);
      for (const line of isolation.text) tell(line);
      tell(`${round.text}: equal after ${round.equalMs?.toFixed(0) ?? 'too many'} ms`);
      mistakes.push(...isolation.mistakes, ...round.mistakes);
    }
    const { mistakes: ofTerms, terms, fired } = await checkTerms(domain.hubs.slice(0, 2));
    mistakes.push(...ofTerms);
    tell(`${fired} firings in ${terms} terms`);
    for (const mistake of mistakes) tell(`**${mistake}**`);
    return mistakes.length === 0 ? 0 : 1;
  } finally {
    await domain.end(mistakes.length > 0);
    if (mistakes.length > 0) tell(`the logs of hubs and servers are in ${domain.folder}`);
  }
}
