// Histories against a model that knows what a parameter was at each millisecond: whatever is kept of it, and wherever a range begins.

import { join } from 'node:path';
import test from 'ava';
import * as fc from 'fast-check';
import { downReason, hourMs, minuteMs } from '../../../../../lib/connections/store/history/history-tables.ts';
import { answerHistories } from '../../../../../lib/connections/store/reader/histories/histories.ts';
import { PastDatabase } from '../../../../../lib/connections/store/reader/past-database.ts';
import { Deadline, momentOf } from '../../../../../lib/connections/store/reader/past-moment.ts';
import type { History } from '../../../../../lib/wire/http/past-shapes.ts';
import { createFolder } from '../../../../support/folder.ts';
import { type Kept, Timeline, type TimelineGap, writeTimeline } from '../timeline.ts';

const start = Date.UTC(2026, 10, 1, 2);
const hours = 5;
const end = start + hours * hourMs;

interface Case {
  readonly timeline: Timeline;
  readonly kept: Kept;
  readonly from: number;
  readonly to: number;
  readonly points: number;
}

/** Many changes and some of the questions are of a few minutes. */
const burst = { min: 4 * hourMs, max: 4 * hourMs + 150_000 };
const changeTimes = fc.oneof(fc.integer({ min: 1, max: hours * hourMs - 1 }), fc.integer(burst));
const ranges = fc.oneof(
  fc.tuple(fc.integer({ min: -hourMs, max: hours * hourMs }), fc.integer({ min: 0, max: (hours + 1) * hourMs })),
  fc.tuple(fc.integer(burst), fc.integer({ min: 0, max: 100_000 })),
);

/** Where nothing shorter is kept, the first change is at the beginning of a minute or an hour: these say nothing of parts of them. */
const cases: fc.Arbitrary<Case> = fc
  .record({
    changes: fc.array(fc.record({ at: changeTimes, value: fc.integer({ min: -50, max: 50 }) }), {
      maxLength: 200,
      size: 'max',
    }),
    first: fc.integer({ min: 0, max: hours * 60 - 1 }),
    gaps: fc.array(
      fc.record({
        at: fc.integer({ min: 0, max: hours * 60 }),
        minutes: fc.integer({ min: 1, max: 40 }),
        isDown: fc.boolean(),
      }),
      { maxLength: 3 },
    ),
    prunedHours: fc.integer({ min: 0, max: hours }),
    prunedMinutes: fc.integer({ min: 0, max: hours }),
    openMinutes: fc.integer({ min: 0, max: 90 }),
    range: ranges,
    points: fc.constantFrom(1, 3, 10, 40, 100, 1000, 10_000),
  })
  .map(({ changes, first, gaps, prunedHours, prunedMinutes, openMinutes, range: [from, length], points }) => {
    const firstAt = start + Math.floor(first / (prunedMinutes > 0 ? 60 : 1)) * (prunedMinutes > 0 ? 60 : 1) * minuteMs;
    const reported = gapsOf(gaps).filter((gap) => firstAt < gap.start || firstAt >= gap.end);
    const restored = reported.filter(({ reason }) => reason === downReason).map(({ end }) => [end, 7] as const);
    const all = [[firstAt, 1] as const, ...restored, ...changes.map(({ at, value }) => [start + at, value] as const)];
    const open = all
      .filter(([time]) => time >= firstAt && time < end && !reported.some((gap) => time >= gap.start && time < gap.end))
      .sort(([a], [b]) => a - b)
      .filter(([time], index, list) => time !== list[index - 1]?.[0]);
    const minutesUntil = Math.floor((end - openMinutes * minuteMs) / minuteMs) * minuteMs;
    const changesFrom = start + prunedHours * hourMs;
    return {
      timeline: new Timeline(open, reported, end),
      kept: {
        changes: Math.min(changesFrom, Math.floor(minutesUntil / hourMs) * hourMs),
        minutes: Math.min(
          start + Math.min(prunedMinutes, prunedHours) * hourMs,
          Math.floor(minutesUntil / hourMs) * hourMs,
        ),
        hours: start - hourMs,
        minutesUntil,
        hoursUntil: Math.floor(minutesUntil / hourMs) * hourMs,
      },
      from: start + from,
      to: start + from + length,
      points,
    };
  });

/** Gaps of whole minutes that do not meet. */
function gapsOf(drawn: readonly { at: number; minutes: number; isDown: boolean }[]): TimelineGap[] {
  const gaps: TimelineGap[] = [];
  for (const { at, minutes, isDown } of [...drawn].sort((a, b) => a.at - b.at)) {
    const from = Math.max(start + at * minuteMs, (gaps.at(-1)?.end ?? start) + minuteMs);
    const to = from + minutes * minuteMs;
    if (to < end) gaps.push({ start: from, end: to, reason: isDown ? downReason : 'the disk was full' });
  }
  return gaps;
}

function expectTrue(history: History, { timeline, from, to, points }: Case): void {
  const { kind, stepMs = 1, times, values, min, mean, max, counts } = history;
  const expect = (isSo: boolean, what: string) => {
    if (!isSo) throw new Error(`${what}: ${JSON.stringify(history)}`);
  };
  if (kind === 'raw') {
    expect(times.filter((time) => time > from).length <= points + 2 * timeline.gaps.length, 'at most so many points');
    for (const [index, time] of times.entries()) {
      expect((timeline.at(time) ?? null) === values![index], `value at ${time}`);
      const until = times[index + 1] ?? Math.min(to, end - 1) + 1;
      const middle = Math.floor((Math.max(time, from) + until) / 2);
      if (middle < until) expect((timeline.at(middle) ?? null) === values![index], `value held until ${until}`);
    }
    if (from >= start && from < end && timeline.at(from) !== undefined)
      expect((times[0] ?? Infinity) <= from, 'what held');
    return;
  }
  expect(times.length <= points + 1, 'at most so many buckets');
  for (const [index, time] of times.entries()) {
    expect(time % stepMs === 0, 'buckets begin at multiples of the step');
    const figures = timeline.figures(time, time + stepMs);
    expect((figures?.min ?? null) === min![index], `min of ${time}: ${figures?.min}`);
    expect((figures?.max ?? null) === max![index], `max of ${time}: ${figures?.max}`);
    const isClose = figures === undefined ? mean![index] === null : Math.abs(figures.mean - mean![index]!) < 1e-5;
    expect(isClose, `mean of ${time}: ${figures?.mean}`);
    expect(timeline.count(time, time + stepMs) === counts![index], `count of ${time}`);
  }
  for (let time = Math.floor(from / stepMs) * stepMs; time < Math.min(to, end); time += stepMs)
    if (!times.includes(time) && timeline.figures(time, time + stepMs) !== undefined)
      expect(false, `${time} is missing`);
}

/** A change at the end of an hour of which no change is kept. */
const onTheHour: Case = {
  timeline: new Timeline(
    [[start, 1] as const, [start + 3 * hourMs, 1] as const, [start + 4 * hourMs, 0] as const],
    [],
    end,
  ),
  kept: {
    changes: start + 4 * hourMs,
    minutes: start + 4 * hourMs,
    hours: start - hourMs,
    minutesUntil: end,
    hoursUntil: end,
  },
  from: start + 4 * hourMs,
  to: start + 4 * hourMs,
  points: 1,
};

test('the figures are those of the model, for any recording and any query', async (t) => {
  const path = join(await createFolder(t), 'history.db');
  const kinds = new Set<string>();
  const property = fc.property(cases, (one) => {
    writeTimeline(path, one.timeline, one.kept);
    const database = new PastDatabase(path);
    try {
      const { from, to, points } = one;
      const parameters = [{ address: 'desk/level', type: 'F' as const }];
      const moment = momentOf(database, end, new Deadline(10_000));
      const question = { ask: 'history', parameters, list: undefined, from, to, points, format: 'json' } as const;
      const history = JSON.parse(database.read(() => answerHistories(moment, question))) as History;
      kinds.add(`${history.kind} ${history.stepMs === undefined || history.stepMs < minuteMs}`);
      expectTrue(history, one);
    } finally {
      database.close();
    }
  });
  const every = ['buckets false', 'buckets true', 'raw true'];
  for (let round = 0; round < 5 && kinds.size < every.length; round++)
    fc.assert(property, { numRuns: 100, examples: [[onTheHour]] });
  t.deepEqual([...kinds].sort(), every);
});
