import test from 'ava';
import { Random } from '../../support/random.ts';
import { holds } from '../short.ts';
import { aNetwork } from './network.ts';
import { isList, type NetworkRule } from './rule.ts';

holds(
  '40 random networks make the same changes on a hub and on a model',
  'networks',
  /^seed 16: 40 networks, \d{4,} changes, [1-9]\d* writes past the limit of hops, no difference$/m,
);

test('networks contain everything that rules can do', (t) => {
  const networks = Array.from({ length: 200 }, (_, number) => aNetwork(new Random(16, number)));
  const rules = networks.flatMap((network) => network.rules);
  const text = JSON.stringify(networks);
  const some = (test: (rule: NetworkRule) => boolean) => t.true(rules.some(test), `${test}`);
  some(({ atStart, startWith }) => atStart && startWith !== undefined);
  some(({ listensToWrites, from }) => listensToWrites && !isList(from));
  some(({ split, map }) => split !== undefined && map !== undefined);
  some(({ requiresAny }) => requiresAny);
  some(({ step }) => step?.is === 'average' && step.everyMs === undefined);
  some(({ step, startWith }) => step?.is === 'ramp' && startWith !== undefined);
  some(({ from, to }) => isList(from) && to.some((id) => from.includes(id)));
  for (const word of ['"known"', '"fired"', '"previous"', '"choice"', '"switch"', '"waitMs"', '"isGiven"', '@2'])
    t.true(text.includes(word), word);
});
