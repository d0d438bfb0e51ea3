// A process that may make no thread, as one may not where there are too many: what needs one says so, and can be asked again.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import test from 'ava';
import { createFolder } from '../../support/folder.ts';

const store = new URL('../../../lib/connections/store/', import.meta.url);
const program = `
const [{ asyncScheduler }, { HourlyCopy }, { PastReader }, { BackupMaker }, { filesOf }] = await Promise.all(
  ['rxjs', 'hourly-copy.ts', 'reader/past-reader.ts', 'backup/backup-maker.ts', 'thread/database/files.ts'].map((file) =>
    import(file.endsWith('.ts') ? '${store}' + file : file),
  ),
);
const folder = process.argv[1];
const file = { path: folder + '/history.db', flush: async () => {}, onDamage() {} };
const reader = new PastReader({ history: file, audit: file, scheduler: asyncScheduler });
const copy = new HourlyCopy(filesOf(folder, 'values'));
const backups = new BackupMaker({ hub: { persistence: { installation: () => ({}) } }, setting: folder, folder });
const told = [];
for (let time = 0; time < 2; time++) {
  told.push((await copy.make(() => 0)).reason, copy.isDue(400_000));
  told.push(...(await Promise.allSettled([reader.ask({ ask: 'history', parameters: [] }, 'ann', () => true), backups.begin()])).map(({ reason }) => reason.message));
}
await backups.whenIdle();
reader.end();
console.log(JSON.stringify(told));
`;

test('the copy, the reader and the backup fail each time, and the process continues', async (t) => {
  const flags = ['--disable-warning=ExperimentalWarning', '--permission', '--allow-fs-read=*', '--allow-fs-write=*'];
  const folder = await createFolder(t);
  const run = promisify(execFile)(process.execPath, [...flags, '--input-type=module', '-e', program, folder]);
  const { stdout } = await run;
  const refused = 'Access to this API has been restricted. Use --allow-worker to manage permissions.';
  const once = [refused, true, `cannot read ${folder}/history.db: ${refused}`, refused];
  t.deepEqual(JSON.parse(stdout), [...once, ...once]);
});
