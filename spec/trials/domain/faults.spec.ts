// The short form of `npm run trial -- faults`: of a pair under load the hub that runs is ended, then the other one
// killed, then all servers.

import test from 'ava';
import { eventually } from '../../support/deadline.ts';
import { needs } from '../../support/programs.ts';
import { checkTerms } from './check.ts';
import { startDomain } from './domain.ts';
import { endOf, killOf } from './fault.ts';
import { isolationOf } from './isolation.ts';
import { beginLoad, runRound } from './round.ts';

needs('nats');

test('a hub of a pair takes over, all hubs have the values of the owners, no two have run the same rules, and a pair runs none without servers', async (t) => {
  t.timeout(240_000);
  const domain = await startDomain({ parameters: 60, rate: 120, servers: 1 });
  t.teardown(() => domain.end());
  const acknowledged = new Map<string, number>();
  await beginLoad(domain, acknowledged);
  const pair = domain.hubs.slice(0, 2);
  const hasFiredIn = (count: number) =>
    eventually(async () => (await checkTerms(pair)).terms >= count, `rules that fire in ${count} terms`);
  await hasFiredIn(1);
  for (const [round, faultOf] of [endOf, killOf].entries()) {
    const running = pair.find(({ terms }) => terms.at(-1)?.term !== undefined)!;
    const result = await runRound(domain, faultOf(running), 200, 60_000, acknowledged);
    t.deepEqual(result.mistakes, [], result.text);
    t.true(result.takeoverMs !== undefined && result.acknowledged > 0, result.text);
    await hasFiredIn(round + 2);
    t.log(`${result.text}: takeover after ${result.takeoverMs} ms`);
  }
  const isolation = isolationOf(domain, acknowledged, { goesOn: false, staleMs: 30_000 });
  const result = await runRound(domain, isolation.fault, 6000, 60_000, acknowledged);
  t.deepEqual([...isolation.mistakes, ...result.mistakes], []);
  t.true(isolation.text.every((text) => text.includes('nothing is heard of it')));
  t.is(isolation.text.filter((text) => text.includes('works all the time')).length, 1, 'the hub that is in no pair');
  const { mistakes, terms, fired } = await checkTerms(pair);
  t.deepEqual(mistakes, []);
  t.true(terms >= 3 && fired > 100, `${terms} terms, ${fired} firings`);
});
