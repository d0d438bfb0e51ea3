// npm run trial -- networks: runs random networks of rules on a hub, and the same on a model of their own, with rules that run at the
// start, hear all writes, write expressions to several destinations, look at what is unknown, run as soon as they can, come from
// templates, take time (average, ramp), lead to themselves, and are switched. Exit status 1 and the network where a change differs.

import { Random } from '../support/random.ts';
import { asFlow } from './networks/as-flow.ts';
import { compareNetwork } from './networks/compare.ts';
import { aNetwork } from './networks/network.ts';
import { type Numbers, runScript, tell } from './script.ts';

const usage = `npm run trial -- networks [options]

  --networks <n>  how many networks run (5000)
  --seed <n>      what they are made of (1)
`;

await runScript(usage, { networks: 5000, seed: 1 }, run);

async function run({ networks, seed }: Numbers<'networks' | 'seed'>): Promise<number> {
  let [all, drops, wild] = [0, 0, 0];
  for (let number = 0; number < networks; number++) {
    const network = aNetwork(new Random(seed, number));
    const { changes, dropped, isWild, difference } = await compareNetwork(network);
    all += changes;
    drops += dropped;
    if (isWild) wild++;
    if (difference === undefined) continue;
    tell(`network ${number} of seed ${seed} differs, ${difference}`);
    tell(JSON.stringify(asFlow(network), undefined, 2));
    tell(JSON.stringify(network.given));
    return 1;
  }
  tell(`seed ${seed}: ${networks} networks, ${all} changes, ${drops} writes past the limit of hops, no difference`);
  if (wild > 0) tell(`${wild} of them were not followed to their end: they multiply`);
  return 0;
}
