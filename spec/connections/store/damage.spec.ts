// Whatever has become of the database, the hub starts and serves, says what was lost, sets the bad file aside, and goes on.

import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test, { type ExecutionContext } from 'ava';
import { eventually } from '../../support/deadline.ts';
import { statusOf, writer } from '../../support/hub.ts';
import { findKept, keep } from '../../support/store/kept.ts';
import { type Installation, install, type StoredHub } from '../../support/store/store.ts';

const count = 200;
const desk = { type: 'dummy', parameters: Array.from({ length: count }, (_, index) => `p${index},I`) };

/** A database that has `value` for all parameters. */
const fill = (installation: Installation, value: number) =>
  keep(installation, Object.fromEntries(desk.parameters.map((_, index) => [`desk/p${index}`, value])));

async function damaged(t: ExecutionContext, damage: (path: string) => Promise<unknown>) {
  const installation = await install(t, { desk });
  fill(installation, 7);
  await damage(installation.values);
  const hub = await installation.start();
  return { hub, installation, status: statusOf(hub, 'store') };
}

const damages: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  noise: async (path) => writeFile(path, randomBytes((await readFile(path)).length)),
  'nothing in it': (path) => truncate(path, 0),
  'half of it': async (path) => truncate(path, 4096),
  'a folder in its place': async (path) => {
    await rm(path);
    await mkdir(path);
  },
  'another database in its place': async (path) => {
    await rm(path);
    const other = new DatabaseSync(path);
    other.exec('CREATE TABLE other (a)');
    other.close();
  },
};

for (const [what, damage] of Object.entries(damages))
  test(`${what}: the file is set aside, the hub runs without the values and keeps new ones`, async (t) => {
    const { hub, installation, status } = await damaged(t, damage);
    t.is(status.state, 'degraded');
    t.regex(
      status.reason,
      /values\.db is damaged \(.+\), set aside as values\.damaged-\S+\.db: all values are lost(;|$)/,
    );
    const [, aside] = /set aside as (\S+):/.exec(status.reason)!;
    t.true((await readdir(join(installation.folder, 'data'))).includes(aside!));
    t.is(hub.find('desk/p0')!.value, undefined);
    hub.write('desk/p0', 8, writer);
    await hub.stop();
    const { values, losses } = await findKept(installation);
    t.deepEqual([values, losses], [{ 'desk/p0': 8 }, []]);
  });

test('a folder in the place of a log or of its index is set aside, and the values are there', async (t) => {
  const installation = await install(t, { desk });
  const data = join(installation.folder, 'data');
  fill(installation, 7);
  const inTheWay = ['values.db-wal', 'values.db-shm', 'audit.db-shm', 'history.db-wal'];
  for (const name of inTheWay) await mkdir(join(data, name, 'somebody'), { recursive: true });
  const hub = await installation.start();
  t.is(hub.find('desk/p0')!.value, 7);
  for (const name of inTheWay) {
    const told = new RegExp(`${name} is no file, set aside as \\S+-(wal|shm)`);
    await eventually(() => told.test(statusOf(hub, 'store').reason), `${name} is told`);
  }
  hub.write('desk/p0', 8, writer);
  await hub.stop();
  t.true((await readdir(data)).some((name) => /^history\.damaged-.+\.db-wal$/.test(name)));
  const { values, losses } = await findKept(installation);
  t.deepEqual([values['desk/p0'], losses], [8, []]);
});

test('the copy of the last hour is used, and the time of it told', async (t) => {
  const installation = await install(t, { desk });
  fill(installation, 7);
  await copyFile(installation.values, installation.values.replace('.db', '.copy.db'));
  fill(installation, 8);
  await writeFile(installation.values, randomBytes(20_000));
  const hub = await installation.start();
  t.is(hub.find('desk/p0')!.value, 7);
  t.regex(statusOf(hub, 'store').reason, /: the copy of \d{4}-\S+Z is used, later changes are lost(;|$)/);
});

test('a database that is missing is replaced by its copy; a copy that is damaged too is set aside', async (t) => {
  const installation = await install(t, { desk });
  fill(installation, 7);
  const copy = installation.values.replace('.db', '.copy.db');
  await copyFile(installation.values, copy);
  await rm(installation.values);
  const hub = await installation.start();
  t.is(hub.find('desk/p0')!.value, 7);
  t.regex(statusOf(hub, 'store').reason, /values\.db is missing: the copy of \S+ is used, later changes are lost(;|$)/);
  await hub.stop();
  for (const path of [installation.values, copy]) await writeFile(path, randomBytes(20_000));
  const next = await installation.start();
  t.is(next.find('desk/p0')!.value, undefined);
  t.regex(statusOf(next, 'store').reason, /is used, .*; its copy is damaged .*: all values are lost(;|$)/);
});

const overwrite = async (path: string) => writeFile(path, randomBytes((await stat(path)).size), { flag: 'r+' });
const damagesOfRunning: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  'it is deleted': (path) => rm(path),
  'its log is deleted': (path) => rm(`${path}-wal`),
  'it is cut off': (path) => truncate(path, 4096),
  'all of it is noise': (path) => Promise.all([path, `${path}-wal`].map(overwrite)),
};

test('a database that is damaged while the hub runs costs nothing: the hub writes it anew', async (t) => {
  const installation = await install(t, { desk });
  const hub = await installation.start();
  for (let index = 0; index < count; index++) hub.write(`desk/p${index}`, 7, writer);
  await eventually(() => valueIn(installation.values, 'desk/p9') === 7);
  let value = 7;
  for (const [what, damage] of Object.entries(damagesOfRunning)) {
    hub.write('desk/p0', ++value, writer);
    await eventually(() => valueIn(installation.values, 'desk/p0') === value);
    await damage(installation.values);
    hub.write('desk/p0', ++value, writer);
    await hub.logged(/^connection "store" is degraded: /);
    await eventually(() => valueIn(installation.values, 'desk/p0') === value, `${what}: it is written anew`);
    t.is(valueIn(installation.values, 'desk/p9'), 7, what);
  }
  await hub.stop();
  const { values } = await findKept(installation);
  t.deepEqual([values['desk/p0'], values['desk/p9']], [value, 7]);
});

test('a folder that cannot be used for a while costs nothing', async (t) => {
  const installation = await install(t, { desk });
  const folder = join(installation.folder, 'data');
  await writeFile(folder, 'a file');
  const hub = await installation.start();
  t.regex(statusOf(hub, 'store').reason, /^cannot write /);
  hub.write('desk/p0', 8, writer);
  await rm(folder);
  await hub.logged(/^connection "store" is running$/);
  await hub.stop();
  t.deepEqual((await findKept(installation)).values, { 'desk/p0': 8 });
});

/** The least size has room for 800 kB of values: for one of two such connections. */
const maxSize = '16MB';
const text = 'x'.repeat(60_000);
const ids = Array.from({ length: 12 }, (_, index) => `p${index}`);
const last = ids.at(-1);
const texts = { type: 'dummy', parameters: ids };

/** A hub whose database is full of values of a connection that is no longer there. */
async function startWithoutRoom(t: ExecutionContext) {
  const installation = await install(t, {}, { store: { maxSize } });
  keep(installation, Object.fromEntries(ids.map((id) => [`many/${id}`, text])));
  await installation.change({ others: texts });
  const hub = await installation.start();
  return {
    installation,
    hub,
    write() {
      for (const id of ids) hub.write(`others/${id}`, text, writer);
    },
    async goesOn() {
      const { values } = installation;
      await eventually(() => valueIn(values, `others/${last}`) === text, 'the values are written');
      await isRunning(hub);
      t.is(valueIn(values, 'many/p0'), undefined);
    },
  };
}

test('a database that is full forgets what no flow file has any more, and goes on', async (t) => {
  const { write, goesOn } = await startWithoutRoom(t);
  write();
  await goesOn();
});

test('one that is full once somebody else has let go of it does so as well', async (t) => {
  const { installation, hub, write, goesOn } = await startWithoutRoom(t);
  const other = new DatabaseSync(installation.values);
  other.exec('BEGIN IMMEDIATE');
  write();
  await hub.logged(/values are not written: database is locked/);
  other.exec('ROLLBACK');
  other.close();
  await goesOn();
});

test('a database that is full of what is there says so, and goes on once some of that is removed', async (t) => {
  const installation = await install(t, { many: texts, others: texts }, { store: { maxSize } });
  const { values } = installation;
  const hub = await installation.start();
  for (const id of ids) hub.write(`many/${id}`, text, writer);
  await eventually(() => valueIn(values, `many/${last}`) === text, 'there is room for these');
  for (const id of ids) hub.write(`others/${id}`, text, writer);
  await hub.logged(/values are not written: database or disk is full/);
  await installation.change({ others: texts });
  await hub.reload();
  await eventually(() => valueIn(values, `others/${last}`) === text, 'the values are written');
  await isRunning(hub);
  t.is(valueIn(values, 'many/p0'), undefined);
});

/** Waits until nothing is wrong with the store; what is wrong is in the error. */
async function isRunning(hub: StoredHub): Promise<void> {
  const status = () => statusOf(hub, 'store');
  await eventually(() => status().state === 'running').catch((error) => {
    throw new Error(`${error.message}: ${status().reason}`);
  });
}

function valueIn(path: string, address: string): unknown {
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      return database.prepare('SELECT value FROM parameter WHERE address = ?').get(address)?.value;
    } finally {
      database.close();
    }
  } catch {
    return undefined; // it is not there yet
  }
}
