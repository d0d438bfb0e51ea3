// The second thread that reads: with it, without it and whatever becomes of it, the answer is the same.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { HistoryQuestion } from '../../../../lib/connections/persistence.ts';
import { hourMs } from '../../../../lib/connections/store/history/history-tables.ts';
import { answerHistories } from '../../../../lib/connections/store/reader/histories/histories.ts';
import { PastDatabase } from '../../../../lib/connections/store/reader/past-database.ts';
import { Deadline, momentOf } from '../../../../lib/connections/store/reader/past-moment.ts';
import { SecondReader } from '../../../../lib/connections/store/reader/second-reader.ts';
import type { HistoryList } from '../../../../lib/wire/http/past-shapes.ts';
import { eventually } from '../../../support/deadline.ts';
import { createFolder } from '../../../support/folder.ts';
import { Timeline, writeTimeline } from './timeline.ts';

const start = Date.UTC(2026, 10, 1, 2);
const end = start + hourMs;
const names = Array.from({ length: 300 }, (_, index) => (index % 3 === 0 ? 'desk/none' : 'desk/level'));
const question: HistoryQuestion = {
  ask: 'history',
  parameters: names.map((address) => ({ address, type: undefined })),
  list: { hasMore: false },
  from: start,
  to: end,
  points: 200,
  format: 'json',
};

async function prepare(t: ExecutionContext) {
  const folder = await createFolder(t);
  const write = (name: string, until: number) => {
    const path = join(folder, name);
    const changes = Array.from({ length: 100 }, (_, index) => [start + index * 30_000, index] as const);
    const kept = { changes: 0, minutes: start, hours: start, minutesUntil: until, hoursUntil: until };
    writeTimeline(path, new Timeline(changes, [], until), kept);
    return path;
  };
  const path = write('history.db', end);
  const database = new PastDatabase(path);
  const second = new SecondReader();
  t.teardown(() => {
    second.end();
    database.close();
  });
  const answer = (more: Partial<HistoryQuestion> = {}, isShared = true, itsPath = path, limitMs = 60_000) =>
    database.read(() => {
      const asked = { ...question, ...more };
      const moment = momentOf(database, end, new Deadline(limitMs));
      return isShared
        ? answerHistories(moment, asked, () => second.read(itsPath, end, moment, asked))
        : answerHistories(moment, asked);
    });
  /** Asks until the second thread has helped; each answer is as expected. */
  const expectHelp = (expected: string, more?: Partial<HistoryQuestion>) => {
    const before = second.delivered;
    return eventually(() => {
      t.true(answer(more) === expected);
      return second.delivered > before;
    }, 'the second thread has helped');
  };
  return { folder, write, second, answer, expectHelp };
}

test('a long list has the same content from two threads as from one', async (t) => {
  const { second, answer, expectHelp } = await prepare(t);
  const alone = answer({}, false);
  t.is((JSON.parse(alone) as HistoryList).histories.length, 200);
  await expectHelp(alone);
  await expectHelp(answer({ format: 'csv' }, false), { format: 'csv' });
  const more = answer({ list: { hasMore: true } }, false);
  t.true(more.endsWith('],"more":true}\n'));
  await expectHelp(more, { list: { hasMore: true } });
  second.end();
  await expectHelp(alone);
});

test('answers that the second thread cannot read, or finds changed, are read by the first', async (t) => {
  const { folder, write, second, answer, expectHelp } = await prepare(t);
  const alone = answer({}, false);
  await expectHelp(alone);
  const { delivered } = second;
  const damaged = join(folder, 'damaged.db');
  writeFileSync(damaged, 'this is no database, whatever its name says');
  for (const path of [damaged, join(folder, 'none.db'), write('newer.db', end + 60_000)])
    for (let asked = 0; asked < 3; asked++) t.true(answer({}, true, path) === alone);
  t.is(second.delivered, delivered);
  await expectHelp(alone);
});

test('a list that is out of time has one history at least, and more', async (t) => {
  const { answer } = await prepare(t);
  for (const isShared of [true, false]) {
    const { histories, more } = JSON.parse(answer({ points: 10 }, isShared, undefined, -1)) as HistoryList;
    t.deepEqual([histories.length, more], [1, true]);
  }
});
