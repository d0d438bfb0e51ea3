// How long the history keeps what, and how much room it takes at most.

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { roomOf } from '../../../../lib/connections/store/settings.ts';
import { makeHistory } from '../../../support/store/history.ts';
import type { MadeChange } from '../../../support/store/made-changes.ts';

const hour = 3_600_000;
const day = 24 * hour;
const start = 500_000 * hour;

test('each entry keeps changes, minutes and hours for its time', async (t) => {
  const entries = [{ include: ['short/**'], raw: '2h', minutes: '1d', hours: '3d' }, { include: ['long/**'] }];
  const history = await makeHistory(t, { entries });
  history.open(start);
  const addresses = ['short/a', 'long/a', 'not/any'];
  for (let time = start; time < start + 4 * day; time += hour) {
    const changes = addresses.map((address): MadeChange => [address, 'F', time, time - start]);
    t.is(history.write(changes, time + hour - 1).trouble, undefined);
  }
  const now = start + 4 * day - 1;
  for (let round = 0; round < 50; round++) history.write([], now); // only a little is deleted at a time
  for (const [table, time] of [
    ['change', 'time'],
    ['minute', 'time'],
    ['hour', 'time'],
  ]) {
    const oldest = history.read(
      `SELECT min(${time}) AS oldest, address FROM ${table} JOIN parameter ON id = parameter GROUP BY address`,
    );
    const ages = Object.fromEntries(oldest.map(({ address, oldest }) => [address, (now - (oldest as number)) / hour]));
    const kept = { change: 2, minute: 24, hour: 72 }[table!]!;
    t.true(ages['short/a']! <= kept + 2 && ages['short/a']! > kept - 2, `${table}: ${ages['short/a']} hours`);
    t.true(ages['long/a']! > 95, table);
    t.true(ages['not/any']! > 95, table);
  }
});

test("with raw: '0' no change is kept, only minutes and hours", async (t) => {
  const history = await makeHistory(t, { entries: [{ raw: '0', hours: '0' }] });
  history.open(start);
  history.write([['a', 'F', start, 1]], start + hour);
  t.deepEqual(
    ['change', 'minute', 'hour'].map((table) => history.read(`SELECT * FROM ${table}`).length),
    [0, 1, 0],
  );
});

test('the files never exceed their space; the oldest changes are deleted first', async (t) => {
  const maxSize = 16_000_000;
  const { databaseBytes, logBytes } = roomOf(maxSize).history;
  const history = await makeHistory(t, { maxSize });
  history.open(start);
  let most = 0;
  const rows = 20_000;
  for (let round = 0; round < 24; round++) {
    const from = start + round * hour * 0.3;
    const changes = Array.from(
      { length: rows },
      (_, index): MadeChange => [`a${index % 100}`, 'F', from + index, index],
    );
    t.is(history.write(changes, from + rows).trouble, undefined);
    const bytes = readdirSync(history.folder).map((name) => statSync(join(history.folder, name)).size);
    most = Math.max(
      most,
      bytes.reduce((sum, size) => sum + size, 0),
    );
  }
  t.true(most <= databaseBytes + logBytes + 100_000, `${most} bytes`);
  t.true(most >= databaseBytes / 2, 'the room is used');
  const [{ count, oldest, newest }] = history.read(
    'SELECT count(*) AS count, min(time) AS oldest, max(time) AS newest FROM change',
  ) as [Record<string, number>];
  t.true(count! >= 2 * rows, `${count} changes are left`);
  t.true(oldest! > start);
  t.is(newest, start + 23 * hour * 0.3 + rows - 1);
  t.is(history.read('SELECT min(time) AS oldest FROM hour')[0]!.oldest, start, 'hours stay');
});

test('within one hour the oldest quarter is deleted', async (t) => {
  const history = await makeHistory(t, { maxSize: 16_000_000 });
  history.open(Date.now());
  const begin = Math.floor(Date.now() / hour) * hour;
  const rows = 24_000;
  for (let round = 0; round < 10; round++) {
    const changes = Array.from(
      { length: rows },
      (_, index): MadeChange => [`a${index % 10}`, 'F', begin + round * rows + index, index],
    );
    t.is(history.write(changes, begin + (round + 1) * rows).trouble, undefined);
  }
  const [{ newest, oldest }] = history.read('SELECT max(time) AS newest, min(time) AS oldest FROM change') as [
    Record<string, number>,
  ];
  t.is(newest, begin + 10 * rows - 1);
  t.true(oldest! > begin);
});

test('long texts in minimal space are written in smaller transactions', async (t) => {
  const history = await makeHistory(t, { maxSize: 16_000_000 });
  history.open(start);
  const text = 'x'.repeat(1024);
  for (let round = 0; round < 3; round++) {
    const from = start + round * hour;
    const changes = Array.from({ length: 6000 }, (_, index): MadeChange => ['text', 'S', from + index, text]);
    t.is(history.write(changes, from + 6000).trouble, undefined);
  }
  t.is(history.read('SELECT max(time) AS newest FROM change')[0]!.newest, start + 2 * hour + 5999);
});
