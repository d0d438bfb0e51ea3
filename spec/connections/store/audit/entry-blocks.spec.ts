// Where many entries come together they are kept in blocks: readers and people find each of them as in a row of its own, the oldest go as
// they did, and a file of an earlier version goes on.

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test, { type ExecutionContext } from 'ava';
import * as fc from 'fast-check';
import type { AuditQuestion } from '../../../../lib/connections/persistence.ts';
import { AuditDatabase } from '../../../../lib/connections/store/audit/audit-database.ts';
import type { AuditRow } from '../../../../lib/connections/store/audit/audit-messages.ts';
import { tables } from '../../../../lib/connections/store/audit/audit-tables.ts';
import { packEntries } from '../../../../lib/connections/store/audit/entry-blocks.ts';
import { findEntries } from '../../../../lib/connections/store/audit/find-entries.ts';
import { createDatabase } from '../../../../lib/connections/store/thread/database/store-database.ts';
import { createFolder } from '../../../support/folder.ts';

const run = { seen: 0, isClean: false, count: 'a' };
/** What needs a row of its own is seldom. */
const mostly = <Kind>(usual: fc.Arbitrary<Kind>, seldom: fc.Arbitrary<Kind>) =>
  fc.oneof({ weight: 60, arbitrary: usual }, { weight: 1, arbitrary: seldom });
const value = mostly<AuditRow['after']>(
  fc.oneof(
    fc.constantFrom(undefined, true, false, 'Grüße', '100%_"[\\', ''),
    fc.integer(),
    fc.double({ min: -1e9, max: 1e9, noNaN: true }).map((one) => one || 0),
  ),
  fc.constantFrom('a\0b', '\ud800', 1e300),
);
const typeOf = (one: AuditRow['after']) =>
  one === undefined ? 'T' : typeof one === 'boolean' ? 'B' : typeof one === 'string' ? 'S' : 'F';
const entry = fc
  .record({
    kind: mostly<AuditRow['kind']>(fc.constantFrom('change', 'change', 'fire'), fc.constant('rule')),
    user: fc.constantFrom('api 10.0.0.3', 'keys', 'ärger "x"'),
    address: fc.constantFrom('desk/lamp', 'desk/mic/1/level', 'hall/lamp'),
    before: value,
    after: value,
    cause: fc.constantFrom('', '', '', 'traceparent 00-4bf9'),
    afterMs: mostly(fc.constantFrom(0, 1, 5, 20), fc.constant(-3)),
  })
  .map((one) => ({ ...one, type: typeOf(one.after) }) as const);

async function openPair(t: ExecutionContext, keepMs = Number.POSITIVE_INFINITY, maxBytes = 1e8) {
  const folder = await createFolder(t);
  const files = ['packed', 'rows'].map((name) => {
    const path = join(folder, `${name}.db`);
    createDatabase(path, tables);
    const writing = new AuditDatabase(path, maxBytes, keepMs);
    const reading = new DatabaseSync(path, { readOnly: true });
    t.teardown(() => {
      reading.close();
      writing.close();
    });
    return { path, writing, reading };
  });
  const [packed, rows] = files as [(typeof files)[0], (typeof files)[0]];
  return { packed, rows };
}

const questions: readonly Partial<AuditQuestion>[] = [
  {},
  { limit: 7 },
  { limit: 20, before: 60 },
  { from: 1100, to: 1300 },
  { address: 'desk/*' },
  { address: 'desk/**' },
  { address: '**/lamp', user: 'API' },
  { user: 'ärger "' },
  { kind: 'fire' },
  { kind: 'change', text: 'grüße' },
  { text: 'true' },
  { text: '100%_"[\\' },
  { text: '4bf9', limit: 3 },
  { text: 'desk' },
];

test('D-47: any query finds entries in blocks like entries with a row each', async (t) => {
  let blocks = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(entry, { maxLength: 90, size: 'max' }), { minLength: 1, maxLength: 3 }),
      async (batches) => {
        const { packed, rows } = await openPair(t);
        let n = 0;
        let time = 1000;
        for (const batch of batches) {
          const made = batch.map(({ afterMs, ...one }): AuditRow => {
            time += afterMs;
            return { ...one, n: ++n, time, count: 1 };
          });
          packed.writing.write({ ...packEntries(made), log: [], run });
          rows.writing.write({ rows: made, log: [], run });
        }
        blocks += packed.reading.prepare('SELECT count(*) AS count FROM entry_block').get()!.count as number;
        for (const question of questions) {
          const asked: AuditQuestion = { ask: 'audit', from: 0, to: 1e9, limit: 1000, ...question };
          const [found, expected] = [packed, rows].map(({ reading }) => findEntries(reading, asked, () => {}));
          t.deepEqual(found, expected, JSON.stringify(question));
        }
        const columns =
          'n, time, kind, user, address, type, count, cause, typeof(before) AS one, typeof(after) AS other';
        // SQLite itself reads a number out of JSON with an error of up to one unit in its last place
        const before = "CASE typeof(before) WHEN 'real' THEN printf('%.9e', before) ELSE CAST(before AS BLOB) END";
        const [shown, expected] = [packed, rows].map(({ reading }) =>
          reading.prepare(`SELECT ${columns}, ${before} AS before FROM entry ORDER BY n`).all(),
        );
        t.deepEqual(shown, expected);
        t.is(packed.writing.oldest(), rows.writing.oldest());
      },
    ),
    { numRuns: 12 },
  );
  t.true(blocks > 8, `${blocks} blocks`);
});

const rowsFrom = (first: number, count: number, time: (n: number) => number): AuditRow[] =>
  Array.from({ length: count }, (_, index) => {
    const n = first + index;
    return {
      n,
      time: time(n),
      kind: 'change',
      user: 'api',
      address: 'desk/a',
      type: 'F',
      before: n,
      after: n + 1,
      count: 1,
      cause: '',
    };
  });
const numbersOf = (path: string) => {
  const database = new DatabaseSync(path, { readOnly: true });
  const row = database.prepare('SELECT min(n) AS first, max(n) AS last, count(*) AS count FROM entry').get()!;
  database.close();
  return { ...row } as { first: number; last: number; count: number };
};

test('an entry that counts further changes has its own row, which is rewritten', async (t) => {
  const made = rowsFrom(1, 40, (n) => n).map((row) => (row.n === 20 ? { ...row, isCounting: true } : row));
  const { rows, blocks } = packEntries(made);
  t.deepEqual(
    [rows.map(({ n }) => n), blocks.map(({ n, last, count }) => [n, last, count])],
    [
      [20],
      [
        [1, 19, 19],
        [21, 40, 20],
      ],
    ],
  );
});

test('without space the oldest entries are deleted first, in blocks and outside of them', async (t) => {
  const { packed } = await openPair(t, undefined, 1_000_000);
  let n = 1;
  for (let batch = 0; batch < 60; batch++) {
    packed.writing.write({ ...packEntries(rowsFrom(n, 400, (one) => one)), log: [], run });
    packed.writing.write({ rows: rowsFrom(n + 400, 5, (one) => one), log: [], run });
    n += 405;
  }
  const { first, last, count } = numbersOf(packed.path);
  t.is(last, n - 1);
  t.true(first > 1 && count > 5000 && count === last - first + 1, JSON.stringify({ first, last, count }));
});

test('entries in blocks are deleted at their maximum age', async (t) => {
  const { packed } = await openPair(t, 3_600_000);
  const steady = (at: number) => ({ wall: 1e12 + at, steady: at });
  packed.writing.write({ ...packEntries(rowsFrom(1, 400, (n) => 1e12 + n)), log: [], run }, steady(1000));
  packed.writing.write(
    { ...packEntries(rowsFrom(401, 400, (n) => 1e12 + 3_000_000 + n)), log: [], run },
    steady(3_000_000),
  );
  packed.writing.write({ rows: [], log: [], run }, steady(3_900_000));
  packed.writing.write({ rows: [], log: [], run }, steady(3_990_000));
  t.deepEqual(numbersOf(packed.path), { first: 401, last: 800, count: 400 });
});

test('a damaged block is found when it is read, or at the next start, and affects no other', async (t) => {
  const { packed } = await openPair(t);
  packed.writing.write({ ...packEntries(rowsFrom(1, 20, (n) => n)), log: [], run });
  packed.writing.write({ ...packEntries(rowsFrom(21, 20, (n) => n)), log: [], run });
  const editing = new DatabaseSync(packed.path);
  editing.exec('UPDATE entry_block SET entries = replace(entries, \'"desk/a"\', \'"desk/b"\') WHERE n = 1');
  editing.close();
  const find = () => findEntries(packed.reading, { ask: 'audit', from: 0, to: 1e9, limit: 100 }, () => {}).entries;
  t.throws(find, { message: /differs from what was written/ });
  const again = new AuditDatabase(packed.path, 1e8, Number.POSITIVE_INFINITY);
  t.teardown(() => again.close());
  t.deepEqual(again.losses, [`lost the entries in 1 damaged row of ${packed.path}`]);
  t.deepEqual([find().length, find().at(-1)!.n], [20, 21]);
});

test('an audit of an earlier version is read, and continues', async (t) => {
  const path = join(await createFolder(t), 'audit.db');
  const former = [...tables.replaceAll('entry_row', 'entry').matchAll(/CREATE (?:TABLE|INDEX) [^;]*;/g)].map(
    ([one]) => one,
  );
  createDatabase(path, former.filter((one) => !one.includes('entry_block')).join('\n'));
  const earlier = new DatabaseSync(path);
  earlier.exec("INSERT INTO entry (n, time, kind, user) VALUES (1, 1, 'stop', 'hub')");
  const ask = () =>
    findEntries(earlier, { ask: 'audit', from: 0, to: 1e9, limit: 100 }, () => {}).entries.map(({ n }) => n);
  t.deepEqual(ask(), [1]);
  t.is(AuditDatabase.read(path, { isRead: false, isSuspect: false }).lastEntry, 1);
  const writing = new AuditDatabase(path, 1e8, Number.POSITIVE_INFINITY);
  writing.write({ ...packEntries(rowsFrom(2, 20, (n) => n)), log: [], run });
  t.deepEqual(
    ask(),
    Array.from({ length: 21 }, (_, index) => 21 - index),
  );
  t.is(AuditDatabase.read(path, { isRead: false, isSuspect: false }).lastEntry, 21);
  writing.close();
  earlier.close();
});
