import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { holds } from '../short.ts';
import { createKilledFolder, DiskProbe } from './killed-hub.ts';
import { kill } from './kills.ts';

holds(
  'a hub that is killed under load has every value and every entry of the audit that was old enough, and no rule has fired',
  'kills',
  /^\d+ kills, [1-9]\d* starts judged, 0 of them with a mistake/m,
);

for (const database of ['values.db', 'audit.db'])
  test(`a hub that has lost its ${database} after a kill is detected`, async (t) => {
    t.timeout(240_000);
    const parameters = 50;
    const folder = await createKilledFolder(parameters);
    t.teardown(() => folder.remove());
    const disk = await DiskProbe.start(folder.path);
    t.teardown(() => disk.stop());
    const task = { folder: folder.path, parameters, rate: 500, loadMs: 1200, safeMs: 500, isQuick: true, disk };
    const { next, mistakes } = await kill({ ...task, round: 1, expected: new Map(), noted: [] });
    t.deepEqual(mistakes, []);
    t.true(next.expected.size > 0 && next.noted.length > 0);
    for (const end of ['', '-wal', '-shm']) await rm(join(folder.path, 'data', `${database}${end}`), { force: true });
    const after = await kill({ ...task, ...next, round: 2 });
    t.true(after.mistakes.length >= (database === 'values.db' ? next.expected.size : next.noted.length));
  });
