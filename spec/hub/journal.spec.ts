// The newest entries of the log: bounded, by level, and only of the levels that are on.

import test from 'ava';
import { Journal } from '../../lib/hub/journal.ts';
import { createLogRecorder } from '../support/connection.ts';

test('the newest 2,000 entries are kept, long ones truncated', (t) => {
  const recorder = createLogRecorder();
  const journal = Journal.of(recorder);
  t.like(journal.read(0, 'debug'), { entries: [], next: 0 });
  // The gate lets a hundred kinds of each connection through.
  const logs = Array.from({ length: 46 }, (_, index) => journal.child({ connection: `c${index}` }));
  for (let n = 1; n <= 4501; n++) logs[n % 46]!.warn({ rule: `r${n}` }, `entry ${n}`);
  const { entries, next } = journal.read(0, 'debug');
  t.is(next, 4501);
  t.deepEqual(
    entries.map(({ n, message }) => [n, message]),
    Array.from({ length: 2000 }, (_, index) => [index + 2502, `entry ${index + 2502}`]),
  );
  t.like(entries.at(-1), { level: 'warn', connection: 'c39', rule: 'r4501' });
  t.is(recorder.lines.length, 4501);
  journal.info({}, 'x'.repeat(10_000));
  t.is(journal.read(4501, 'debug').entries[0]!.message.length, 2001);
});

test('a page begins after an entry, and has a level and the more severe ones', (t) => {
  const journal = Journal.of(createLogRecorder());
  for (const level of ['debug', 'info', 'warn', 'error'] as const) journal[level]({}, level);
  const read = (...question: Parameters<Journal['read']>) =>
    journal.read(...question).entries.map(({ level }) => level);
  t.deepEqual(read(0, 'warn'), ['warn', 'error']);
  t.deepEqual(read(3, 'debug'), ['error']);
  t.deepEqual(read(4, 'debug'), []);
  t.deepEqual(read(5, 'debug'), ['debug', 'info', 'warn', 'error'], 'a number of another run of the hub');
});

test('after a restart numbers continue, and newer lines follow the saved ones', (t) => {
  const recorder = createLogRecorder();
  const journal = Journal.of(recorder);
  journal.warn({ connection: 'desk' }, 'early');
  const kept = { n: 7, time: Date.now() - 60_000, level: 'info', message: 'of yesterday' } as const;
  journal.continueFrom({ entries: [kept], count: 'kept', endedAt: Date.UTC(2026, 10, 22), isClean: false });
  journal.info({}, 'later');
  const { entries, next, count } = journal.read(0, 'debug');
  t.is(count, 'kept');
  t.deepEqual(
    entries.map(({ level, message }) => [level, message]),
    [
      ['info', 'of yesterday'],
      ['warn', 'the hub was restarted: it had not ended cleanly, at 2026-11-22T00:00:00.000Z it was still running'],
      ['warn', 'early'],
      ['info', 'later'],
    ],
  );
  const [restarted] = entries.slice(1);
  t.true(restarted!.n > 60_000, 'what was told and not kept has no number of those that follow');
  t.deepEqual(
    journal.read(60_000, 'debug').entries.map(({ n }) => n),
    [restarted!.n, restarted!.n + 1, restarted!.n + 2],
  );
  t.is(next, restarted!.n + 2);
  t.true(recorder.lines.some(({ message }) => message.startsWith('the hub was restarted')));
});

test('disabled levels are not kept, and everything is passed on unchanged', (t) => {
  const recorder = createLogRecorder();
  const isLevelEnabled = (level: string) => level !== 'debug';
  const journal = Journal.of({ ...recorder, isLevelEnabled });
  t.is(Journal.of(journal), journal);
  journal.debug({}, 'quiet');
  journal.child({}).debug({}, 'quiet');
  journal.error({}, 'loud');
  t.deepEqual(
    journal.read(0, 'debug').entries.map(({ message }) => message),
    ['loud'],
  );
  t.is(recorder.lines.length, 3);
});

test('an entry that repeats a thousand times is written once at first, and a second later with its count, for each connection separately', async (t) => {
  const recorder = createLogRecorder();
  const journal = Journal.of(recorder);
  const [desk, api] = ['desk', 'api'].map((connection) => journal.child({ connection }));
  for (let n = 1; n <= 1000; n++) desk!.error({}, `value ${n} is wrong`, 'wrong');
  api!.error({}, 'of another connection', 'wrong');
  t.deepEqual(
    recorder.lines.map(({ message }) => message),
    ['value 1 is wrong', 'of another connection'],
  );
  await recorder.logged(/^value 1000 is wrong \(999 times within a second\)$/);
  t.like(journal.read(0, 'debug').entries.at(-1), { connection: 'desk', level: 'error' });
});

test('unavailable entries of earlier runs are reported, and the journal continues without them', async (t) => {
  const journal = Journal.of(createLogRecorder());
  journal.continueLater(Promise.reject(new Error('the thread has ended')));
  await journal.earlier;
  t.is(journal.earlier, undefined);
  t.deepEqual(
    journal.read(0, 'debug').entries.map(({ message }) => message),
    ['the log of earlier runs is not available: the thread has ended'],
  );
});
