// Timer (S-15; D-07, D-08) in virtual time.

import test from 'ava';
import fc from 'fast-check';
import { lastValueFrom, type SchedulerLike, take, tap, VirtualTimeScheduler } from 'rxjs';
import { grid, timer } from '../../../lib/connections/timer/timer.ts';
import { monotonicScheduler } from '../../../lib/hub/index.ts';
import { describe } from '../../../lib/model/error.ts';
import { type ConnectionUnderTest, connect } from '../../support/connection.ts';

/** Runs a timer connection in virtual time: writes at given times, and what it set as `500 timer/1/trigger`. */
function run(settings: object, untilMs: number, writes: [atMs: number, id: string, input: unknown][] = []): string[] {
  const scheduler = new VirtualTimeScheduler();
  const connection = connect(timer, settings, { scheduler });
  const sets: string[] = [];
  const subscription = connection.events$.subscribe((event) => {
    if ('set' in event) sets.push(`${scheduler.now()} ${event.set}`);
  });
  for (const [atMs, id, input] of writes) scheduler.schedule(() => connection.write(id, input), atMs);
  scheduler.schedule(() => subscription.unsubscribe(), untilMs);
  scheduler.flush();
  return sets;
}

const start = 'timer/1/start';

test('a timer fires its trigger once, when the number written has elapsed', (t) => {
  t.deepEqual(run({ timers: [1000] }, 9000, [[100, start, 250]]), ['350 timer/1/trigger']);
});

const durations: [title: string, input: unknown, durationMs: number][] = [
  ['numeric text counts as a number', '250', 250],
  ['a float is truncated', 250.9, 250],
  ['true means the default', true, 700],
  ['false means the default', false, 700],
  ['text that is not a number means the default', 'go', 700],
  ['empty text means the default', '', 700],
  ['0 fires immediately', 0, 0],
  ['the longest is 2^31−1 ms', 2 ** 31 - 1, 2 ** 31 - 1],
];

for (const [title, input, durationMs] of durations)
  test(`D-07: ${title}`, (t) => {
    t.deepEqual(run({ timers: [700] }, 2 ** 31, [[0, start, input]]), [`${durationMs} timer/1/trigger`]);
  });

test('durations may be text', (t) => {
  const sets = run({ timers: ['1m30s'], pulses: [{ interval: '50s' }] }, 100_000, [[0, start, 'go']]);
  t.deepEqual(sets, ['50000 pulse/1', '90000 timer/1/trigger']);
});

for (const input of [-1, '-5', -0.5, 2 ** 31, '1e12', Number.POSITIVE_INFINITY])
  test(`D-07: ${input} is refused`, (t) => {
    t.like(
      t.throws(() => connect(timer, { timers: [1000] }).write(start, input)),
      { code: 'out-of-range' },
    );
  });

for (const input of [null, {}, [1], undefined, 5n])
  test(`D-07: ${describe(input)} is refused`, (t) => {
    t.like(
      t.throws(() => connect(timer, { timers: [1000] }).write(start, input)),
      { code: 'not-convertible' },
    );
  });

test('D-07: a start while the timer runs restarts it', (t) => {
  const writes: [number, string, unknown][] = [
    [0, start, 500],
    [400, start, 500],
    [800, start, 100],
  ];
  t.deepEqual(run({ timers: [1000] }, 9000, writes), ['900 timer/1/trigger']);
});

test('timers run side by side, and again after they have fired', (t) => {
  const writes: [number, string, unknown][] = [
    [0, 'timer/1/start', 300],
    [0, 'timer/2/start', 'x'],
    [1000, 'timer/1/start', 300],
  ];
  t.deepEqual(run({ timers: [1000, 200] }, 9000, writes), [
    '200 timer/2/trigger',
    '300 timer/1/trigger',
    '1300 timer/1/trigger',
  ]);
});

test('a timer connection without settings has 16 timers of 1000 ms and no pulse', (t) => {
  const connection = connect(timer, {});
  t.is(connection.parameters.length, 32);
  t.deepEqual(run({}, 9000, [[0, 'timer/16/start', 'go']]), ['1000 timer/16/trigger']);
});

test('D-08: timers and pulses are numbered from 1, with types and access of the specification', (t) => {
  const described = (connection: ConnectionUnderTest) =>
    connection.parameters.map(({ id, type, access }) => `${id} ${type} ${access}`);
  t.deepEqual(described(connect(timer, { timers: [1], pulses: [{}, { enabled: false }] })), [
    'timer/1/start I write-only',
    'timer/1/trigger T read-only',
    'pulse/1 T read-only',
    'pulse/2 T read-only',
  ]);
});

test('D-08: a pulse is enabled and has 1000 ms unless said', (t) => {
  t.deepEqual(run({ pulses: [{}, { enabled: false }] }, 3500), ['1000 pulse/1', '2000 pulse/1', '3000 pulse/1']);
});

test('pulses fire periodically at their own intervals', (t) => {
  t.deepEqual(run({ pulses: [{ interval: 300 }, { interval: 500 }] }, 1001), [
    '300 pulse/1',
    '500 pulse/2',
    '600 pulse/1',
    '900 pulse/1',
    '1000 pulse/2',
  ]);
});

/** A scheduler on which each action runs late by what `lateness` says. */
function createLateScheduler(lateness: () => number): VirtualTimeScheduler & SchedulerLike {
  const scheduler = new VirtualTimeScheduler();
  const schedule = scheduler.schedule.bind(scheduler);
  scheduler.schedule = ((work, delayMs = 0, state) => schedule(work, delayMs + lateness(), state)) as typeof schedule;
  return scheduler;
}

test('pulses stay on their grid, however late each one is', (t) => {
  const scheduler = createLateScheduler(() => 3);
  const times: number[] = [];
  const subscription = grid(10, scheduler).subscribe(() => times.push(scheduler.now()));
  scheduler.maxFrames = 1000;
  scheduler.flush();
  subscription.unsubscribe();
  t.deepEqual(times.slice(0, 4), [13, 23, 33, 43]);
  t.is(times.length, 99);
});

test('D-22: after a stall the missed pulses are counted, not fired in a burst, and the grid is kept', (t) => {
  const lateness = [0, 37, 0, 0];
  const scheduler = createLateScheduler(() => lateness.shift() ?? 0);
  const fires: [number, number][] = [];
  grid(10, scheduler)
    .pipe(take(4))
    .subscribe(({ missed }) => fires.push([scheduler.now(), missed]));
  scheduler.flush();
  t.deepEqual(fires, [
    [10, 0],
    [57, 3],
    [60, 0],
    [70, 0],
  ]);
});

test('missed pulses are logged with their number, at most every ten seconds', (t) => {
  const scheduler = new VirtualTimeScheduler();
  const late = { now: () => 25 * scheduler.now(), schedule: scheduler.schedule.bind(scheduler) } as SchedulerLike;
  const connection = connect(timer, { pulses: [{ interval: 100 }] }, { scheduler: late });
  scheduler.maxFrames = 1000;
  const subscription = connection.events$.subscribe();
  scheduler.flush();
  subscription.unsubscribe();
  const messages = connection.lines.map(({ message }) => message);
  t.is(messages.length, 3);
  t.regex(messages[0]!, /^pulse\/1 missed \d+ pulses: the hub was busy or asleep$/);
});

test('pulses and missed pulses together are exactly the grid, for any lateness', (t) => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.nat(200), { minLength: 20, maxLength: 20 }),
      (interval, late) => {
        const scheduler = createLateScheduler(() => late.shift() ?? 0);
        let last = 0;
        let counted = 0;
        grid(interval, scheduler)
          .pipe(take(20))
          .subscribe(({ missed }) => {
            counted += 1 + missed;
            last = scheduler.now();
          });
        scheduler.flush();
        return counted === Math.floor(last / interval);
      },
    ),
  );
  t.pass();
});

test('a pulse on the real clock does not drift', async (t) => {
  const startedAt = monotonicScheduler.now();
  let counted = 0;
  /** How many places of the grid have passed and were neither fired nor missed, at each fire. */
  const behind: number[] = [];
  const note = ({ missed }: { missed: number }) => {
    counted += 1 + missed;
    behind.push(Math.floor((monotonicScheduler.now() - startedAt) / 10) - counted);
  };
  await lastValueFrom(grid(10, monotonicScheduler).pipe(take(100), tap(note)));
  const drift = Math.min(...behind.slice(-20)) - Math.min(...behind.slice(0, 20)); // of a clock that drifts by a twentieth, 4
  t.true(drift <= 1, `${drift} places`);
});
