// Whatever has become of the audit, it is opened: what is damaged is set aside, the copy of the last hour is used, and what is lost is
// said. A hub neither waits for it nor stops.

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, open, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test, { type ExecutionContext } from 'ava';
import { openAudit } from '../../../../lib/connections/store/audit/audit-database.ts';
import type { AuditRow } from '../../../../lib/connections/store/audit/audit-messages.ts';
import { eventually } from '../../../support/deadline.ts';
import { createFolder } from '../../../support/folder.ts';
import { api, portsOf, statusOf, writer } from '../../../support/hub.ts';
import { noted } from '../../../support/store/audit.ts';
import { install } from '../../../support/store/store.ts';

const request = { ask: 'open', maxBytes: 1e8, keepMs: 1000, isRead: true, isSuspect: false } as const;
const now = 1_000_000;

const rowOf = (n: number, more: Partial<AuditRow> = {}): AuditRow => ({
  ...{
    n,
    time: now,
    kind: 'change',
    user: 'spec',
    address: `desk/p${n}`,
    type: 'S',
    before: '',
    after: 'x'.repeat(100),
  },
  ...{ count: 1, cause: '', ...more },
});
const batchOf = (rows: readonly AuditRow[]) => ({ rows, log: [], run: { seen: now, isClean: true, count: 'a' } });

/** A folder whose audit has entries 1 to `count`. */
async function filled(t: ExecutionContext, count: number): Promise<{ folder: string; path: string }> {
  const folder = await createFolder(t);
  const { database, close } = openAudit({ ...request, folder });
  database!.write(batchOf(Array.from({ length: count }, (_, index) => rowOf(index + 1))));
  close();
  return { folder, path: join(folder, 'audit.db') };
}

const damages: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  noise: async (path) => writeFile(path, randomBytes((await readFile(path)).length)),
  'nothing in it': (path) => truncate(path, 0),
  'a page of it': (path) => truncate(path, 4096),
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

test('a file that is damaged at the start is set aside, and replaced by a new one or the copy of the last hour', async (t) => {
  for (const [what, damage] of Object.entries(damages))
    for (const hasCopy of what === 'noise' ? [false, true] : [false]) {
      const { folder, path } = await filled(t, 100);
      if (hasCopy) await copyFile(path, join(folder, 'audit.copy.db'));
      await damage(path);
      const { opened, database, close } = openAudit({ ...request, folder });
      t.is(opened.reason, undefined, what);
      t.is(opened.held?.lastEntry ?? 0, hasCopy ? 100 : 0, what);
      const lost = hasCopy ? 'the copy from \\S+ is used, and later entries are lost' : 'all entries are lost';
      t.regex(
        opened.losses.join(),
        new RegExp(`audit\\.db is damaged \\(.+\\) and was set aside as audit\\.damaged-\\S+: ${lost}$`),
      );
      t.true(
        (await readdir(folder)).some((name) => name.startsWith('audit.damaged-')),
        what,
      );
      t.notThrows(() => database!.write(batchOf([rowOf(101)])), what);
      close();
    }
});

test('a file that was cut anywhere is opened, and hidden damage is found when it is suspected', async (t) => {
  const { folder, path } = await filled(t, 1000);
  const whole = join(folder, 'whole');
  await copyFile(path, whole);
  const { size } = await stat(whole);
  for (let length = 0; length < size; length += 5 * 4096) {
    await copyFile(whole, path);
    await truncate(path, length);
    const first = openAudit({ ...request, folder });
    t.is(first.opened.reason, undefined, `cut at ${length}`);
    first.close();
    if (first.opened.losses.length > 0) continue;
    const second = openAudit({ ...request, folder, isSuspect: true });
    t.regex(second.opened.losses.join(), /audit\.db is damaged/, `cut at ${length}`);
    second.close();
  }
});

test('an unusable folder is reported, and so is one of another hub', async (t) => {
  const folder = await createFolder(t, { data: 'a file' });
  t.regex(openAudit({ ...request, folder: join(folder, 'data') }).opened.reason!, /^cannot write .*audit\.db: /);
  const first = openAudit({ ...request, folder });
  const second = openAudit({ ...request, folder });
  t.regex(second.opened.reason!, /audit\.db: another hub stores its audit in this folder$/);
  first.close();
});

test('a full file loses its oldest entries', async (t) => {
  const folder = await createFolder(t);
  const maxBytes = 500_000;
  const { database, close } = openAudit({ ...request, folder, maxBytes });
  for (let n = 1; n < 10_000; n += 100)
    database!.write(batchOf(Array.from({ length: 100 }, (_, index) => rowOf(n + index, { time: now + n }))));
  t.true(database!.oldest()! > now);
  close();
  t.true((await stat(join(folder, 'audit.db'))).size <= maxBytes);
});

test('damage found while the hub runs is set aside once somebody reads it, and the hub continues', async (t) => {
  const desk = { type: 'dummy', parameters: ['text,S'] };
  const installation = await install(t, { api, desk });
  const first = await installation.start();
  for (let round = 0; round < 2000; round++) first.write('desk/text', `${round} ${'x'.repeat(400)}`, writer);
  await first.stop();
  const path = join(installation.folder, 'data', 'audit.db');
  await eventually(() => !existsSync(`${path}-wal`)); // now it is closed
  const hub = await installation.start();
  hub.write('desk/text', 'begun', writer);
  await noted(installation, ({ after }) => after === 'begun');
  const file = await open(path, 'r+');
  const { size } = await file.stat();
  const hasBeenSeen = () => statusOf(hub, 'store').state === 'degraded';
  await file.write(randomBytes(4096), 0, 4096, Math.floor(size / 8192) * 4096); // neither the beginning nor the end
  await file.close();
  const [port] = portsOf(hub);
  const { status } = await fetch(`http://127.0.0.1:${port}/hub/audit?text=none`);
  t.true(status === 503 || hasBeenSeen(), 'who reads it is told, unless a write has met the damage first');
  await hub.logged(/^connection "store" is degraded: audit: .*audit\.db is damaged .*: all entries are lost$/);
  hub.write('desk/text', 'later', writer);
  await noted(installation, ({ after }) => after === 'later');
  t.is((await fetch(`http://127.0.0.1:${port}/hub/audit?text=later`)).status, 200);
});
