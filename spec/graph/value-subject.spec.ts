// The subject of parameters does what a BehaviorSubject does. It uses two fields of rxjs that rxjs promises to nobody,
// `_value` and `observers`: this spec fails when rxjs keeps the value or the observers elsewhere.

import test from 'ava';
import fc from 'fast-check';
import { BehaviorSubject, type Subscription } from 'rxjs';
import { ValueSubject } from '../../lib/graph/value-subject.ts';
import '../support/own-process.ts';

/** What happens to a subject: a value, an observer that comes, or the oldest one that leaves. */
const events = fc.array(
  fc.oneof(
    fc.record({ next: fc.integer({ min: 0, max: 3 }) }),
    fc.constantFrom('subscribe' as const, 'unsubscribe' as const),
  ),
);

/** What the observers of a subject are told, and what it says that its value is, step by step. */
function record(subject: BehaviorSubject<number>, steps: readonly ({ next: number } | 'subscribe' | 'unsubscribe')[]) {
  const told: string[] = [];
  const subscriptions: Subscription[] = [];
  let count = 0;
  for (const step of steps) {
    if (step === 'unsubscribe') subscriptions.shift()?.unsubscribe();
    else if (step === 'subscribe') {
      const name = ++count;
      subscriptions.push(subject.subscribe((value) => told.push(`${name}: ${value}`)));
    } else subject.next(step.next);
    told.push(`value ${subject.value}, kept ${subject.getValue()}`);
  }
  return told;
}

test('it tells, replays and keeps as a BehaviorSubject does, with no observer, one and many', (t) => {
  fc.assert(
    fc.property(events, (steps) => {
      t.deepEqual(record(new ValueSubject(9), steps), record(new BehaviorSubject(9), steps));
    }),
  );
});

test('50,000 observers leave in no time, in any order, and those that stay are told in their order', (t) => {
  const subject = new ValueSubject(0);
  let told: number[] = [];
  const subscriptions = Array.from({ length: 50_000 }, (_, index) => subject.subscribe(() => told.push(index)));
  const start = process.cpuUsage();
  for (const [index, subscription] of subscriptions.entries()) if (index % 1000 !== 999) subscription.unsubscribe();
  const { user } = process.cpuUsage(start);
  told = [];
  subject.next(1);
  t.deepEqual(
    told,
    Array.from({ length: 50 }, (_, index) => index * 1000 + 999),
  );
  t.true(subject.observers.length <= 100);
  t.true(user < 500_000, `${user} µs`); // by searching and moving it takes seconds
});

test('rxjs keeps the value and the observers where the subject looks for them', (t) => {
  const subject = new BehaviorSubject(1);
  const kept = subject as unknown as { _value: number };
  subject.next(2);
  t.is(kept._value, 2, '_value');
  kept._value = 3;
  t.is(subject.getValue(), 3, '_value is where rxjs reads it');
  const subscription = subject.subscribe();
  t.is(subject.observers.length, 1, 'observers');
  subscription.unsubscribe();
  t.is(subject.observers.length, 0, 'observers');
});
