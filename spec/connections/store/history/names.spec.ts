// What grows without a row in the history goes as well: gaps, and parameters and writers that nothing names any more.

import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { keptGaps, usualNames } from '../../../../lib/connections/store/history/database/writing.ts';
import { makeHistory } from '../../../support/store/history.ts';

const hour = 3_600_000;
const day = 24 * hour;
const start = 20_000 * day;

test('unused names, and the oldest gaps, are deleted once there are many; used names stay', async (t) => {
  const history = await makeHistory(t, { entries: [{ raw: '30d' }] });
  history.open(start);
  history.write([['old', 'F', start, 1]], start + hour);
  history.kill();
  const count = (table: string) => history.read(`SELECT count(*) AS count FROM ${table}`)[0]!.count;
  const fill = (names: number) => {
    const database = new DatabaseSync(history.path);
    const numbers = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${names})`;
    database.exec(`BEGIN;
      INSERT INTO parameter SELECT NULL, 'p' || n, 'F' FROM (${numbers} SELECT n FROM numbers);
      INSERT INTO writer SELECT NULL, 'client', 'w' || n, '' FROM (${numbers} SELECT n FROM numbers);
      INSERT INTO gap SELECT n, n + 1, 0, 'the disk was full' FROM (${numbers} SELECT n FROM numbers);
      INSERT INTO change SELECT ${start / hour}, (SELECT id FROM parameter WHERE address = 'old'), ${start + 1}, 9, 2.5,
        (SELECT id FROM writer WHERE name = 'w1'), (SELECT id FROM writer WHERE name = 'w2'),
        (SELECT id FROM parameter WHERE address = 'p3'), ${start}, 8;
      INSERT INTO minute SELECT id, ${start}, 1, 1, 1, 1, 1 FROM parameter WHERE address = 'p4'; COMMIT`);
    database.close();
  };
  fill(usualNames + 100);
  const before = history.read("SELECT value, writer, source, cause FROM event WHERE address = 'old' ORDER BY time");
  history.open(start + 2 * hour);
  for (let now = start + 2 * hour, round = 0; round < 100; round++) {
    history.write([['new', 'F', now + round, round]], now + round);
    if (count('writer') === 3 && count('parameter') === 4) break;
  }
  t.deepEqual(
    history.read('SELECT address FROM parameter ORDER BY address').map(({ address }) => address),
    ['new', 'old', 'p3', 'p4'],
  );
  t.deepEqual(
    history.read('SELECT name FROM writer ORDER BY name').map(({ name }) => name),
    ['spec', 'w1', 'w2'],
  );
  t.true((count('gap') as number) <= keptGaps);
  t.is(history.read('SELECT max(start) AS newest FROM gap')[0]!.newest, start + hour, 'the newest gaps stay');
  t.deepEqual(
    history.read("SELECT value, writer, source, cause FROM event WHERE address = 'old' ORDER BY time"),
    before,
  );
  t.true(history.read("SELECT * FROM event WHERE address = 'new'").length > 0);
});
