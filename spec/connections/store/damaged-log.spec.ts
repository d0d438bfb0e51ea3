// The log before a database (`-wal`) that a hub leaves behind when it is killed. SQLite reads it up to the first damage and says
// nothing; the store does.

import { existsSync } from 'node:fs';
import { cp, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { eventually } from '../../support/deadline.ts';
import { statusOf, writer } from '../../support/hub.ts';
import { noted } from '../../support/store/audit.ts';
import { install } from '../../support/store/store.ts';

const desk = { type: 'dummy', parameters: ['a,I,1'] };

function keptIn(path: string): unknown {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return database.prepare(`SELECT value FROM parameter WHERE address = 'desk/a'`).get()?.value;
  } finally {
    database.close();
  }
}

test('a log that was cut by a kill is reported, a complete one is not', async (t) => {
  const installation = await install(t, { desk });
  const data = join(installation.folder, 'data');
  const killed = join(installation.folder, 'killed');
  const before = await installation.start();
  for (const value of [2, 3]) {
    before.write('desk/a', value, writer);
    await eventually(() => keptIn(installation.values) === value);
    await noted(installation, ({ after }) => after === value); // nothing is being written when it is copied
  }
  await eventually(() => existsSync(join(data, 'history.db-wal'))); // nor created
  await cp(data, killed, { recursive: true }); // what a kill leaves behind
  await before.stop();
  const startAsKilled = async () => {
    await rm(data, { recursive: true });
    await cp(killed, data, { recursive: true });
    return installation.start();
  };

  const whole = await startAsKilled();
  t.is(whole.find('desk/a')!.value, 3);
  t.is(statusOf(whole, 'store').state, 'running');
  await whole.stop();

  for (const name of ['values', 'audit']) {
    const path = join(killed, `${name}.db-wal`);
    await truncate(path, (await stat(path)).size - 1);
  }
  const cut = await startAsKilled();
  t.is(cut.find('desk/a')!.value, 2);
  const reported = /^\S+values\.db-wal is incomplete: the last writes are lost; audit: \S+audit\.db-wal is incomplete/;
  await eventually(() => reported.test(statusOf(cut, 'store').reason));
});
