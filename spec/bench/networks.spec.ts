// Random networks of rules, short: the hub does what a model of its own does. `node bench/networks.ts` is its full size.

import test from 'ava';
import { Random } from '../../bench/fuzz/random.ts';
import { compareNetwork } from '../../bench/networks/compare.ts';
import { aNetwork } from '../../bench/networks/network.ts';

test('200 random networks make the same changes on a hub and on a model', async (t) => {
  let all = 0;
  for (let number = 0; number < 200; number++) {
    const network = aNetwork(new Random(16, number));
    const { changes, difference } = await compareNetwork(network);
    t.is(difference, undefined, `network ${number}`);
    all += changes;
  }
  t.true(all > 5000, `${all}`);
});

test('networks have in their mix what rules can do', (t) => {
  const networks = Array.from({ length: 200 }, (_, number) => aNetwork(new Random(16, number)));
  const rules = networks.flatMap((network) => network.rules);
  const text = JSON.stringify(networks);
  t.true(rules.some(({ atStart, startWith }) => atStart && startWith !== undefined));
  t.true(rules.some(({ hearsWrites, from }) => hearsWrites && !Array.isArray(from)));
  t.true(rules.some(({ split, map }) => split !== undefined && map !== undefined));
  for (const word of ['"known"', '"fired"', '"previous"', '"switch"']) t.true(text.includes(word), word);
});
