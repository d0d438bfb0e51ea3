// Histories of a hub whose clock is set back and ahead, also between two of its runs, against a model that knows the order in which all
// of it happened: what comes later holds where a time comes twice, and times only grow.

import test, { type ExecutionContext } from 'ava';
import * as fc from 'fast-check';
import { answerHistories } from '../../../../lib/connections/store/reader/histories/histories.ts';
import { PastDatabase } from '../../../../lib/connections/store/reader/past-database.ts';
import { answerEvents } from '../../../../lib/connections/store/reader/past-events.ts';
import { Deadline, momentOf } from '../../../../lib/connections/store/reader/past-moment.ts';
import type { EventList, History } from '../../../../lib/wire/http/past-shapes.ts';
import { makeHistory } from '../../../support/store/history.ts';

const minute = 60_000;
const hour = 60 * minute;
const noon = 500_000 * hour;
const address = 'desk/level';

type Step =
  | { readonly is: 'change'; readonly afterMs: number; readonly value: number }
  | { readonly is: 'jump'; readonly afterMs: number; readonly byMs: number }
  | { readonly is: 'restart'; readonly afterMs: number; readonly byMs: number };

interface HubReport {
  readonly time: number;
  readonly value: number;
  readonly previous: number | undefined;
  readonly stretch: number;
}

/** What happened, stretch by stretch: between two jumps, or two runs, of the clock. */
class Model {
  readonly events: HubReport[] = [];
  readonly stretches: { from: number; to: number; isDown: boolean }[] = [{ from: noon, to: noon, isDown: false }];
  value: number | undefined;

  change(time: number, value: number): void {
    const previous = this.value;
    this.value = value;
    this.events.push({ time, value, previous, stretch: this.stretches.length - 1 });
  }

  goOn(time: number): void {
    this.stretches.at(-1)!.to = time;
  }

  begin(time: number, isDown: boolean): void {
    this.stretches.push({ from: time, to: time, isDown });
    if (isDown) this.value = undefined;
  }

  /** What was at a time; undefined: nobody knows. */
  at(time: number): number | undefined {
    const stretch = this.stretches.findLastIndex(({ from, to }) => from <= time && time < to);
    if (stretch < 0) return undefined;
    for (let one = stretch; one >= 0; one--) {
      const until = one === stretch ? time : Number.POSITIVE_INFINITY;
      const event = this.events.findLast((event) => event.stretch === one && event.time <= until);
      if (event !== undefined) return event.value;
      if (this.stretches[one]!.isDown) return undefined;
    }
    return undefined;
  }
}

async function play(t: ExecutionContext, steps: readonly Step[]) {
  const history = await makeHistory(t);
  const model = new Model();
  let now = noon;
  history.open(now);
  for (const step of steps) {
    now += step.afterMs;
    model.goOn(now);
    if (step.is === 'change') {
      if (model.value === step.value) continue;
      model.change(now, step.value);
      history.write([[address, 'F', now, step.value]], now);
    } else if (step.is === 'jump') {
      history.write([], now);
      history.jump(now, now + step.byMs);
      now += step.byMs;
      model.begin(now, false);
      history.write([], now);
    } else {
      const { value } = model;
      history.write([], now);
      history.end();
      now += step.byMs;
      history.open(now);
      model.begin(now, true);
      if (value !== undefined) {
        model.change(now, value);
        history.write([[address, 'F', now, value]], now);
      }
    }
  }
  model.goOn(now + 1);
  history.write([], now);
  const database = new PastDatabase(history.path);
  t.teardown(() => database.close());
  const moment = () => momentOf(database, now, new Deadline(10_000));
  // beyond what all jumps of a play come to
  const range = { from: noon - 1000 * 24 * hour, to: noon + 1000 * 24 * hour };
  return {
    model,
    now,
    /** Of a range; if omitted, all. */
    raw: (more: object = {}) =>
      JSON.parse(
        answerHistories(moment(), {
          ask: 'history',
          parameters: [{ address, type: 'F' }],
          list: undefined,
          ...range,
          points: 10_000,
          format: 'json',
          ...more,
        }),
      ) as History,
    events: () =>
      JSON.parse(
        answerEvents(moment(), {
          ask: 'events',
          parameter: { address, type: 'F' },
          ...range,
          limit: 1000,
          before: undefined,
        }),
      ) as EventList,
  };
}

const afterMs = fc.integer({ min: 1000, max: 20 * minute });
const byMs = fc.oneof(
  fc.integer({ min: -2 * hour, max: 2 * hour }).filter((ms) => Math.abs(ms) >= 2000),
  fc.constantFrom(-30 * 24 * hour, 30 * 24 * hour),
);
const steps = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ is: fc.constant('change' as const), afterMs, value: fc.integer({ min: 0, max: 9 }) }),
    },
    { weight: 2, arbitrary: fc.record({ is: fc.constant('jump' as const), afterMs, byMs }) },
    { weight: 1, arbitrary: fc.record({ is: fc.constant('restart' as const), afterMs, byMs }) },
  ),
  { maxLength: 16 },
);

/** Set ahead by 120 days in all. */
const farAhead: readonly Step[] = [
  ...Array.from({ length: 4 }, () => ({ is: 'jump' as const, afterMs: 1000, byMs: 30 * 24 * hour })),
  { is: 'change', afterMs: minute, value: 1 },
];

test('after any clock changes, the history has the right values, growing times, and no gap that ends before it begins', async (t) => {
  await fc.assert(
    fc.asyncProperty(steps, async (steps) => {
      const { model, raw, events } = await play(t, steps);
      if (model.events.length === 0) return;
      const { times, values, gaps } = raw();
      for (const all of [times, raw({ points: 3 }).times, raw({ points: 100 }).times])
        for (const [index, time] of all.entries()) if (index > 0) t.true(time >= all[index - 1]!, 'times grow');
      for (const { from, to } of gaps) t.true(from <= to, 'gaps have a beginning and an end');
      const at = (time: number) => values![times.findLastIndex((one) => one <= time)] ?? undefined;
      for (const { from, to } of model.stretches)
        for (const time of [from + 300, Math.floor((from + to) / 2), to - 300])
          if (from < time && time < to) t.is(at(time), model.at(time), `${time - noon}`);
      const { events: reported } = events();
      t.is(reported.length, model.events.length);
      const key = ({ time, value, previous }: { time: string | number; value: unknown; previous?: unknown }) =>
        `${typeof time === 'string' ? Date.parse(time) - noon : time - noon}: ${previous} -> ${value}`;
      t.deepEqual(reported.map((one) => key(one)).sort(), model.events.map((one) => key(one)).sort());
    }),
    { numRuns: 25, endOnFailure: true, examples: [[farAhead]] },
  );
});

test('a range that begins in a repeated time begins with the value at that time', async (t) => {
  await fc.assert(
    fc.asyncProperty(steps, fc.nat(100), async (steps, part) => {
      const { model, raw } = await play(t, steps);
      for (const { from, to } of model.stretches) {
        const time = Math.floor(from + ((to - from) * part) / 100);
        if (time <= from || time >= to - 1) continue;
        const { times, values } = raw({ from: time, to: time + 1 });
        const known = values?.[times.findLastIndex((one) => one <= time)] ?? undefined;
        t.is(known, model.at(time), `${time - noon}`);
      }
    }),
    { numRuns: 25, endOnFailure: true },
  );
});

test('a clock that is set ahead for five seconds leaves a gap of five seconds, and one that is set back a mark', async (t) => {
  const day = 24 * hour;
  const change = (value: number): Step => ({ is: 'change', afterMs: minute, value });
  const { raw } = await play(t, [
    change(1),
    change(2),
    { is: 'jump', afterMs: 1000, byMs: 91 * day },
    { is: 'change', afterMs: 2000, value: 3 },
    { is: 'jump', afterMs: 3000, byMs: -91 * day },
    change(4),
    { is: 'jump', afterMs: 1000, byMs: -hour },
    change(5),
  ]);
  const { times, values, gaps } = raw({ from: noon, to: noon + hour });
  const began = noon + 2 * minute + 1000;
  t.deepEqual(
    gaps.map(({ from, to, reason }) => [from - began, to - began, reason.split(',')[0]]),
    [
      [1, 5000, 'the clock was set ahead by 91 d'],
      [5000, 5000, 'the clock was set back by 91 d'],
    ],
  );
  t.deepEqual(
    times.map((time, index) => [time - began, values![index]]),
    [
      [-minute - 1000, 1],
      [-1000, 2],
      [1, null],
      [5000, 3],
      [minute + 5000, 4],
    ],
  );
  const before = raw({ from: noon - hour, to: noon });
  t.deepEqual(
    before.gaps.map(({ from, to, reason }) => [from - began, to - began, reason.split(',')[0]]),
    [[minute + 6000 - hour, minute + 6000 - hour, 'the clock was set back by 1 h']],
  );
  t.deepEqual(before.values, [4, 5, null]);
});
