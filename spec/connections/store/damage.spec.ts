// Whatever has become of the database, the hub starts and serves, says what was lost, sets the bad file aside, and goes on.

import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { eventually } from '../../support/deadline.ts';
import { statusOf, writer } from '../../support/hub.ts';
import { findKept, keep } from '../../support/store/kept.ts';
import { type Installation, install, type StoredHub } from '../../support/store/store.ts';

const count = 200;
const desk = { type: 'dummy', parameters: Array.from({ length: count }, (_, index) => `p${index},I`) };

const copyOf = ({ values }: Installation) => values.replace('.db', '.copy.db');

/** A database that has `value` for all parameters. */
const fill = (installation: Installation, value: number) =>
  keep(installation, Object.fromEntries(desk.parameters.map((_, index) => [`desk/p${index}`, value])));

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

const lostAll =
  /values\.db is damaged \(.+\) and was set aside as (values\.damaged-\S+\.db): all values are lost(?:;|$)/;

for (const [what, damage] of Object.entries(damages))
  test(`${what}: the file is set aside, all values are lost, and new ones are kept`, async (t) => {
    const installation = await install(t, { desk });
    fill(installation, 7);
    await damage(installation.values);
    const { values, losses } = await findKept(installation);
    t.deepEqual([values, losses.length], [{}, 1]);
    const [, aside] = lostAll.exec(losses[0]!) ?? [];
    t.true((await readdir(join(installation.folder, 'data'))).includes(aside!), losses[0]);
    keep(installation, { 'desk/p0': 8 });
    const next = await findKept(installation);
    t.deepEqual([next.values, next.losses], [{ 'desk/p0': 8 }, []]);
  });

test('a hub with lost values reports that, runs without them and keeps new ones', async (t) => {
  const installation = await install(t, { desk });
  fill(installation, 7);
  await damages.noise!(installation.values);
  const hub = await installation.start();
  const { state, reason } = statusOf(hub, 'store');
  t.is(state, 'degraded');
  t.regex(reason, lostAll);
  t.is(hub.find('desk/p0')!.value, undefined);
  hub.write('desk/p0', 8, writer);
  await hub.stop();
  const { values, losses } = await findKept(installation);
  t.deepEqual([values, losses], [{ 'desk/p0': 8 }, []]);
});

test('a folder in place of a log or of its index is set aside, and the values remain', async (t) => {
  const installation = await install(t, { desk });
  const data = join(installation.folder, 'data');
  fill(installation, 7);
  const inTheWay = ['values.db-wal', 'values.db-shm', 'audit.db-shm', 'history.db-wal'];
  for (const name of inTheWay) await mkdir(join(data, name, 'somebody'), { recursive: true });
  const hub = await installation.start();
  t.is(hub.find('desk/p0')!.value, 7);
  for (const name of inTheWay) {
    const reported = new RegExp(`${name} is not a file and was set aside as \\S+-(wal|shm)`);
    await eventually(() => reported.test(statusOf(hub, 'store').reason), `${name} is told`);
  }
  hub.write('desk/p0', 8, writer);
  await hub.stop();
  t.true((await readdir(data)).some((name) => /^history\.damaged-.+\.db-wal$/.test(name)));
  const { values, losses } = await findKept(installation);
  t.deepEqual([values['desk/p0'], losses], [8, []]);
});

test('the copy of the last hour is used, and its time reported', async (t) => {
  const installation = await install(t, { desk });
  fill(installation, 7);
  await copyFile(installation.values, copyOf(installation));
  fill(installation, 8);
  await writeFile(installation.values, randomBytes(20_000));
  const { values, losses } = await findKept(installation);
  t.is(values['desk/p0'], 7);
  t.regex(losses.join('; '), /: the copy from \d{4}-\S+Z is used, and later changes are lost$/);
});

test('a missing database is replaced by its copy; a damaged copy is set aside', async (t) => {
  const installation = await install(t, { desk });
  fill(installation, 7);
  await copyFile(installation.values, copyOf(installation));
  await rm(installation.values);
  const found = await findKept(installation);
  t.is(found.values['desk/p0'], 7);
  t.regex(found.losses.join('; '), /values\.db is missing: the copy from \S+ is used, and later changes are lost$/);
  for (const path of [installation.values, copyOf(installation)]) await writeFile(path, randomBytes(20_000));
  const { values, losses } = await findKept(installation);
  t.deepEqual(values, {});
  t.regex(losses.join('; '), /is used, and .*; its copy is damaged .*: all values are lost$/);
});

const overwrite = async (path: string) => writeFile(path, randomBytes((await stat(path)).size), { flag: 'r+' });
const damagesOfRunning: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  'it is deleted': (path) => rm(path),
  'its log is deleted': (path) => rm(`${path}-wal`),
  'it is cut off': (path) => truncate(path, 4096),
  'all of it is noise': (path) => Promise.all([path, `${path}-wal`].map(overwrite)),
};

test('a temporarily unusable folder, or damage while the hub runs, loses nothing: the hub writes all values again', async (t) => {
  const installation = await install(t, { desk });
  const folder = join(installation.folder, 'data');
  await writeFile(folder, 'a file');
  const hub = await installation.start();
  t.regex(statusOf(hub, 'store').reason, /^cannot write /);
  for (let index = 0; index < count; index++) hub.write(`desk/p${index}`, 7, writer);
  await rm(folder);
  await hub.logged(/^connection "store" is running$/);
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

/** The least size has room for 800 kB of values: for one of two such connections. */
const maxSize = '16MB';
const text = 'x'.repeat(60_000);
const ids = Array.from({ length: 12 }, (_, index) => `p${index}`);
const last = ids.at(-1);
const texts = { type: 'dummy', parameters: ids };

test('a full database forgets entries that no flow file has any more, also after another process has released it; if all its entries are in use it reports that, and continues once some are removed', async (t) => {
  const installation = await install(t, {}, { store: { maxSize } });
  keep(installation, Object.fromEntries(ids.map((id) => [`many/${id}`, text])));
  await installation.change({ others: texts });
  const hub = await installation.start();
  const write = (connection: string) => {
    for (const id of ids) hub.write(`${connection}/${id}`, text, writer);
  };
  const goesOn = async (kept: string, forgotten: string) => {
    const { values } = installation;
    await eventually(() => valueIn(values, `${kept}/${last}`) === text, `the values of ${kept} are written`);
    await isRunning(hub);
    t.is(valueIn(values, `${forgotten}/p0`), undefined);
  };

  const other = new DatabaseSync(installation.values);
  other.exec('BEGIN IMMEDIATE');
  write('others');
  await hub.logged(/values are not written: database is locked/);
  other.exec('ROLLBACK');
  other.close();
  await goesOn('others', 'many');

  await installation.change({ next: texts });
  await hub.reload();
  write('next');
  await goesOn('next', 'others');

  await installation.change({ next: texts, last: texts });
  await hub.reload();
  write('last');
  await hub.logged(/^values of spec are not stored/);
  await installation.change({ last: texts });
  await hub.reload();
  await goesOn('last', 'next');
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
