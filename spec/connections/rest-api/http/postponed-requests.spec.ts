// How many requests of a round that has lasted long are answered at once.

import test from 'ava';
import { PostponedRequests } from '../../../../lib/connections/rest-api/http/postponed-requests.ts';
import type { LimitHits } from '../../../../lib/connections/rest-api/limits/limit-hits.ts';
import type { FairQueue } from '../../../../lib/connections/rest-api/pacing/fair-queue.ts';
import type { Round } from '../../../../lib/connections/rest-api/pacing/round.ts';

function postpone() {
  const round = { hasTime: () => false, workedMs: 0, publishingMs: 0, number: 1 };
  const postponed = new PostponedRequests(round as unknown as Round, {} as FairQueue, {} as LimitHits);
  return { round, postponed };
}

test('README: requests are answered for 75 ms more than the 5 ms of a round, which come back slowly', (t) => {
  const { round, postponed } = postpone();
  round.workedMs = 79;
  t.true(postponed.hasTime());
  round.workedMs = 80.5;
  t.false(postponed.hasTime());
  round.number++;
  round.workedMs = 6;
  t.false(postponed.hasTime(), 'these of the last round are used up');
});

test('several rounds take them together', (t) => {
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

test('what requests publish counts', (t) => {
  const { round, postponed } = postpone();
  round.workedMs = 4;
  for (round.publishingMs = 8; round.publishingMs < 75; round.publishingMs += 8) t.true(postponed.hasTime());
  round.publishingMs = 77;
  t.false(postponed.hasTime());
});
