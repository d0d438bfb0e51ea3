// A parameter with state behaves like a BehaviorSubject of rxjs, a trigger like a Subject, with no, one and many listeners.

import test from 'ava';
import fc from 'fast-check';
import { BehaviorSubject, type Observable, Subject, type Subscription } from 'rxjs';
import { Emitter } from '../../lib/graph/emitter.ts';
import { Graph } from '../../lib/graph/graph.ts';
import type { Origin } from '../../lib/model/parameter.ts';
import '../support/own-process.ts';

/** An event of a stream: a value, a new subscriber, or the end of the oldest one. */
const events = fc.array(
  fc.oneof(
    fc.record({ next: fc.integer({ min: 0, max: 3 }) }),
    fc.constantFrom('subscribe' as const, 'unsubscribe' as const),
  ),
);

type Step = { next: number } | 'subscribe' | 'unsubscribe';

/** The values that the subscribers of a stream get, step by step. */
function record(stream$: Observable<unknown>, next: (value: number) => void, steps: readonly Step[]) {
  const heard: string[] = [];
  const subscriptions: Subscription[] = [];
  let count = 0;
  for (const step of steps) {
    if (step === 'unsubscribe') subscriptions.shift()?.unsubscribe();
    else if (step === 'subscribe') {
      const name = ++count;
      subscriptions.push(stream$.subscribe((value) => heard.push(`${name}: ${value}`)));
    } else next(step.next);
  }
  return heard;
}

const owner: Origin = { kind: 'connection', name: 'desk' };

test('a parameter with state emits and replays like a BehaviorSubject', (t) => {
  fc.assert(
    fc.property(events, (steps) => {
      const graph = new Graph();
      graph.declare(owner, [{ id: 'level', type: 'I', access: 'read-write' }]);
      const level = graph.get('desk/level');
      const subject = new BehaviorSubject<number | undefined>(undefined);
      const next = (value: number) => value !== subject.value && subject.next(value); // an equal value does not count as a change
      t.deepEqual(
        record(level as Observable<unknown>, (value) => graph.writeTo(level, value, owner), steps),
        record(subject, next, steps),
      );
      t.is(level.value, subject.value);
    }),
  );
});

test('a trigger emits like a Subject', (t) => {
  fc.assert(
    fc.property(events, (steps) => {
      const [emitter, subject] = [new Emitter<number>(), new Subject<number>()];
      t.deepEqual(
        record(emitter, (value) => emitter.emit(value), steps),
        record(subject, (value) => subject.next(value), steps),
      );
    }),
  );
});

test('a listener added during an emission does not get the value, and one that is removed does not get it any more', (t) => {
  for (const others of [0, 1, 30]) {
    const emitter = new Emitter<number>();
    const heard: string[] = [];
    const leaving: Subscription[] = [];
    emitter.subscribe((value) => {
      heard.push(`first ${value}`);
      if (value === 1) emitter.subscribe((later) => heard.push(`come ${later}`));
      for (const subscription of leaving) subscription.unsubscribe();
    });
    for (let count = 0; count < others; count++) leaving.push(emitter.subscribe(() => heard.push('left')));
    emitter.emit(1);
    emitter.emit(2);
    t.deepEqual(heard, ['first 1', 'first 2', 'come 2'], `${others} others`);
  }
});

test('50,000 listeners are removed quickly, in any order, and the remaining ones are called in order', (t) => {
  const emitter = new Emitter<number>();
  let heard: number[] = [];
  const subscriptions = Array.from({ length: 50_000 }, (_, index) => emitter.subscribe(() => heard.push(index)));
  const start = process.cpuUsage();
  for (const [index, subscription] of subscriptions.entries()) if (index % 1000 !== 999) subscription.unsubscribe();
  const { user } = process.cpuUsage(start);
  heard = [];
  emitter.emit(1);
  t.deepEqual(
    heard,
    Array.from({ length: 50 }, (_, index) => index * 1000 + 999),
  );
  t.is(emitter.listenerCount, 50);
  t.true(user < 500_000, `${user} µs`); // by searching and moving it takes seconds
  for (const [index, subscription] of subscriptions.entries()) if (index % 1000 === 999) subscription.unsubscribe();
  t.is(emitter.listenerCount, 0);
});
