// How many requests of a round that has lasted long are answered at once.

import test from 'ava';
import { PostponedRequests } from '../../../../lib/connections/rest-api/http/postponed-requests.ts';
import type { LimitHits } from '../../../../lib/connections/rest-api/limits/limit-hits.ts';
import type { FairQueue } from '../../../../lib/connections/rest-api/pacing/fair-queue.ts';
import type { Round } from '../../../../lib/connections/rest-api/pacing/round.ts';

test('README: 1,500 requests, within 80 ms of work, and as many in the next round', (t) => {
  const round = { hasTime: () => false, workedMs: 79, number: 1 };
  const postponed = new PostponedRequests(round as unknown as Round, {} as FairQueue, {} as LimitHits);
  const answeredAtOnce = () => {
    let count = 0;
    while (postponed.hasTime()) count++;
    return count;
  };
  t.is(answeredAtOnce(), 1500);
  t.is(answeredAtOnce(), 0);
  round.number = 2;
  round.workedMs = 80;
  t.is(answeredAtOnce(), 0);
  round.workedMs = 10;
  t.true(answeredAtOnce() > 1490);
});
