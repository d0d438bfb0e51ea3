// A store with a past, in a small form: what it has of itself agrees, and it is known who did what.

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { createFolder } from '../folder.ts';
import { prepareStore } from './prepare.ts';

const options = { parameters: 8, days: 1, everyMs: 30_000, rawDays: Infinity, minuteDays: Infinity, port: 0, seed: 1 };

test('changes, minutes and hours agree, and include the author who opens the microphone at night', async (t) => {
  const folder = await createFolder(t);
  const { changes, kept } = prepareStore({ ...options, folder, endMs: Date.now() });
  t.is(changes, kept);
  const database = new DatabaseSync(join(folder, 'data', 'history.db'), { readOnly: true });
  t.teardown(() => database.close());
  const counts = database.prepare(`
    SELECT (SELECT count(*) FROM change) AS changes,
      (SELECT sum(count) FROM minute) + (SELECT count(*) FROM change WHERE time >= (SELECT minutes FROM mark)) AS minutes,
      (SELECT sum(count) FROM hour) + (SELECT count(*) FROM change WHERE time >= (SELECT hours FROM mark)) AS hours`);
  t.deepEqual({ ...counts.get() }, { changes, minutes: changes, hours: changes });
  const lamp = database.prepare(
    "SELECT value, writer, source, cause FROM event WHERE address = 'studio-1/lamp' AND source LIKE '%10.0.0.66' ORDER BY time",
  );
  const reported = { writer: 'rule red light', source: 'client api 10.0.0.66', cause: 'studio-1/mic' };
  t.deepEqual(
    lamp.all().map((row) => ({ ...row })),
    [
      { value: 1, ...reported },
      { value: 0, ...reported },
    ],
  );
});
