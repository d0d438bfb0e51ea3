// The short form of `npm run trial -- soak`: whatever goes wrong meanwhile, in the end the newest values are everywhere.

import test from 'ava';
import { createFolder } from '../support/folder.ts';
import { mistakesOf } from './soak/judge.ts';
import { soak } from './soak/run.ts';

test('dashboards that stall, a loop, a rule that fails and reloads: the newest values are everywhere in the end', async (t) => {
  t.timeout(600_000);
  const load = { dashboards: 4, stalled: 1, parameters: 100, changesPerSecond: 2, rate: 10 };
  const { mistakes, counts, mark, end } = await soak({
    folder: await createFolder(t),
    disk: undefined,
    lengthMs: 2000,
    task: { ...load, stallMs: 500, readMs: 200 },
    reloadMs: 700,
    isQuick: true,
    tell() {},
  });
  t.deepEqual(mistakes, []);
  t.true(counts.reloads > 0 && counts.kicks > 0);
  t.true(end.minutes > mark.minutes && mark.descriptors > 10);
});

test('what has grown by more than a twentieth is told, and files that stay open', (t) => {
  const mark = { minutes: 10, residentBytes: 100 * 2 ** 20, heapBytes: 50 * 2 ** 20, descriptors: 1000 };
  t.deepEqual(mistakesOf(mark, { ...mark, residentBytes: 104 * 2 ** 20, descriptors: 1008 }), []);
  t.deepEqual(mistakesOf(mark, { ...mark, heapBytes: 53 * 2 ** 20, descriptors: 1009 }), [
    'heap: expected at most 1.05 times 50.0 MiB, got 53.0',
    'descriptors: expected 1000, give or take 8, got 1009',
  ]);
});
