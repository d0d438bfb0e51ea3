// The short form of `node bench/faults.ts`: of a pair under load the hub that runs is ended, then the other one killed.

import test from 'ava';
import { checkTerms, expectMirrored } from '../../bench/faults/check.ts';
import { startDomain } from '../../bench/faults/domain.ts';
import { endOf, killOf } from '../../bench/faults/fault.ts';
import { runRound } from '../../bench/faults/round.ts';
import { needs } from '../support/programs.ts';

needs('nats');

test('a hub of a pair takes over, all hubs have the values of the owners, and no two have run the same rules', async (t) => {
  t.timeout(240_000);
  const domain = await startDomain({ parameters: 120, rate: 200, servers: 1 });
  t.teardown(() => domain.end());
  const acknowledged = new Map<string, number>();
  for (const hub of domain.hubs) hub.ask('pause');
  await expectMirrored(domain.hubs, performance.now(), 60_000, acknowledged);
  for (const hub of domain.hubs) hub.ask('go on');
  for (const faultOf of [endOf, killOf]) {
    const running = domain.hubs.slice(0, 2).find(({ terms }) => terms.at(-1)?.term !== undefined)!;
    const result = await runRound(domain, faultOf(running), 200, 60_000, acknowledged);
    t.deepEqual(result.mistakes, [], result.text);
    t.true(result.takeoverMs !== undefined && result.acknowledged > 0, result.text);
    t.log(`${result.text}: takeover after ${result.takeoverMs} ms`);
  }
  const { mistakes, terms, fired } = await checkTerms(domain.hubs.slice(0, 2));
  t.deepEqual(mistakes, []);
  t.true(terms >= 2 && fired > 100, `${terms} terms, ${fired} firings`); // the last one may not have fired yet
});
