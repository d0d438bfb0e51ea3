// How long entries of the audit are kept, whatever the clock shows.

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test, { type ExecutionContext } from 'ava';
import { AuditDatabase } from '../../../../lib/connections/store/audit/audit-database.ts';
import type { AuditRow } from '../../../../lib/connections/store/audit/audit-messages.ts';
import { tables } from '../../../../lib/connections/store/audit/audit-tables.ts';
import { findEntries } from '../../../../lib/connections/store/audit/find-entries.ts';
import { createDatabase } from '../../../../lib/connections/store/thread/database/store-database.ts';
import { createFolder } from '../../../support/folder.ts';

const hour = 3_600_000;
const day = 24 * hour;
const noon = 20_000 * day;
const keep = 90 * day;
const step = 12 * hour;

interface Audit {
  /** Writes an entry, and goes on by half a day. */
  write(count?: number): void;
  set(byMs: number): void;
  restart(byMs?: number): void;
  numbers(from?: number, to?: number): number[];
  readonly wall: number;
}

/** An audit that gets two entries a day. */
async function open(t: ExecutionContext, path?: string): Promise<Audit> {
  const file = path ?? join(await createFolder(t), 'audit.db');
  if (path === undefined) createDatabase(file, tables);
  let [wall, steady] = [noon, 0];
  const start = () => new AuditDatabase(file, 1e8, keep, { wall, steady });
  let database = start();
  t.teardown(() => database.close());
  let n = 0;
  return {
    write(count = 1) {
      for (let one = 0; one < count; one++) {
        const row: AuditRow = {
          ...{ n: ++n, time: wall, kind: 'change', user: 'api', address: 'desk/lamp', type: 'B', before: false },
          ...{ after: true, count: 1, cause: '' },
        };
        database.write({ rows: [row], log: [], run: { seen: wall, isClean: false, count: 'a' } }, { wall, steady });
        wall += step;
        steady += step;
      }
    },
    set(byMs) {
      wall += byMs;
    },
    restart(byMs = 0) {
      database.close();
      wall += byMs;
      steady = 0;
      database = start();
    },
    numbers(from = Number.MIN_SAFE_INTEGER, to = Number.MAX_SAFE_INTEGER) {
      const reader = new DatabaseSync(file, { readOnly: true });
      try {
        return findEntries(reader, { ask: 'audit', from, to, limit: 10_000 }, () => {}).entries.map(({ n }) => n);
      } finally {
        reader.close();
      }
    },
    get wall() {
      return wall;
    },
  };
}

test('entries are deleted at their maximum age', async (t) => {
  const audit = await open(t);
  audit.write(180);
  t.is(audit.numbers().at(-1), 1);
  audit.write(8);
  const oldest = audit.numbers().at(-1)!;
  t.true(oldest >= 7 && oldest <= 9, String(oldest));
});

for (const [name, by] of Object.entries({ '-1 d': -day, '-91 d': -91 * day, '+91 d': 91 * day, '+20 y': 7300 * day }))
  for (const how of ['while the hub runs', 'before it starts'])
    test(`a clock that is set by ${name} ${how} costs no entry: none of before, of then, or of after it is right again`, async (t) => {
      const audit = await open(t);
      const set = (ms: number) => (how === 'before it starts' ? audit.restart(ms) : audit.set(ms));
      audit.write(21);
      set(by);
      audit.write(2);
      set(-by);
      audit.write(24);
      t.is(audit.numbers().length, 47);
    });

test('a clock that was set back hides no entry from a query by time', async (t) => {
  const audit = await open(t);
  audit.write(10);
  audit.set(-30 * step);
  audit.write(5);
  t.deepEqual(audit.numbers(noon - 40 * step), [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  t.deepEqual(audit.numbers(noon + step / 2, noon + 2.5 * step), [3, 2]);
  t.deepEqual(audit.numbers(noon - 20 * step, noon - 18.5 * step), [12, 11]);
});

test('an audit of an earlier version continues: until its hub was last seen, times are ages', async (t) => {
  const path = join(await createFolder(t), 'audit.db');
  createDatabase(path, tables);
  const before = new DatabaseSync(path);
  before.exec('DROP TABLE age; DROP TABLE age_mark');
  for (let n = 1; n <= 100; n++)
    before
      .prepare("INSERT INTO entry (n, time, kind, user) VALUES (?, ?, 'stop', 'hub')")
      .run(n, noon - (100 - n) * day);
  before.prepare("INSERT INTO run VALUES (1, ?, 0, 'a')").run(noon);
  before.close();
  const audit = await open(t, path);
  audit.set(91 * day);
  audit.write(0);
  audit.restart();
  const database = new AuditDatabase(path, 1e8, keep, { wall: noon + 200 * day, steady: 0 });
  database.write(
    { rows: [], log: [], run: { seen: noon + 200 * day, isClean: false, count: 'a' } },
    { wall: noon + 200 * day, steady: 1000 },
  );
  database.close();
  t.deepEqual([audit.numbers()[0], audit.numbers().at(-1)], [100, 11]);
});
