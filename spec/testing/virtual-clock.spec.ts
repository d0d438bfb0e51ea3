// The virtual clock: order, times, bounds, and that operators of rxjs run on it.

import test from 'ava';
import { debounceTime, interval, Subject, take } from 'rxjs';
import { maxActionsAtOneTime, VirtualClock } from '../../lib/testing/virtual-clock.ts';

test('actions run by time, equal times by age, and no later ones', (t) => {
  const clock = new VirtualClock();
  const seen: string[] = [];
  const at = (name: string, delayMs: number) => clock.schedule(() => void seen.push(`${name} ${clock.now()}`), delayMs);
  at('c', 20);
  at('a', 10);
  at('b', 10);
  at('late', 31);
  at('gone', 5).unsubscribe();
  clock.advanceTo(30);
  t.deepEqual(seen, ['a 10', 'b 10', 'c 20']);
  t.is(clock.now(), 30);
  clock.advanceTo(31);
  t.is(seen.at(-1), 'late 31');
});

test('work scheduled by an action runs in its turn, immediately without a delay', (t) => {
  const clock = new VirtualClock();
  const seen: number[] = [];
  clock.schedule(() => {
    seen.push(clock.now());
    clock.schedule(() => void seen.push(clock.now()));
    clock.schedule(() => void seen.push(clock.now()), -5);
    clock.schedule(() => void seen.push(clock.now()), 7);
  }, 3);
  clock.advanceTo(10);
  t.deepEqual(seen, [3, 3, 3, 10]);
});

test('operators of rxjs use its time', (t) => {
  const clock = new VirtualClock();
  const seen: string[] = [];
  interval(1000, clock)
    .pipe(take(3))
    .subscribe((value) => seen.push(`interval ${value} ${clock.now()}`));
  const keys$ = new Subject<string>();
  keys$.pipe(debounceTime(250, clock)).subscribe((key) => seen.push(`key ${key} ${clock.now()}`));
  keys$.next('a');
  clock.advanceTo(200);
  keys$.next('b');
  clock.advanceTo(5000);
  t.deepEqual(seen, ['key b 450', 'interval 0 1000', 'interval 1 2000', 'interval 2 3000']);
});

test('actions that restart one another at the same time forever are ended', (t) => {
  const clock = new VirtualClock();
  let runs = 0;
  const again = () => {
    runs++;
    clock.schedule(again);
  };
  clock.schedule(again, 10);
  t.throws(() => clock.advanceTo(20), { message: /^virtual time does not advance/ });
  t.is(runs, maxActionsAtOneTime);
});

test('it stops early on request, at the current time', (t) => {
  const clock = new VirtualClock();
  let runs = 0;
  for (const delayMs of [10, 20, 30]) clock.schedule(() => void runs++, delayMs);
  clock.advanceTo(100, () => runs === 2);
  t.is(clock.now(), 20);
});
