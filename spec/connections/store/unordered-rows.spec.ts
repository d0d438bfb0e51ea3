// A bit that turns in the key of a row leaves a page that SQLite can read, and rows behind it that it does not find.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { checkDatabase } from '../../../lib/connections/store/thread/database/store-database.ts';
import { createFolder } from '../../support/folder.ts';

test('a row out of order is damage', async (t) => {
  const path = join(await createFolder(t), 'rows.db');
  const database = new DatabaseSync(path);
  t.teardown(() => database.close());
  database.exec('CREATE TABLE change (time INTEGER PRIMARY KEY, value TEXT) WITHOUT ROWID');
  const insert = database.prepare('INSERT INTO change VALUES (?, ?)');
  for (let row = 0; row < 50; row++) insert.run(0x1122_3344_5500 + row, 'value');
  t.notThrows(() => checkDatabase(database));

  const bytes = readFileSync(path);
  const at = bytes.indexOf(Buffer.from('11223344550f', 'hex'));
  bytes[at]! ^= 0x40;
  writeFileSync(path, bytes);
  const damaged = new DatabaseSync(path, { readOnly: true });
  t.teardown(() => damaged.close());
  const found = damaged.prepare('SELECT count(*) AS count FROM change WHERE time BETWEEN ? AND ?');
  t.true(Number(found.get(0x1122_3344_5500, 0x1122_3344_55ff)!.count) < 49, 'the row hides others');
  t.throws(() => checkDatabase(damaged), { message: /row not in PRIMARY KEY order/ });
});
