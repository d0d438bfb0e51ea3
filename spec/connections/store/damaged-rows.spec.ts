// A row that is not as it was written is left out, and told; the others are restored. Databases without checksums are taken over.

import { readFile, writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { statusOf, writer } from '../../support/hub.ts';
import { findKept, keep } from '../../support/store/kept.ts';
import { install } from '../../support/store/store.ts';

const desk = { type: 'dummy', parameters: ['a,I,1', 'b,I,1', 'c,S,none'] };
const clock = { type: 'timer' };

/** Changes a database as a disk may, behind the back of the hub. */
function change(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

test('a row with a changed value is replaced by the default, once', async (t) => {
  const snapshots = { all: { include: ['desk/**'] } };
  const installation = await install(t, { desk, clock }, { store: { snapshots } });
  const before = await installation.start();
  for (const [id, value] of Object.entries({ a: 5, b: 6, c: 'text' })) before.write(`desk/${id}`, value, writer);
  before.write('clock/timer/1/start', 600_000, writer);
  before.write('store/all/save', 'evening', writer);
  await before.stop();
  await installation.closed();
  change(installation.values, `UPDATE parameter SET value = value + 1 WHERE address = 'desk/a'`);
  change(installation.values, `UPDATE under_way SET memory = memory || ' '`);
  change(installation.values, `UPDATE last_snapshot SET name = 'morning'`);

  const hub = await installation.start();
  const read = (id: string) => hub.find(`desk/${id}`)!.value;
  t.deepEqual(['a', 'b', 'c'].map(read), [1, 6, 'text']);
  const { state, reason } = statusOf(hub, 'store');
  t.is(state, 'degraded');
  t.regex(
    reason,
    /values\.db has 3 damaged rows, whose contents are lost: desk\/a, clock\/timer\/1 \(under way\), all \(last snapshot\)$/,
  );
  await hub.stop();
  t.deepEqual((await findKept(installation)).losses, []);
});

test('a flipped bit in the file never results in another value', async (t) => {
  const installation = await install(t, { desk });
  keep(installation, { 'desk/c': 'text that is to be found' });
  const file = await readFile(installation.values);
  const at = file.indexOf('text that is to be found');
  file[at + 3]! ^= 1;
  await writeFile(installation.values, file);
  const { values, losses } = await findKept(installation);
  t.deepEqual(values, {});
  t.regex(losses.join(), /has a damaged row, whose contents are lost: desk\/c$/);
});

test('a number that is too large for a program is a damaged row', async (t) => {
  const installation = await install(t, { desk });
  keep(installation, { 'desk/a': 7, 'desk/b': 7 });
  change(installation.values, `UPDATE parameter SET value = ${2n ** 60n} WHERE address = 'desk/a'`);
  const { values, losses } = await findKept(installation);
  t.deepEqual(values, { 'desk/b': 7 });
  t.regex(losses.join(), /has a damaged row, whose contents are lost: desk\/a$/);
});

test('a database of the first version is converted', async (t) => {
  const installation = await install(t, { desk });
  keep(installation, {});
  change(
    installation.values,
    `DROP TABLE parameter; DROP TABLE under_way;
    CREATE TABLE parameter (
      address TEXT PRIMARY KEY, type TEXT NOT NULL, value ANY NOT NULL, time INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE under_way (
      connection TEXT NOT NULL, name TEXT NOT NULL, memory TEXT NOT NULL, PRIMARY KEY (connection, name)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO parameter VALUES ('desk/a', 'I', 8, 1763790000000);
    PRAGMA user_version = 1;`,
  );
  const hub = await installation.start();
  t.deepEqual([hub.find('desk/a')!.value, hub.find('desk/a')!.lastChange!.cause], [8, undefined]);
  t.is(statusOf(hub, 'store').state, 'running');
  hub.write('desk/b', 9, writer);
  await hub.stop();
  const { values, losses } = await findKept(installation);
  t.deepEqual([values, losses], [{ 'desk/a': 8, 'desk/b': 9 }, []]);
});
