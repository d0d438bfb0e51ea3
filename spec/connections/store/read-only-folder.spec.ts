// A folder or a file that is read-only: its values are restored all the same, and what is new is written once that is possible.
// Its own file, since the rights of a folder do not bind the administrator: as one, the whole process becomes nobody.

import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { statusOf, writer } from '../../support/hub.ts';
import { findKept, keep } from '../../support/store/kept.ts';
import { install } from '../../support/store/store.ts';
import { asNobody } from '../../support/system/nobody.ts';

const files = ['values.db', 'hub.lock', 'audit.db', 'audit.lock'];
const testAsNobody = asNobody();

testAsNobody('a folder that is read-only for a while costs nothing', async (t) => {
  const installation = await install(t, { desk: { type: 'dummy', parameters: ['a,I', 'b,I'] } });
  const before = await installation.start();
  before.write('desk/a', 1, writer);
  await before.stop();
  const { count } = before.log(0, 'info');

  const data = join(installation.folder, 'data');
  chmodSync(data, 0o555);
  for (const file of files) chmodSync(join(data, file), 0o444);
  const hub = await installation.start();
  t.is(hub.find('desk/a')!.value, 1);
  await hub.earlierLog();
  t.is(hub.log(0, 'info').count, count, 'the log of the run before');
  t.is(statusOf(hub, 'store').state, 'degraded');
  t.regex(statusOf(hub, 'store').reason, /^cannot write .*values\.db: /);
  hub.write('desk/b', 2, writer);

  chmodSync(data, 0o755);
  for (const file of files) chmodSync(join(data, file), 0o644);
  await hub.logged(/^connection "store" is running$/);
  await hub.stop();
  t.deepEqual((await findKept(installation)).values, { 'desk/a': 1, 'desk/b': 2 });
});

testAsNobody('a database that is read-only for a while costs nothing', async (t) => {
  const installation = await install(t, { desk: { type: 'dummy', parameters: ['a,I', 'b,I'] } });
  keep(installation, { 'desk/a': 1 });
  chmodSync(installation.values, 0o444);
  const hub = await installation.start();
  t.is(hub.find('desk/a')!.value, 1);
  t.is(statusOf(hub, 'store').state, 'degraded');
  hub.write('desk/b', 2, writer);
  chmodSync(installation.values, 0o644);
  await hub.logged(/^connection "store" is running$/);
  await hub.stop();
  t.deepEqual((await findKept(installation)).values, { 'desk/a': 1, 'desk/b': 2 });
});
