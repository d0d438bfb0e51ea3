// How many requests of a round that has lasted long are answered at once.

import test from 'ava';
import { keepRequest, PostponedRequests } from '../../../../lib/connections/rest-api/http/postponed-requests.ts';
import type { LimitHits } from '../../../../lib/connections/rest-api/limits/limit-hits.ts';
import type { FairQueue } from '../../../../lib/connections/rest-api/pacing/fair-queue.ts';
import type { Round } from '../../../../lib/connections/rest-api/pacing/round.ts';
import type { HttpRequest } from '../../../../lib/net/uws.ts';

function postpone() {
  const round = { hasTime: () => false, workedMs: 0, publishingMs: 0, number: 1 };
  const postponed = new PostponedRequests(round as unknown as Round, {} as FairQueue, {} as LimitHits);
  return { round, postponed };
}

test('docs/limits.md: requests are answered for 25 ms beyond the 5 ms of a round', (t) => {
  const { round, postponed } = postpone();
  round.workedMs = 29;
  t.true(postponed.hasTime());
  round.workedMs = 30.5;
  t.false(postponed.hasTime());
  round.number++;
  round.workedMs = 6;
  t.true(postponed.hasTime(), 'the next round has as much');
});

test('README: after a total of 75 ms beyond that, requests are only answered for the 5 ms of a round, because the allowance returns slowly', (t) => {
  const { round, postponed } = postpone();
  for (let count = 0; count < 3; count++) {
    round.number++;
    round.workedMs = 30.5;
    postponed.hasTime();
  }
  round.number++;
  round.workedMs = 6;
  t.false(postponed.hasTime());
});

test('several rounds share the allowance', (t) => {
  const { round, postponed } = postpone();
  for (let count = 0; count < 3; count++) {
    round.number++;
    round.workedMs = 29;
    t.true(postponed.hasTime(), `${count}`);
  }
  round.number++;
  round.workedMs = 15;
  t.false(postponed.hasTime());
});

test('publications of requests count', (t) => {
  const { round, postponed } = postpone();
  round.workedMs = 4;
  for (round.publishingMs = 1; round.publishingMs < 26; round.publishingMs += 8) t.true(postponed.hasTime());
  round.publishingMs = 27;
  t.false(postponed.hasTime());
});

test('a request that waits has the parameters of its query, all and by name', (t) => {
  const query = 'parameter=desk/i&value=3&confirm=2s';
  const [getMethod, getCaseSensitiveMethod, getUrl, getQuery] = [
    () => 'get',
    () => 'GET',
    () => '/update',
    () => query,
  ];
  const kept = keepRequest({
    getMethod,
    getCaseSensitiveMethod,
    getUrl,
    getQuery,
    forEach() {},
  } as unknown as HttpRequest);
  t.is(kept.getQuery(), query);
  t.is(kept.getQuery('confirm'), '2s');
  t.is(kept.getQuery('other'), undefined);
});
