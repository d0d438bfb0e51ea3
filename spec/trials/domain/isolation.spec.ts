// The short form of `npm run trial -- isolation --go-on 1`; a pair that is not told to go on is a part of `faults.spec.ts`.

import test from 'ava';
import { needs } from '../../support/programs.ts';
import { startDomain } from './domain.ts';
import { isolationOf } from './isolation.ts';
import { beginLoad, runRound } from './round.ts';

needs('nats');

test('without servers values of other hubs are stale, a hub of its own works, a pair does when it is told to, and all of it heals', async (t) => {
  t.timeout(240_000);
  const domain = await startDomain({ parameters: 40, rate: 80, servers: 1, goesOn: true });
  t.teardown(() => domain.end());
  const acknowledged = new Map<string, number>();
  await beginLoad(domain, acknowledged);
  const isolation = isolationOf(domain, acknowledged, { goesOn: true, staleMs: 30_000 });
  const result = await runRound(domain, isolation.fault, 6000, 60_000, acknowledged);
  t.deepEqual([...isolation.mistakes, ...result.mistakes], []);
  t.is(isolation.text.filter((text) => text.includes('works all the time')).length, 2);
  t.true(isolation.text.every((text) => text.includes('nothing is heard of it')));
});
