// The thread that reads: it is there while it is asked, askers take turns, and what is damaged hurts nobody.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { VirtualTimeScheduler } from 'rxjs';
import type { HistoryQuestion } from '../../../../lib/connections/persistence.ts';
import { hourMs } from '../../../../lib/connections/store/history/history-tables.ts';
import { maxQuestions, PastReader } from '../../../../lib/connections/store/reader/past-reader.ts';
import type { History } from '../../../../lib/wire/http/past-shapes.ts';
import { createFolder } from '../../../support/folder.ts';
import { Timeline, writeTimeline } from './timeline.ts';

const start = Date.UTC(2026, 10, 1, 2);
const end = start + hourMs;
const question: HistoryQuestion = {
  ask: 'history',
  parameters: [{ address: 'desk/level', type: undefined }],
  list: undefined,
  from: start,
  to: end,
  points: 10,
  format: 'json',
};

async function prepare(t: ExecutionContext) {
  const folder = await createFolder(t);
  const path = join(folder, 'history.db');
  const kept = { changes: 0, minutes: start, hours: start, minutesUntil: end, hoursUntil: end };
  const fill = (value: number) => writeTimeline(path, new Timeline([[start, value]], [], end), kept);
  fill(7);
  const scheduler = new VirtualTimeScheduler();
  const damages: string[] = [];
  const file = (name: string) => ({
    path: join(folder, `${name}.db`),
    flush: () => Promise.resolve(),
    onDamage: (reason: string) => damages.push(reason),
  });
  const reader = new PastReader({ history: file('history'), audit: file('audit'), scheduler });
  t.teardown(() => reader.end());
  const ask = (asker = 'ann', isWanted = () => true, more: Partial<HistoryQuestion> = {}) =>
    reader.ask({ ...question, ...more }, asker, isWanted);
  const values = async () => (JSON.parse(Buffer.from((await ask()).body).toString()) as History).values;
  return { path, fill, reader, scheduler, damages, ask, values };
}

test('the thread exists from the first query until a minute after the last one', async (t) => {
  const { reader, scheduler, values } = await prepare(t);
  t.false(reader.isAwake);
  t.deepEqual(await values(), [7]);
  t.true(reader.isAwake);
  scheduler.flush();
  t.is(scheduler.now(), 60_000);
  t.false(reader.isAwake);
  t.deepEqual(await values(), [7], 'and it comes again');
});

test('damage is reported to the reader and to the writer; a new file is read as soon as it exists', async (t) => {
  const { path, fill, damages, ask, values } = await prepare(t);
  t.deepEqual(await values(), [7]);
  fill(8);
  t.deepEqual(await values(), [8]);
  fill(9);
  await writeFile(path, 'this is no database, whatever its name says');
  await t.throwsAsync(ask(), {
    code: 'unavailable',
    message: /history\.db is damaged \(.+\): the store sets it aside$/,
  } as object);
  t.is(damages.length, 1);
  fill(10);
  t.deepEqual(await values(), [10]);
});

test('clients take turns, and abandoned queries are refused', async (t) => {
  const { ask } = await prepare(t);
  const order: string[] = [];
  const asked = (name: string, isWanted?: () => boolean) =>
    ask(name.slice(0, 3), isWanted).then(() => void order.push(name));
  const wanted = [asked('ann 1'), asked('ann 2'), asked('ann 3'), asked('bob 1'), asked('bob 2')];
  const unwanted = t.throwsAsync(
    asked('ann 4', () => false),
    { message: 'nobody is waiting for the answer any more' },
  );
  wanted.push(asked('ann 5'));
  await Promise.all(wanted);
  t.deepEqual(order, ['ann 1', 'ann 2', 'bob 1', 'ann 3', 'bob 2', 'ann 5']);
  await unwanted;
});

test('hundreds of queries of one client are answered in order, and another client does not wait for them', async (t) => {
  const { ask } = await prepare(t);
  const order: string[] = [];
  const asked = (name: string) => ask(name.slice(0, 3), () => true, { points: 1000 }).then(() => void order.push(name));
  const names = Array.from({ length: 400 }, (_, index) => `ann ${index + 1}`);
  const all = names.map(asked);
  await all[0];
  await Promise.all([...all, asked('bob 1')]);
  t.deepEqual(
    order.filter((name) => name !== 'bob 1'),
    names,
  );
  t.true(order.indexOf('bob 1') < 100, `bob was answered at place ${order.indexOf('bob 1')}`);
});

test('the number of waiting queries is limited, and those that wait at the end are refused', async (t) => {
  const { ask, reader } = await prepare(t);
  const waiting = Array.from({ length: maxQuestions + 1 }, () => ask().catch(({ code }) => code));
  t.is(reader.waiting, maxQuestions, 'the first of them is under way');
  await t.throwsAsync(ask(), { message: 'expected at most 4096 waiting queries: try again later' });
  reader.end();
  t.deepEqual([...new Set(await Promise.all(waiting))], ['unavailable']);
  await t.throwsAsync(ask(), { message: 'the store is shutting down' });
});

test('lists of 10,000 parameters cost the thread of the hub little, for any number of waiting ones', async (t) => {
  const { ask } = await prepare(t);
  const askForAll = () => {
    const parameters = Array.from({ length: 9999 }, (_, index) => ({ address: `desk/none-${index}`, type: undefined }));
    return ask('ann', () => true, { parameters: [...parameters, ...question.parameters], list: { hasMore: false } });
  };
  await askForAll();
  const before = process.threadCpuUsage();
  const answers = await Promise.all(Array.from({ length: 12 }, askForAll));
  const { user, system } = process.threadCpuUsage(before);
  const eachMs = (user + system) / 1000 / answers.length;
  t.log(`${eachMs.toFixed(1)} ms each`);
  t.true(eachMs < 15, `expected less than 15 ms each, got ${eachMs}`);
  const { histories } = JSON.parse(Buffer.from(answers.at(-1)!.body).toString()) as { histories: History[] };
  const reported = histories.map(({ address, values }) => `${address} ${values}`);
  t.is(reported.join(), 'desk/level 7');
});
