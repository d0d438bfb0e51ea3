// Rules with a source in common do not cost more, each of them, where they are many: the subject of the benchmark, small.

import { resolve } from 'node:path';
import test from 'ava';
import { measureRuleGrowth } from '../load/flows/rule-growth.ts';

const hubFolder = resolve(import.meta.dirname, '../..');

test('a run of a rule with named sources costs no more of the kind that comparing all rules with one another would', async (t) => {
  const measured = await measureRuleGrowth({
    hubFolder,
    shape: 'named sources on one source',
    few: 20,
    many: 1000,
    runs: 2000,
    turns: 2,
  });
  t.true(measured.hubNs > 0 && measured.startUs > 0);
  const growth = measured.hubGrowth / measured.controlGrowth;
  t.true(growth < 12, `${growth}`); // by comparing, it grows fiftyfold
});
