// Random networks of rules, short: the hub does what a model of its own does. `npm run trial -- networks` is its full size.

import test from 'ava';
import { Random } from '../support/random.ts';
import { compareNetwork } from './networks/compare.ts';
import { aNetwork } from './networks/network.ts';
import { isList, type NetworkRule } from './networks/rule.ts';

test('40 random networks make the same changes on a hub and on a model', async (t) => {
  let [all, drops] = [0, 0];
  for (let number = 0; number < 40; number++) {
    const network = aNetwork(new Random(16, number));
    const { changes, dropped, difference } = await compareNetwork(network);
    t.is(difference, undefined, `network ${number}`);
    all += changes;
    drops += dropped;
  }
  t.true(all > 1000 && drops > 0, `${all} ${drops}`);
});

test('networks have in their mix what rules can do', (t) => {
  const networks = Array.from({ length: 200 }, (_, number) => aNetwork(new Random(16, number)));
  const rules = networks.flatMap((network) => network.rules);
  const text = JSON.stringify(networks);
  const some = (test: (rule: NetworkRule) => boolean) => t.true(rules.some(test), `${test}`);
  some(({ atStart, startWith }) => atStart && startWith !== undefined);
  some(({ hearsWrites, from }) => hearsWrites && !isList(from));
  some(({ split, map }) => split !== undefined && map !== undefined);
  some(({ requiresAny }) => requiresAny);
  some(({ step }) => step?.is === 'average' && step.everyMs === undefined);
  some(({ step, startWith }) => step?.is === 'ramp' && startWith !== undefined);
  some(({ from, to }) => isList(from) && to.some((id) => from.includes(id)));
  for (const word of ['"known"', '"fired"', '"previous"', '"choice"', '"switch"', '"waitMs"', '"isGiven"', '@2'])
    t.true(text.includes(word), word);
});
