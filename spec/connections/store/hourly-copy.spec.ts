// The copy of the last hour: of one moment, whole, and used when the database is damaged.

import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { copyEveryMs, HourlyCopy } from '../../../lib/connections/store/hourly-copy.ts';
import { filesOf } from '../../../lib/connections/store/thread/database/files.ts';
import { ValuesDatabase } from '../../../lib/connections/store/thread/values/values-database.ts';
import { createFolder } from '../../support/folder.ts';
import { writer } from '../../support/hub.ts';
import { findKept } from '../../support/store/kept.ts';
import { install } from '../../support/store/store.ts';

const now = () => 0;

test('a copy of a busy database contains the values of one moment, and is used', async (t) => {
  const desk = { type: 'dummy', parameters: ['a,I', 'b,I'] };
  const installation = await install(t, { desk });
  const hub = await installation.start();
  const files = filesOf(join(installation.folder, 'data'), 'values');
  const writing = setInterval(() => {
    const next = ((hub.find('desk/a')!.value as number | undefined) ?? 0) + 1;
    hub.turn(() => ['desk/a', 'desk/b'].map((address) => hub.write(address, next, writer)));
  }, 1);
  t.teardown(() => clearInterval(writing));
  const copy = new HourlyCopy(files);
  for (let round = 0; round < 3; round++) t.deepEqual(await copy.make(now), { state: 'copied' });
  clearInterval(writing);
  await hub.stop();
  await installation.closed();
  await writeFile(files.path, randomBytes(10_000));
  const { values, losses } = await findKept(installation);
  t.true((values['desk/a'] as number) > 0);
  t.is(values['desk/a'], values['desk/b']);
  t.regex(losses.join(), /the copy from \S+Z is used/);
});

test('a copy is made a minute after the first start, and an hour after the previous one', (t) => {
  const copy = new HourlyCopy(filesOf('/', 'values'));
  t.false(copy.isDue(1e9));
  copy.plan(0, undefined);
  t.deepEqual([copy.isDue(59_999), copy.isDue(60_000)], [false, true]);
  copy.plan(0, copyEveryMs - 1000);
  t.deepEqual([copy.isDue(999), copy.isDue(1000)], [false, true]);
});

test('a damaged database is reported, and the previous copy stays', async (t) => {
  const files = filesOf(await createFolder(t), 'values');
  ValuesDatabase.create(files.path);
  const copy = new HourlyCopy(files);
  t.deepEqual(await copy.make(now), { state: 'copied' });
  t.is(copy.trouble, undefined);
  await writeFile(files.path, randomBytes(10_000));
  t.like(await copy.make(now), { state: 'damaged' });
  t.regex(copy.trouble!, /^the hourly copy failed: ./);
  t.notThrows(() => ValuesDatabase.check(files.copy, false));
});

test('a failed copy is reported with its reason', async (t) => {
  const files = filesOf(await createFolder(t), 'values');
  ValuesDatabase.create(files.path);
  await mkdir(`${files.copy}.part`);
  t.like(await new HourlyCopy(files).make(now), { state: 'failed' });
});
