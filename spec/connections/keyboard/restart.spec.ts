// Restarts in virtual time; each column of a diagram is a millisecond unless it says otherwise.

import test from 'ava';
import { concat, defer, NEVER, type Observable, of, throwError, timer } from 'rxjs';
import { ignoreElements } from 'rxjs/operators';
import { TestScheduler } from 'rxjs/testing';
import type { ConnectionEvent } from '../../../lib/connections/connection.ts';
import { restartWithBackoff } from '../../../lib/connections/keyboard/session.ts';

const running: ConnectionEvent = { state: 'running' };
const degraded: ConnectionEvent = { state: 'degraded', reason: 'gone' };
const gone = throwError(() => new Error('gone'));

test('a session that errs starts again after 1, 2, 4, 8, 10, 10 seconds', (t) => {
  const scheduler = new TestScheduler((actual, expected) => t.deepEqual(actual, expected));
  scheduler.run(({ expectObservable }) =>
    expectObservable(restartWithBackoff(gone, scheduler), '^ 40s !').toBe(
      'd 999ms d 1999ms d 3999ms d 7999ms d 9999ms d 9999ms d',
      { d: degraded },
    ),
  );
});

test('a session that ran for a minute starts its backoff anew', (t) => {
  const scheduler = new TestScheduler((actual, expected) => t.deepEqual(actual, expected));
  scheduler.run(({ expectObservable }) => {
    const lives = [gone, gone, gone, concat(of(running), timer(60_000, scheduler).pipe(ignoreElements()), gone), gone];
    const session$: Observable<ConnectionEvent> = defer(() => lives.shift() ?? concat(of(running), NEVER));
    expectObservable(restartWithBackoff(session$, scheduler)).toBe(
      'd 999ms d 1999ms d 3999ms r 59999ms d 999ms d 1999ms r',
      { d: degraded, r: running },
    );
  });
});

test('stopping while it waits starts nothing', (t) => {
  const scheduler = new TestScheduler((actual, expected) => t.deepEqual(actual, expected));
  let starts = 0;
  scheduler.run(({ expectObservable }) => {
    const session$ = defer(() => {
      starts++;
      return gone;
    });
    expectObservable(restartWithBackoff(session$, scheduler), '^ 500ms !').toBe('d', { d: degraded });
  });
  t.is(starts, 1);
});

test('10,000 restarts hold no more than the first', (t) => {
  const scheduler = new TestScheduler(() => {});
  let starts = 0;
  scheduler.run(() => {
    const session$ = defer(() => (++starts < 10_000 ? gone : NEVER));
    restartWithBackoff(session$, scheduler).subscribe({ error: (error) => t.fail(String(error)) });
  });
  t.is(starts, 10_000);
});
