// How often credentials may be wrong, and who is suspected of guessing.

import test from 'ava';
import { Attempts } from '../../../../../lib/connections/rest-api/http/guard/attempts.ts';

function createAttempts(perSecond = 1) {
  let now = 0;
  const attempts = new Attempts(perSecond, () => now);
  const wrong = (address: string, user = '') => attempts.wrong(address, user)?.message ?? 'not yet';
  return {
    attempts,
    wrong,
    /** How many of so many wrong ones are within the limit. */
    within: (address: string, count: number, user?: string) =>
      Array.from({ length: count }, () => wrong(address, user)).filter((answer) => answer === 'not yet').length,
    wait(ms: number) {
      now += ms;
    },
  };
}

test('twenty wrong credentials of a network are below the limit, then one a second; other networks have their own', (t) => {
  const { within, wait, wrong } = createAttempts();
  t.is(within('192.0.2.1', 1000), 20);
  t.is(within('192.0.2.2', 1), 1);
  wait(999);
  t.is(within('192.0.2.1', 1000), 0);
  wait(1);
  t.is(within('192.0.2.1', 1000), 1);
  wait(3_600_000);
  t.is(within('192.0.2.1', 1000), 20);
  for (let network = 0; network < 20_000; network++) wrong(`network ${network}`);
  t.is(within('192.0.2.1', 1), 1, 'networks are forgotten when there are too many');
});

test('wrong credentials for a user count for the user as well, from any network', (t) => {
  const { within, wrong, attempts } = createAttempts(2);
  for (let network = 0; network < 20; network++) t.is(wrong(`192.0.2.${network}`, 'ann'), 'not yet');
  const expected = 'Authorization: expected at most 2 wrong credentials per second for this user, got more';
  t.is(wrong('192.0.2.77', 'ann'), expected);
  t.is(attempts.wrong('192.0.2.77', 'ann')?.retryAfterSeconds, 1);
  t.is(within('192.0.2.77', 1, 'bob'), 1);
  t.true(attempts.asker('192.0.2.78', 'ann', () => false).isSlowed());
  t.false(attempts.asker('192.0.2.78', 'bob', () => false).isSlowed());
});

test('clients without recent mistakes of their network and user come first, above all from a known network', (t) => {
  const { attempts, wrong, wait } = createAttempts();
  const suspicionOf = (address: string, user: string) => attempts.asker(address, user, () => false).suspicion();
  t.is(suspicionOf('192.0.2.1', 'ann'), 1);
  wrong('192.0.2.66', 'ann');
  t.is(suspicionOf('192.0.2.1', 'ann'), 2, 'somebody was wrong for this user');
  t.is(suspicionOf('192.0.2.66', 'bob'), 2, 'somebody of this network was wrong');
  t.is(suspicionOf('192.0.2.66', 'ann'), 3);
  for (let guess = 0; guess < 10; guess++) wrong('192.0.2.66', 'ann');
  t.is(suspicionOf('192.0.2.66', 'ann'), 5);
  t.is(suspicionOf('192.0.2.66', 'bob'), 3);
  t.is(suspicionOf('192.0.2.1', 'bob'), 1);
  attempts.right('192.0.2.1', 'ann');
  t.is(suspicionOf('192.0.2.1', 'ann'), 0, 'whoever guesses elsewhere does not matter');
  attempts.right('192.0.2.66', 'ann');
  t.is(suspicionOf('192.0.2.66', 'ann'), 2);
  wait(600_001);
  t.is(suspicionOf('192.0.2.66', 'bob'), 1, 'after ten minutes it is forgotten');
});

test('an IPv6 /64 is one network', (t) => {
  const { within } = createAttempts();
  t.is(within('2001:0db8:0000:0000:0000:0000:0000:0001', 30), 20);
  t.is(within('2001:0db8:0000:0000:ffff:0000:0000:0001', 30), 0);
  t.is(within('2001:0db8:0000:0001:0000:0000:0000:0001', 30), 20);
});
