// The newest entries of the log: bounded, by level, and only of the levels that are on.

import test from 'ava';
import { Journal } from '../../lib/flow/journal.ts';
import { createLogRecorder } from '../support/connection.ts';

test('the newest 2,000 entries are kept, long ones cut', (t) => {
  const recorder = createLogRecorder();
  const journal = Journal.of(recorder);
  t.deepEqual(journal.read(0, 'debug'), { entries: [], next: 0 });
  const desk = journal.child({ connection: 'desk' });
  for (let n = 1; n <= 4501; n++) (n % 2 ? desk : journal).warn({ rule: `r${n}` }, `entry ${n}`);
  const { entries, next } = journal.read(0, 'debug');
  t.is(next, 4501);
  t.deepEqual(
    entries.map(({ n, message }) => [n, message]),
    Array.from({ length: 2000 }, (_, index) => [index + 2502, `entry ${index + 2502}`]),
  );
  t.like(entries.at(-1), { level: 'warn', connection: 'desk', rule: 'r4501' });
  t.is(entries.at(-2)?.connection, undefined);
  t.is(recorder.lines.length, 4501);
  journal.info({}, 'x'.repeat(10_000));
  t.is(journal.read(4501, 'debug').entries[0]!.message.length, 2001);
});

test('a page begins after an entry, and has a level and the graver ones', (t) => {
  const journal = Journal.of(createLogRecorder());
  for (const level of ['debug', 'info', 'warn', 'error'] as const) journal[level]({}, level);
  const read = (...question: Parameters<Journal['read']>) =>
    journal.read(...question).entries.map(({ level }) => level);
  t.deepEqual(read(0, 'warn'), ['warn', 'error']);
  t.deepEqual(read(3, 'debug'), ['error']);
  t.deepEqual(read(4, 'debug'), []);
  t.deepEqual(read(5, 'debug'), ['debug', 'info', 'warn', 'error'], 'a number of another run of the hub');
});

test('levels that are off are not kept, and all is passed on as it came', (t) => {
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
