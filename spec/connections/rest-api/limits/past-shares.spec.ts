// What questions about the past may cost: so many wait, and so many bytes of answers are unread, of one address and of all together.

import test from 'ava';
import { limits } from '../../../../lib/connections/rest-api/limits/client-limits.ts';
import type { LimitError } from '../../../../lib/connections/rest-api/limits/limit-hits.ts';
import { PastShares } from '../../../../lib/connections/rest-api/limits/past-shares.ts';

const most = limits.pastBytes.default;

test('the simultaneous queries of one address are limited, and others may query meanwhile', (t) => {
  const shares = new PastShares();
  const leave = Array.from({ length: limits.pastQuestions.default }, () => shares.enter('10.0.0.1'));
  const error = t.throws<LimitError>(() => shares.enter('10.0.0.1'));
  t.is(error.message, 'expected at most 1024 queries at a time from 10.0.0.1, got more');
  t.like(error, { code: 'unavailable', limit: 'pastQuestions' });
  t.notThrows(() => shares.enter('10.0.0.2'));
  leave[0]!();
  t.notThrows(() => shares.enter('10.0.0.1'));
  t.throws(() => shares.enter('10.0.0.1'));
});

test('only a client that does not read its answers is asked to read them first', (t) => {
  const shares = new PastShares();
  const leave = shares.enter('10.0.0.1');
  const free = shares.hold('10.0.0.1', most);
  const error = t.throws<LimitError>(() => shares.enter('10.0.0.1'));
  t.is(error.message, 'too many bytes of earlier answers are unread: read those answers first');
  t.like(error, { code: 'unavailable', limit: 'pastBytes' });
  t.notThrows(() => shares.enter('10.0.0.2'));
  free();
  leave();
  t.notThrows(() => shares.enter('10.0.0.1'));
});

test('all addresses together may leave four times as much unread', (t) => {
  const shares = new PastShares();
  const hold = (address: string) => {
    shares.enter(address);
    return shares.hold(address, most);
  };
  const [free] = ['a', 'b', 'c', 'd'].map(hold);
  const error = t.throws<LimitError>(() => shares.enter('e'));
  t.is(error.limit, 'pastBytes');
  free!();
  t.notThrows(() => shares.enter('e'));
});
