// The short form of `node bench/isolation.ts`.

import test from 'ava';
import { startDomain } from '../../bench/faults/domain.ts';
import { isolationOf } from '../../bench/faults/isolation.ts';
import { beginLoad, runRound } from '../../bench/faults/round.ts';
import { needs } from '../support/programs.ts';

needs('nats');

test('without servers values of other hubs are stale, a hub of its own works, a pair does when it is told to, and all of it heals', async (t) => {
  t.timeout(240_000);
  await Promise.all(
    [false, true].map(async (goesOn) => {
      const domain = await startDomain({ parameters: 120, rate: 200, servers: 1, goesOn });
      t.teardown(() => domain.end());
      const acknowledged = new Map<string, number>();
      await beginLoad(domain, acknowledged);
      const isolation = isolationOf(domain, acknowledged, { goesOn, staleMs: 30_000 });
      const result = await runRound(domain, isolation.fault, 6000, 60_000, acknowledged);
      t.deepEqual([...isolation.mistakes, ...result.mistakes], []);
      const works = isolation.text.map((text) => text.includes('works all the time'));
      t.is(works.filter(Boolean).length, goesOn ? 2 : 1);
      t.true(isolation.text.every((text) => text.includes('nothing is heard of it')));
    }),
  );
});
