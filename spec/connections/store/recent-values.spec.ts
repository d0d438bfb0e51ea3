// Values that change all the time: most of their writes are one row, `recent`. It is as good as rows of their own: after a kill, when a hub of
// an earlier version has written since, when it is damaged, and when parameters go away.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test, { type ExecutionContext } from 'ava';
import { copyDatabase } from '../../../lib/connections/store/thread/database/store-database.ts';
import { beginValues, ValuesDatabase } from '../../../lib/connections/store/thread/values/values-database.ts';
import type { ValueRow } from '../../../lib/connections/store/thread/values/values-messages.ts';
import { recentRows } from '../../../lib/connections/store/values/gather.ts';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { install } from '../../support/store/store.ts';

const causes = '[{"kind":"client","name":"api \\"ü\\""}]';
const rowOf = (index: number, value: number, time = 1000 + value): ValueRow => [
  `desk/ü "${index}"`,
  'F',
  value,
  time,
  causes,
];
const nothing = { memories: [], snapshots: undefined };
const rows = (value: number) => Array.from({ length: 3 }, (_, index) => rowOf(index, value));

/** A folder whose database has rows with the value 1 and recent values 2, as after a kill. */
async function killed(t: ExecutionContext): Promise<{ folder: string; path: string }> {
  const folder = await createFolder(t);
  const path = join(folder, 'values.db');
  ValuesDatabase.create(path);
  const database = new ValuesDatabase(path, 1e8);
  database.write({ values: rows(1), ...nothing });
  database.write({ values: [], recent: recentRows([...rows(2).slice(1), ['desk/on', 'B', true, 5, '']]), ...nothing });
  database.close();
  return { folder, path };
}

const open = (folder: string) => beginValues({ folder, maxBytes: 1e8, isRead: true }).open();

function read(path: string, sql: string): unknown[][] {
  const database = new DatabaseSync(path, { readOnly: true });
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  const all = statement.all() as unknown as unknown[][];
  database.close();
  return all;
}

const byAddress = ([one]: readonly unknown[], [other]: readonly unknown[]) => (`${one}` < `${other}` ? -1 : 1);
const expected = [['desk/on', 'B', true, 5, ''], rowOf(0, 1), rowOf(1, 2), rowOf(2, 2)].sort(byAddress);

test('recent values are restored and get rows, and people see them in the view newest', async (t) => {
  const { folder, path } = await killed(t);
  const shown = read(path, 'SELECT address, type, value, time, causes FROM newest').sort(byAddress);
  t.deepEqual(
    shown,
    expected.map((row) => row.map((cell) => (cell === true ? 1 : cell))),
  );
  const { opened, close } = open(folder);
  t.deepEqual(opened.losses, []);
  t.deepEqual([...opened.held!.values].sort(byAddress), expected as ValueRow[]);
  t.deepEqual(read(path, 'SELECT value FROM parameter ORDER BY address'), [[1], [1], [2], [2]].sort());
  t.deepEqual(read(path, 'SELECT count(*) FROM recent'), [[0]]);
  close();
  const again = open(folder);
  t.deepEqual([...again.opened.held!.values].sort(byAddress), expected as ValueRow[]);
  again.close();
});

test('rows that a hub of an earlier version, or a person, has written since are newer', async (t) => {
  const { folder, path } = await killed(t);
  const earlier = new DatabaseSync(path);
  earlier.exec('DELETE FROM parameter WHERE value = 7');
  t.is(read(path, 'SELECT count(*) FROM recent')[0]![0], 1);
  const causesOf = "'', 0";
  earlier.exec(`INSERT INTO parameter VALUES ('desk/x', 'F', 1, 1, ${causesOf}) ON CONFLICT DO UPDATE SET value = 1`);
  earlier.close();
  t.deepEqual(read(path, 'SELECT count(*) FROM recent'), [[0]]);
  const { opened, close } = open(folder);
  t.deepEqual(
    opened.held!.values.map(([, , value]) => value),
    [1, 1, 1],
  );
  close();
});

test('recent values that are damaged are reported, and the rows before them are used', async (t) => {
  for (const edit of ["parameters = replace(parameters, '2.0', '3.0')", "parameters = 'no JSON'", 'checksum = 1']) {
    const { folder, path } = await killed(t);
    const editing = new DatabaseSync(path);
    editing.exec(`UPDATE recent SET ${edit}`);
    editing.close();
    const { opened, close } = open(folder);
    t.deepEqual(opened.losses, [`${path} has a damaged row, whose contents are lost: the values of the last seconds`]);
    t.deepEqual(
      opened.held!.values.map(([, , value]) => value),
      [1, 1, 1],
    );
    close();
    const again = open(folder);
    t.deepEqual(again.opened.losses, []);
    again.close();
  }
});

test('while values change all the time, what was written is there half a second later, and after the end all have rows', async (t) => {
  const count = 60;
  const names = Array.from({ length: count }, (_, index) => `v${index}`);
  const { folder, values, start, closed } = await install(t, {
    desk: { type: 'dummy', parameters: names.map((name) => `${name},I`) },
  });
  const hub = await start();
  const origin = { kind: 'client', name: 'test' } as const;
  let written = 0;
  const writing = setInterval(() => {
    written++;
    for (const name of names) hub.write(`desk/${name}`, written, origin);
  }, 20);
  t.teardown(() => clearInterval(writing));
  const isRecent = () => (read(values, 'SELECT count(*) FROM recent')[0]![0] as number) === 1;
  await eventually(isRecent, 'values in one row');
  await eventually(async () => !isRecent(), 'rows of their own');
  await eventually(isRecent, 'values in one row again');
  const safe = written;
  await eventually(() => (read(values, 'SELECT min(value) FROM newest')[0]![0] as number) > safe, 'what was written');
  const copied = join(folder, 'copied');
  await mkdir(copied);
  copyDatabase(values, join(copied, 'values.db'));
  const { opened, close } = open(copied);
  t.is(opened.held!.values.length, count);
  t.true(opened.held!.values.every(([, , value]) => (value as number) > safe));
  close();
  clearInterval(writing);
  await eventually(
    () => (read(values, 'SELECT min(value) FROM parameter')[0]![0] as number) === written,
    'rows of their own once nothing changes',
  );
  t.false(isRecent());
  for (let times = 0; times < 2; times++) for (const name of names) hub.write(`desk/${name}`, ++written, origin);
  await hub.stop();
  await closed();
  t.deepEqual(read(values, 'SELECT max(value) FROM parameter'), [[written]]);
  const next = await start();
  t.deepEqual(
    names.map((name) => next.find(`desk/${name}`)!.value),
    names.map((_, index) => written - count + 1 + index),
  );
});
