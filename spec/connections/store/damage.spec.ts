// Whatever has become of the database, the hub starts and serves, says what was lost, sets the bad file aside, and goes on.

import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test, { type ExecutionContext } from 'ava';
import { eventually } from '../../support/deadline.ts';
import { statusOf, writer } from '../../support/hub.ts';
import { type Installation, install, type StoredHub } from '../../support/store/store.ts';

const count = 200;
const desk = { type: 'dummy', parameters: Array.from({ length: count }, (_, index) => `p${index},I`) };

/** Runs a hub that writes `value` into all parameters, and ends. */
async function fill({ start, closed }: Installation, value: number): Promise<void> {
  const hub = await start();
  for (let index = 0; index < count; index++) hub.write(`desk/p${index}`, value, writer);
  await hub.stop();
  await closed();
}

async function damaged(t: ExecutionContext, damage: (path: string) => Promise<unknown>) {
  const installation = await install(t, { desk });
  await fill(installation, 7);
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
    t.regex(status.reason, /values\.db is damaged \(.+\), set aside as values\.damaged-\S+\.db: all values are lost$/);
    const [, aside] = /set aside as (\S+):/.exec(status.reason)!;
    t.true((await readdir(join(installation.folder, 'data'))).includes(aside!));
    t.is(hub.find('desk/p0')!.value, undefined);
    hub.write('desk/p0', 8, writer);
    await hub.stop();
    const next = await installation.start();
    t.is(next.find('desk/p0')!.value, 8);
    t.is(statusOf(next, 'store').state, 'running');
  });

test('a folder in the place of a log or of its index is set aside, and the values are there', async (t) => {
  const installation = await install(t, { desk });
  const data = join(installation.folder, 'data');
  const before = await installation.start();
  before.write('desk/p0', 7, writer);
  await eventually(async () => (await readdir(data)).includes('history.db-wal'));
  await before.stop();
  await installation.closed();
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
  const next = await installation.start();
  t.is(next.find('desk/p0')!.value, 8);
  t.is(statusOf(next, 'store').state, 'running');
});

test('the copy of the last hour is used, and the time of it told', async (t) => {
  const installation = await install(t, { desk });
  await fill(installation, 7);
  await copyFile(installation.values, installation.values.replace('.db', '.copy.db'));
  await fill(installation, 8);
  await writeFile(installation.values, randomBytes(20_000));
  const hub = await installation.start();
  t.is(hub.find('desk/p0')!.value, 7);
  t.regex(statusOf(hub, 'store').reason, /: the copy of \d{4}-\S+Z is used, later changes are lost$/);
});

test('a database that is missing is replaced by its copy; a copy that is damaged too is set aside', async (t) => {
  const installation = await install(t, { desk });
  await fill(installation, 7);
  const copy = installation.values.replace('.db', '.copy.db');
  await copyFile(installation.values, copy);
  await rm(installation.values);
  const hub = await installation.start();
  t.is(hub.find('desk/p0')!.value, 7);
  t.regex(statusOf(hub, 'store').reason, /values\.db is missing: the copy of \S+ is used, later changes are lost$/);
  await hub.stop();
  for (const path of [installation.values, copy]) await writeFile(path, randomBytes(20_000));
  const next = await installation.start();
  t.is(next.find('desk/p0')!.value, undefined);
  t.regex(statusOf(next, 'store').reason, /is used, .*; its copy is damaged .*: all values are lost$/);
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
  const next = await installation.start();
  t.deepEqual([next.find('desk/p0')!.value, next.find('desk/p9')!.value], [value, 7]);
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
  const next = await installation.start();
  t.is(next.find('desk/p0')!.value, 8);
});

const text = 'x'.repeat(60_000);
const ids = Array.from({ length: 60 }, (_, index) => `p${index}`);
const texts = { type: 'dummy', parameters: ids };

/** A hub whose database is full of values of a connection that is no longer there. */
async function startWithoutRoom(t: ExecutionContext) {
  const installation = await install(t, { many: texts }, { store: { maxSize: '80MB' } });
  const before = await installation.start();
  for (const id of ids) before.write(`many/${id}`, text, writer);
  await before.stop();
  await installation.closed();
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
      await eventually(() => valueIn(values, 'others/p59') === text, 'the values are written');
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
  const installation = await install(t, { many: texts, others: texts }, { store: { maxSize: '80MB' } });
  const { values } = installation;
  const hub = await installation.start();
  for (const id of ids) hub.write(`many/${id}`, text, writer);
  await eventually(() => valueIn(values, 'many/p59') === text, 'there is room for these');
  for (const id of ids) hub.write(`others/${id}`, text, writer);
  await hub.logged(/values are not written: database or disk is full/);
  await installation.change({ others: texts });
  await hub.reload();
  await eventually(() => valueIn(values, 'others/p59') === text, 'the values are written');
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
