// Entries are found by time, address, user, kind and text, page by page, the newest first.

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test, { type ExecutionContext } from 'ava';
import type { AuditQuestion } from '../../../../lib/connections/persistence.ts';
import { AuditDatabase } from '../../../../lib/connections/store/audit/audit-database.ts';
import type { AuditRow } from '../../../../lib/connections/store/audit/audit-messages.ts';
import { tables } from '../../../../lib/connections/store/audit/audit-tables.ts';
import { findEntries } from '../../../../lib/connections/store/audit/find-entries.ts';
import { createDatabase } from '../../../../lib/connections/store/thread/database/store-database.ts';
import { createFolder } from '../../../support/folder.ts';

const row = (n: number, more: Partial<AuditRow>): AuditRow => ({
  ...{ n, time: n * 10_000, kind: 'change', user: 'api 10.0.0.3', address: 'desk/lamp', type: 'B', before: false },
  ...{ after: true, count: 1, cause: '', ...more },
});
const rows: readonly AuditRow[] = [
  row(1, {}),
  row(2, { address: 'desk/mic/1/level', type: 'F', before: 0.5, after: 1 }),
  row(3, { kind: 'fire', address: 'desk/bell', type: 'T', before: undefined, after: undefined, user: 'keys' }),
  row(4, { address: 'desk/text', type: 'S', before: undefined, after: '100%_[sure]' }),
  row(5, { kind: 'rule', address: 'copies', type: '', before: undefined, after: 'off', cause: 'a rule of flow.json5' }),
  row(6, { address: 'desk/lamp', before: true, after: false, count: 3 }),
  row(7, { address: 'desk/text', type: 'S', before: 'Grüße', after: 'ÄRGER\u0000 im Studio' }),
];

async function finder(t: ExecutionContext, written = rows) {
  const path = join(await createFolder(t), 'audit.db');
  createDatabase(path, tables);
  const writing = new AuditDatabase(path, 1e8, Number.POSITIVE_INFINITY);
  writing.write({ rows: written, log: [], run: { seen: 0, isClean: false, count: 'a' } });
  const database = new DatabaseSync(path, { readOnly: true });
  t.teardown(() => {
    database.close();
    writing.close();
  });
  return (question: Partial<AuditQuestion>) =>
    findEntries(database, { ask: 'audit', from: 0, to: 1e9, limit: 100, ...question }, () => {});
}

const cases: readonly [Partial<AuditQuestion>, number[]][] = [
  [{}, [7, 6, 5, 4, 3, 2, 1]],
  [{ from: 20_000, to: 40_000 }, [4, 3, 2]],
  [{ from: 80_000 }, []],
  [{ to: 9999 }, []],
  [{ before: 3 }, [2, 1]],
  [{ address: 'desk/lamp' }, [6, 1]],
  [{ address: 'desk/*' }, [7, 6, 4, 3, 1]],
  [{ address: 'desk/**/level' }, [2]],
  [{ address: '**' }, [7, 6, 5, 4, 3, 2, 1]],
  [{ user: 'KEYS' }, [3]],
  [{ user: '10.0.0' }, [7, 6, 5, 4, 2, 1]],
  [{ kind: 'rule' }, [5]],
  [{ text: '100%_[' }, [4]],
  [{ text: 'FLOW' }, [5]],
  [{ text: '%' }, [4]],
  [{ text: 'lamp', kind: 'change', from: 30_000 }, [6]],
  [{ text: 'ärger' }, [7]],
  [{ text: 'GRÜß' }, [7]],
  [{ text: 'Im Studio' }, [7]],
  [{ text: 'ö' }, []],
  [{ text: 'false' }, [6, 1]],
  [{ text: 'API', user: 'käys' }, []],
];

test('filters', async (t) => {
  const find = await finder(t);
  for (const [question, expected] of cases)
    t.deepEqual(
      find(question).entries.map(({ n }) => n),
      expected,
      JSON.stringify(question),
    );
});

test('values have their types, and missing ones are omitted', async (t) => {
  const find = await finder(t);
  const { entries } = find({});
  t.deepEqual(entries[1], {
    ...{ n: 6, time: 60_000, kind: 'change', user: 'api 10.0.0.3', address: 'desk/lamp' },
    ...{ before: true, after: false, count: 3 },
  });
  t.deepEqual(entries[4], { n: 3, time: 30_000, kind: 'fire', user: 'keys', address: 'desk/bell', count: 1 });
});

test('a page has a limited length, and says whether there is more', async (t) => {
  const find = await finder(t);
  const first = find({ limit: 4 });
  t.deepEqual([first.entries.length, first.hasMore], [4, true]);
  const second = find({ limit: 4, before: first.entries.at(-1)!.n });
  t.deepEqual([second.entries.length, second.hasMore], [3, false]);
});

test('the newest entry is found, also when it is a little older than the one before it', async (t) => {
  const find = await finder(t, [row(1, { time: 1000 }), row(2, { time: 997 })]);
  t.deepEqual(
    find({}).entries.map(({ n }) => n),
    [2, 1],
  );
});
