// Schedules in virtual time, beside a model that only looks at the clocks of a zone.

import test from 'ava';
import { schedule } from '../../../lib/connections/schedule/schedule.ts';
import { VirtualClock } from '../../../lib/testing/virtual-clock.ts';
import { connect } from '../../support/connection.ts';
import { mistakesOf } from '../../support/core.ts';

const minuteMs = 60_000;
const dayMs = 1440 * minuteMs;

/** Runs a schedule from a moment on; what it sets is told with the time of day. */
function start(zone: string, entries: object, from: string) {
  const clock = new VirtualClock();
  const set: string[] = [];
  const day = { startMs: Date.parse(from) };
  const now = () => day.startMs + clock.now();
  const connection = connect(schedule, { zone, entries }, { scheduler: clock, timeOfDay: now });
  const last = new Map<string, unknown>();
  connection.events$.subscribe((event) => {
    if (!('set' in event)) return;
    const isChange = event.set.startsWith('at') || last.get(event.set) !== event.value;
    last.set(event.set, event.value);
    if (isChange) set.push(`${new Date(now()).toISOString().slice(0, 19)} ${event.set} ${event.value}`);
  });
  const pass = (ms: number) => clock.advanceTo(clock.now() + ms);
  return { set, pass, day, lines: connection.lines, take: () => set.splice(0) };
}

interface Times {
  readonly at?: readonly number[];
  readonly from?: number;
  readonly to?: number;
}

/** Local minutes of the day; those of `to` may be of the next one. */
const times: Readonly<Record<string, Times>> = {
  'at/news': { at: Array.from({ length: 24 }, (_, hour) => hour * 60) },
  'at/twice': { at: [105, 150] },
  day: { from: 360, to: 1320 },
  night: { from: 1320, to: 1800 },
  skipped: { from: 130, to: 150 },
  early: { from: 95, to: 110 },
};
const entries = {
  'at/news': { at: '*:00' },
  'at/twice': { at: ['01:45', '02:30'] },
  day: { from: '06:00', to: '22:00' },
  night: { from: '22:00', to: '06:00' },
  skipped: { from: '02:10', to: '02:30' },
  early: { from: '01:35', to: '01:50' },
};

/**
 * What happens in a zone, minute by minute: all that the clocks there have reached or gone past for the first time. A time that comes
 * twice is not reached again, and the minute of a shift reaches all that it skips.
 */
function model(zone: string, fromMs: number, untilMs: number): string[] {
  const clocks = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  const events = new Map<number, [name: string, value: boolean][]>();
  for (let day = Math.floor(fromMs / dayMs) - 2; day * dayMs < untilMs + 2 * dayMs; day++)
    for (const [name, { at, from, to }] of Object.entries(times)) {
      const on = (minute: number, value: boolean) => {
        const local = day * 1440 + minute;
        events.set(local, [...(events.get(local) ?? []), [name, value]]);
      };
      for (const minute of at ?? []) on(minute, true);
      if (from !== undefined) on(from, true);
      if (to !== undefined) on(to, false);
    }
  const happened: string[] = [];
  const states = new Map<string, boolean>();
  let peak: number | undefined;
  for (let half = fromMs; half < untilMs; half += 30 * minuteMs) {
    const local = Date.parse(`${clocks.format(half).replace(' ', 'T')}Z`) / minuteMs; // clocks change on half hours here
    for (let minute = 0; minute < 30; minute++) {
      const now = local + minute;
      if (peak !== undefined && (now <= peak || (now === peak + 1 && !events.has(now)))) {
        peak = Math.max(peak, now);
        continue;
      }
      const fired = new Set<string>();
      const before = new Map(states);
      for (let reached = peak === undefined ? now - 2880 : peak + 1; reached <= now; reached++)
        for (const [name, value] of events.get(reached) ?? [])
          if (!name.startsWith('at')) states.set(name, value);
          else if (peak !== undefined) fired.add(name);
      peak = Math.max(peak ?? now, now);
      const time = new Date(half + minute * minuteMs).toISOString().slice(0, 19);
      for (const name of Object.keys(times))
        if (fired.has(name)) happened.push(`${time} ${name} true`);
        else if (states.get(name) !== before.get(name)) happened.push(`${time} ${name} ${states.get(name)}`);
    }
  }
  return happened;
}

const year: [zone: string, forward: string[], back: string[]][] = [
  [
    'Europe/Berlin',
    ['2026-03-29T01:00:00 at/twice true', '2026-03-29T01:00:00 at/news true'],
    ['2026-10-25T00:30:00 at/twice true', '2026-10-25T02:00:00 at/news true'],
  ],
  [
    'America/New_York',
    ['2026-03-08T07:00:00 at/twice true', '2026-03-08T07:00:00 at/news true'],
    ['2026-11-01T05:45:00 at/twice true', '2026-11-01T07:00:00 at/news true'],
  ],
  [
    'Australia/Lord_Howe',
    ['2026-10-03T15:30:00 at/twice true', '2026-10-03T15:30:00 at/news true'],
    ['2026-04-04T14:45:00 at/twice true', '2026-04-04T15:30:00 at/news true'],
  ],
];

for (const [zone, forward, back] of year)
  test(`over both clock changes of a year in ${zone}: a skipped time fires at the shift, a doubled one once`, (t) => {
    const [from, until] = ['2026-01-01T00:00Z', '2027-01-01T00:00Z'];
    const run = start(zone, entries, from);
    run.pass(Date.parse(until) - Date.parse(from) - 1);
    const expected = model(zone, Date.parse(from), Date.parse(until));
    t.true(expected.length > 10_000);
    const sort = (lines: readonly string[]) => [...lines].sort();
    const [got, wanted] = [sort(run.set), sort(expected)];
    const index = got.findIndex((line, place) => line !== wanted[place]);
    t.deepEqual(got.slice(index, index + 6), wanted.slice(index, index + 6));
    t.is(got.length, wanted.length);
    for (const line of [...forward, ...back]) t.is(got.filter((one) => one === line).length, 1, line);
    t.is(got.filter((line) => line.includes('at/twice')).length, 2 * 365);
    t.deepEqual(run.lines, []);
  });

const december = '2026-12-21T00:00+01:00'; // a Monday

test('days of the week, dates and exceptions; an opening belongs to the day on which it begins', (t) => {
  const run = start(
    'Europe/Berlin',
    {
      week: { days: 'mon-tue,thu', from: '22:00', to: '06:00', except: ['2026-12-24'] },
      holidays: { dates: ['12-24..12-26', '2026-12-31'] },
      at: { days: 'sat', dates: ['2026-12-23'], at: '12:00:30' },
      turn: { dates: ['12-30..01-02'], except: ['01-01'], from: '10:00', to: '11:00' },
    },
    december,
  );
  t.deepEqual(run.take(), [
    '2026-12-20T23:00:00 week false',
    '2026-12-20T23:00:00 holidays false',
    '2026-12-20T23:00:00 turn false',
  ]);
  run.pass(14 * dayMs);
  t.deepEqual(run.take(), [
    '2026-12-21T21:00:00 week true',
    '2026-12-22T05:00:00 week false',
    '2026-12-22T21:00:00 week true',
    '2026-12-23T05:00:00 week false',
    '2026-12-23T11:00:30 at true',
    '2026-12-23T23:00:00 holidays true',
    '2026-12-26T11:00:30 at true',
    '2026-12-26T23:00:00 holidays false',
    '2026-12-28T21:00:00 week true',
    '2026-12-29T05:00:00 week false',
    '2026-12-29T21:00:00 week true',
    '2026-12-30T05:00:00 week false',
    '2026-12-30T09:00:00 turn true',
    '2026-12-30T10:00:00 turn false',
    '2026-12-30T23:00:00 holidays true',
    '2026-12-31T09:00:00 turn true',
    '2026-12-31T10:00:00 turn false',
    '2026-12-31T21:00:00 week true',
    '2026-12-31T23:00:00 holidays false',
    '2027-01-01T05:00:00 week false',
    '2027-01-02T09:00:00 turn true',
    '2027-01-02T10:00:00 turn false',
    '2027-01-02T11:00:30 at true',
  ]);
});

test('an entry whose next day is far away fires on that day', (t) => {
  const run = start(
    'UTC',
    { at: { dates: ['2028-02-29'], at: '08:00' }, 'at/leap': { dates: ['02-29'], at: '08:00' } },
    december,
  );
  run.pass(900 * dayMs);
  t.deepEqual(run.set, ['2028-02-29T08:00:00 at true', '2028-02-29T08:00:00 at/leap true']);
});

test('a state is right at the start, when nothing fires', (t) => {
  const run = start('UTC', { night: { from: '22:00', to: '06:00' }, at: { at: '05:00' } }, '2026-06-01T05:00Z');
  t.deepEqual(run.set, ['2026-06-01T05:00:00 night true']);
});

test('D-38: a clock change is noticed within a minute, and skipped times do not fire', (t) => {
  const run = start('UTC', { day: { from: '06:00', to: '22:00' }, at: { at: '*:30' } }, '2026-06-01T05:10Z');
  run.take();
  run.day.startMs += 2 * 60 * minuteMs; // 7:10
  run.pass(minuteMs);
  t.deepEqual(run.take(), ['2026-06-01T07:11:00 day true']);
  t.deepEqual(run.lines, [
    { level: 'warn', message: 'at did not fire: the machine was asleep, or its clock was changed' },
  ]);
  run.day.startMs -= 2 * 60 * minuteMs; // 5:11
  run.pass(minuteMs);
  t.deepEqual(run.take(), ['2026-06-01T05:12:00 day false']);
  run.pass(60 * minuteMs);
  t.deepEqual(
    run.take(),
    ['2026-06-01T05:30:00 at true', '2026-06-01T06:00:00 day true'],
    'what comes again is done again',
  );
});

for (const [name, beforeMs, byMs] of [
  ['at the moment at which it is noticed', 19 * minuteMs + 50_000, -60 * minuteMs],
  ['between the two', 20_000, -(40 * minuteMs + 50_000)],
] as const)
  test(`a time that comes after the clock was set back is not lost where it comes before that is noticed: ${name}`, (t) => {
    const run = start('UTC', { at: { at: '*:30' }, day: { from: '04:30', to: '05:00' } }, '2026-06-01T05:10Z');
    run.pass(beforeMs);
    run.take();
    run.day.startMs += byMs;
    run.pass(minuteMs);
    t.deepEqual(
      run.take().map((line) => line.slice(20)),
      ['day true', 'at true'],
    );
    run.pass(58 * minuteMs);
    t.deepEqual(run.take().length, 1, 'and it comes once');
  });

test('a clock correction by seconds neither skips nor doubles anything', (t) => {
  const run = start('UTC', { day: { from: '06:00', to: '22:00' }, at: { at: '*:00' } }, '2026-06-01T05:59:59Z');
  run.pass(1000);
  t.deepEqual(run.take(), [
    '2026-06-01T05:59:59 day false',
    '2026-06-01T06:00:00 day true',
    '2026-06-01T06:00:00 at true',
  ]);
  run.day.startMs -= 5000;
  run.pass(59 * minuteMs);
  t.deepEqual(run.take(), []);
  run.day.startMs += 50_000;
  run.pass(minuteMs);
  t.is(run.take().length, 1, 'it fires, some seconds late');
});

const mistakes: [entry: object, mistake: RegExp][] = [
  [
    { days: 'mo-fr' },
    /^connections\.s\.entries\.x\.days: expected days such as "mon-fri" or "sat,sun", got "mo-fr" \(string\)$/,
  ],
  [{ dates: ['2026-02-30'] }, /dates\[0\]: expected a date such as "2026-12-24", for each year .*, got "2026-02-30"/],
  [{ dates: ['2026-12-24..12-26'] }, /dates\[0\]: expected a date/],
  [{ except: ['24.12.2026'] }, /except\[0\]: expected a date/],
  [{ from: '6:00' }, /from: expected a time such as "06:00" or "21:59:30", got "6:00"/],
  [{ to: '25:00' }, /to: expected a time/],
  [{ at: '*:60' }, /at: expected a time such as "06:00", or for each hour "\*:00"/],
  [{ at: '*:00', from: '06:00' }, /expected either `at`, or `from` and `to`/],
  [{ day: 'mon' }, /unknown setting "day", did you mean "days"\?/],
];

for (const [entry, mistake] of mistakes)
  test(`a mistake is reported: ${JSON.stringify(entry)}`, async (t) => {
    const flow = { connections: { s: { type: 'schedule', zone: 'UTC', entries: { x: entry } } } };
    const reported = await mistakesOf(t, flow);
    t.is(reported.length, 1, reported.join('\n'));
    t.regex(reported[0]!, mistake);
  });

test('an unknown time zone and a bad name are reported with all other mistakes', async (t) => {
  const reported = await mistakesOf(t, {
    connections: { s: { type: 'schedule', zone: 'Europe/Berln', entries: { 'x//y': {}, z: { to: '25:00' } } } },
  });
  t.regex(reported.join('\n'), /zone: expected a time zone such as "Europe\/Berlin", got "Europe\/Berln"/);
  t.is(reported.length, 3, reported.join('\n'));
});
