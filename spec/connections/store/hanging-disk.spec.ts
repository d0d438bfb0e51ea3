// A hub whose disk does not answer ends all the same: it leaves behind the thread that waits.

import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { api } from '../../support/hub.ts';
import { startHubProcess } from '../../support/system/hub-process.ts';

test('SIGTERM ends a hub whose store waits for the disk', async (t) => {
  const hub = await startHubProcess(t, {
    connections: { api, store: { type: 'store', folder: 'data' }, desk: { type: 'dummy', parameters: ['a,I'] } },
  });
  const database = new DatabaseSync(join(hub.folder, 'data', 'values.db'));
  t.teardown(() => database.close());
  database.exec('BEGIN IMMEDIATE'); // nobody else can write now
  t.is(await hub.get('/update?parameter=desk/a&value=1'), 'OK');
  await hub.logged(/values are written with a lag/);
  const exit = once(hub.process, 'exit');
  hub.process.kill('SIGTERM');
  t.deepEqual(await exit, [null, 'SIGTERM'], 'it does not wait for the disk');
});
