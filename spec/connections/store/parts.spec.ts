// The parts of a store run by themselves.

import test from 'ava';
import { NEVER, Observable, Subject, VirtualTimeScheduler } from 'rxjs';
import type { ConnectionEvent } from '../../../lib/connections/connection.ts';
import { runParts } from '../../../lib/connections/store/parts.ts';

function follow(parts: Record<string, Observable<ConnectionEvent>>, scheduler = new VirtualTimeScheduler()) {
  const events: ConnectionEvent[] = [];
  const subscription = runParts(parts, scheduler).subscribe((event) => events.push(event));
  return { events, subscription };
}

test('the store runs once all of its parts do, and its reason combines theirs', (t) => {
  const values = new Subject<ConnectionEvent>();
  const history = new Subject<ConnectionEvent>();
  const { events } = follow({ values, history });
  values.next({ state: 'running' });
  t.deepEqual(events, []);
  history.next({ state: 'running' });
  values.next({ state: 'degraded', reason: 'the disk is slow' });
  history.next({ state: 'degraded', reason: 'the disk is full' });
  values.next({ state: 'running' });
  values.next({ state: 'running' });
  history.next({ state: 'running' });
  t.deepEqual(events, [
    { state: 'running' },
    { state: 'degraded', reason: 'the disk is slow' },
    { state: 'degraded', reason: 'the disk is slow; history: the disk is full' },
    { state: 'degraded', reason: 'history: the disk is full' },
    { state: 'running' },
  ]);
});

test('values of parameters are passed on', (t) => {
  const part = new Subject<ConnectionEvent>();
  const { events } = follow({ values: NEVER, snapshots: part });
  part.next({ set: 'studio/matches', value: true });
  t.deepEqual(events, [{ set: 'studio/matches', value: true }]);
});

test('a failed part restarts after one second, then two; the others continue', (t) => {
  const scheduler = new VirtualTimeScheduler();
  const startedAt: number[] = [];
  const history = new Observable<ConnectionEvent>((subscriber) => {
    startedAt.push(scheduler.now());
    if (startedAt.length < 3) subscriber.error(new Error('the thread has ended'));
    else subscriber.next({ state: 'running' });
  });
  const { events } = follow({ values: new Observable((one) => one.next({ state: 'running' })), history }, scheduler);
  scheduler.flush();
  t.deepEqual(startedAt, [0, 1000, 3000]);
  t.deepEqual(events, [{ state: 'degraded', reason: 'history: the thread has ended' }, { state: 'running' }]);
});

test('a waiting restart ends with the store', (t) => {
  const scheduler = new VirtualTimeScheduler();
  let starts = 0;
  const failing = new Observable<ConnectionEvent>((subscriber) => {
    starts++;
    subscriber.error(new Error('no'));
  });
  const { subscription } = follow({ values: failing }, scheduler);
  subscription.unsubscribe();
  scheduler.flush();
  t.is(starts, 1);
});
