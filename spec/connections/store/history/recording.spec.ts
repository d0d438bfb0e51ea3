// What a hub with a store records: every change, who made it, who did it, and what led to it.

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { FolderLock } from '../../../../lib/connections/store/thread/database/open-stored.ts';
import { eventually } from '../../../support/deadline.ts';
import { statusOf, writer } from '../../../support/hub.ts';
import { shared } from '../../../support/shared.ts';
import { keep } from '../../../support/store/kept.ts';
import { type Installation, install, type StoredHub } from '../../../support/store/store.ts';

const desk = { type: 'dummy', parameters: ['lamp,B', 'level,F', 'count,I', 'text', 'go,T'] };
const out = { type: 'dummy', parameters: ['lamp,B', 'text'] };
const rules = [
  { name: 'copy', from: 'desk/lamp', to: 'out/lamp' },
  { name: 'say', from: 'out/lamp', to: 'out/text' },
];
const events = 'SELECT address, type, value, writer, source, cause FROM event ORDER BY time, revision';

function read({ folder }: Pick<Installation, 'folder'>, sql: string): Record<string, unknown>[] {
  const database = new DatabaseSync(join(folder, 'data', 'history.db'), { readOnly: true, timeout: 10_000 });
  try {
    return database
      .prepare(sql)
      .all()
      .map((row) => ({ ...row }));
  } finally {
    database.close();
  }
}

/** Waits until the database is open and everything that has happened is in it. */
async function written(hub: StoredHub, { folder }: Installation): Promise<void> {
  await eventually(() => existsSync(join(folder, 'data', 'history.db-wal')));
  await eventually(async () => {
    await hub.persistence.archive?.history?.flush();
    return hub.persistence.archive?.history?.status().lagMs === 0;
  });
}

/** What is recorded of `picked`; of all others each change is. */
const history = [
  { include: ['picked/level'], deadband: 0.5 },
  { include: ['picked/count'], every: '1m' },
  { exclude: ['picked/text'] },
];

/** What a hub has recorded, beside which a second one ran, and what one after it. */
const recorded = shared(async (t) => {
  const installation = await install(t, { desk, out, picked: desk }, { rules, store: { history } });
  const before = await installation.start();
  await written(before, installation);
  const second = await installation.start();
  const ofSecond = second.persistence.archive?.history;
  second.write('desk/text', 'of the second', writer);
  await second.stop();
  for (const [id, value] of Object.entries({ level: -0.5, count: 2 ** 53 - 1, text: 'größe', go: true, lamp: true }))
    before.write(`desk/${id}`, value, writer);
  for (const level of [1, 1.2, 1.4, 1.5, 1.9, 2]) before.write('picked/level', level, writer);
  for (const count of [1, 2, 3]) before.write('picked/count', count, writer);
  before.write('picked/text', 'not recorded', writer);
  before.write('picked/lamp', true, writer);
  await before.stop();
  await installation.closed();
  const stoppedAt = Date.now();
  const rows = read(installation, events);
  const gaps = read(installation, 'SELECT * FROM gap');
  const hub = await installation.start();
  await written(hub, installation);
  hub.write('desk/level', 2, writer);
  await hub.stop();
  await installation.closed();
  return { installation, rows, gaps, ofSecond, stoppedAt, startedAt: hub.startedAt };
});

test('each change is recorded with its writer, author and cause', async (t) => {
  const { installation, rows } = await recorded();
  const byHand = { writer: 'client spec', source: 'client spec', cause: null };
  t.deepEqual(
    rows.filter(({ address }) => !/^picked/.test(`${address}`)),
    [
      { address: 'desk/level', type: 'F', value: -0.5, ...byHand },
      { address: 'desk/count', type: 'I', value: 2 ** 53 - 1, ...byHand },
      { address: 'desk/text', type: 'S', value: 'größe', ...byHand },
      { address: 'desk/go', type: 'T', value: 1, ...byHand },
      { address: 'desk/lamp', type: 'B', value: 1, ...byHand },
      { address: 'out/lamp', type: 'B', value: 1, writer: 'rule copy', source: 'client spec', cause: 'desk/lamp' },
      { address: 'out/text', type: 'S', value: 'true', writer: 'rule say', source: 'client spec', cause: 'out/lamp' },
    ],
  );
  const causes = `SELECT count(*) AS count FROM change JOIN change AS cause ON cause.parameter = change.cause_parameter
    AND cause.time = change.cause_time AND cause.revision = change.cause_revision`;
  t.deepEqual(read(installation, causes), [{ count: 2 }], 'the keys of the causes are those of their rows');
});

test('a history that another hub still writes is left alone until it is released', async (t) => {
  const installation = await install(t, { desk });
  const data = join(installation.folder, 'data');
  await mkdir(data);
  const theirs = new FolderLock(data, 'history');
  const hub = await installation.start();
  await hub.logged(
    /^connection "store" is degraded: history: nothing is recorded: another hub stores its history in this folder$/,
  );
  t.false(existsSync(join(data, 'history.db')));
  hub.write('desk/level', 1, writer);
  theirs.free();
  await eventually(() => statusOf(hub, 'store').state === 'running');
  await hub.stop();
  await installation.closed();
  t.deepEqual(read(installation, 'SELECT address, value FROM event'), [{ address: 'desk/level', value: 1 }]);
});

test('a restart has a gap, and after it a row for every known value', async (t) => {
  const { installation, stoppedAt, startedAt } = await recorded();
  const [gap, ...others] = read(installation, 'SELECT * FROM gap');
  t.deepEqual(others, []);
  t.like(gap, { end: startedAt, lost: 0, reason: 'the hub was down' });
  t.true((gap!.start as number) <= stoppedAt);
  const later = `SELECT address, value, writer FROM event WHERE time >= ${startedAt} AND address NOT LIKE 'picked/%'
    ORDER BY time, address`;
  const restored = { writer: 'restored store' };
  t.deepEqual(read(installation, later), [
    { address: 'desk/count', value: 2 ** 53 - 1, ...restored },
    { address: 'desk/lamp', value: 1, ...restored },
    { address: 'desk/level', value: -0.5, ...restored },
    { address: 'desk/text', value: 'größe', ...restored },
    { address: 'out/lamp', value: 1, ...restored },
    { address: 'out/text', value: 'true', ...restored },
    { address: 'desk/level', value: 2, writer: 'client spec' },
  ]);
});

test('the first entry that selects a parameter defines its recording', async (t) => {
  const picked = (await recorded()).rows.filter(({ address }) => /^picked/.test(`${address}`));
  const minutes = picked.filter(({ address }) => address === 'picked/count');
  t.is(minutes.at(-1)!.value, 3);
  t.true(minutes.length <= 2, 'the last of a minute, and of the next one if that began meanwhile');
  t.deepEqual(
    picked.filter(({ address }) => address !== 'picked/count').map(({ address, value }) => [address, value]),
    [
      ['picked/level', 1],
      ['picked/level', 1.5],
      ['picked/level', 2],
      ['picked/lamp', 1],
    ],
  );
});

test('a second hub in the same folder records nothing', async (t) => {
  const { rows, gaps, ofSecond } = await recorded();
  t.is(ofSecond, undefined);
  t.deepEqual(
    rows.filter(({ address }) => address === 'desk/text').map(({ value }) => value),
    ['größe'],
  );
  t.deepEqual(gaps, []);
});

const damages: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  noise: (path) => writeFile(path, randomBytes(40_000)),
  'a folder': (path) => mkdir(path),
};

for (const [what, damage] of Object.entries(damages))
  test(`${what} in place of the history is set aside, and the hub runs and records again`, async (t) => {
    const installation = await install(t, { desk });
    keep(installation, { 'desk/text': 'before' });
    await damage(join(installation.folder, 'data', 'history.db'));
    const hub = await installation.start();
    const said = /history: .*history\.db is damaged \(.+\) and was set aside as (history\.damaged-\S+\.db): .* is lost/;
    await eventually(() => said.test(statusOf(hub, 'store').reason));
    const [, aside] = said.exec(statusOf(hub, 'store').reason)!;
    t.true((await readdir(join(installation.folder, 'data'))).includes(aside!));
    await written(hub, installation);
    t.deepEqual(
      read(installation, 'SELECT value FROM change'),
      [{ value: 'before' }],
      'what is known is in the new one',
    );
  });

test('a history that is removed while the hub runs is started again, with all known values', async (t) => {
  const installation = await install(t, { desk });
  const hub = await installation.start();
  await written(hub, installation);
  hub.write('desk/text', 'before', writer);
  await written(hub, installation);
  await rm(join(installation.folder, 'data', 'history.db'));
  hub.write('desk/level', 7, writer);
  await hub.logged(/^connection "store" is degraded: .*history: /);
  await eventually(() => {
    try {
      return read(installation, 'SELECT value FROM change').length === 2;
    } catch {
      return false; // it is not there yet
    }
  });
  t.deepEqual(read(installation, 'SELECT address, value FROM event ORDER BY address'), [
    { address: 'desk/level', value: 7 },
    { address: 'desk/text', value: 'before' },
  ]);
});
