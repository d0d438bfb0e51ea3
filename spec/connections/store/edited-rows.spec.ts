// Somebody has edited a database, or a bit has turned in it: a row that no hub has written stops none of the others, be it as the hub
// starts, as it writes on, or as somebody asks for the past.

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test, { type ExecutionContext } from 'ava';
import { checksumOf } from '../../../lib/connections/store/thread/values/values-database.ts';
import type { AuditPage, EventList, History } from '../../../lib/wire/http/past-shapes.ts';
import { eventually } from '../../support/deadline.ts';
import { ask } from '../../support/http.ts';
import { api, portsOf, statusOf, writer } from '../../support/hub.ts';
import { findKept, keep } from '../../support/store/kept.ts';
import { type Installation, install, type StoredHub } from '../../support/store/store.ts';

const desk = { type: 'dummy', parameters: ['count,I,1', 'level,F,0', 'lamp,B,false', 'text,S,none', 'go,T'] };
const huge = 2n ** 62n;

/** Edits a database as people do, behind the back of the hub. */
function edit({ folder }: Installation, name: string, sql: string, ...values: (string | number | bigint)[]): void {
  const database = new DatabaseSync(join(folder, 'data', name), { timeout: 10_000 });
  if (values.length > 0) database.prepare(sql).run(...values);
  else database.exec(sql);
  database.close();
}

async function json<Answer>(t: ExecutionContext, hub: StoredHub, path: string): Promise<Answer> {
  const { status, text } = await ask(t, portsOf(hub)[0]!, `GET ${path}`);
  t.is(status, 200, `${path}: ${text}`);
  return JSON.parse(text) as Answer;
}

/** Stops a hub, and starts one on what it has left. */
async function afterRestart(installation: Installation, hub: StoredHub, editing: () => void): Promise<StoredHub> {
  await hub.stop();
  await installation.closed();
  editing();
  return installation.start();
}

test('a value of a wrong type, or without a time, is ignored although its checksum is right', async (t) => {
  const installation = await install(t, { desk });
  keep(installation, { 'desk/count': 7, 'desk/text': 'kept' });
  const put = (address: string, type: string, value: string | number | bigint, time: bigint) => {
    const checksum = checksumOf([address, type, value, time, '']);
    edit(
      installation,
      'values.db',
      'REPLACE INTO parameter VALUES (?, ?, ?, ?, ?, ?)',
      ...[address, type],
      value,
      time,
      '',
      checksum,
    );
  };
  const now = BigInt(Date.now());
  put('desk/half', 'I', 1.5, now);
  put('desk/word', 'I', 'seven', now);
  put('desk/dim', 'B', 2n, now);
  put('desk/number', 'S', 5n, now);
  put('desk/endless', 'F', Number.POSITIVE_INFINITY, now);
  put('desk/other', 'X', 5n, now);
  put('desk/late', 'I', 5n, 8_640_000_000_000_001n);
  const { values, losses } = await findKept(installation);
  t.deepEqual(values, { 'desk/count': 7, 'desk/text': 'kept' });
  t.regex(losses.join(), /has 7 damaged rows, whose contents are lost: /);
  t.deepEqual((await findKept(installation)).losses, [], 'they are dropped');
});

test('an edited snapshot recalls its readable values, and affects no other', async (t) => {
  const installation = await install(t, { desk }, { store: { snapshots: { all: { include: ['desk/**'] } } } });
  const before = await installation.start();
  before.write('desk/count', 5, writer);
  before.write('desk/text', 'evening', writer);
  for (const name of ['evening', 'morning', 'noon']) before.write('store/all/save', name, writer);
  const hub = await afterRestart(installation, before, () => {
    const contents: Readonly<Record<string, string>> = {
      evening: '[["desk/count","I",1.5],["desk/text","S","evening"],7,["desk/lamp"],["desk/go","T",0]]',
      morning: '{"desk/count":5',
    };
    for (const [name, text] of Object.entries(contents))
      edit(
        installation,
        'values.db',
        'UPDATE snapshot SET contents = ?, parameters = 4, time = 5, checksum = ? WHERE name = ?',
        ...[text, checksumOf(['all', name, 5, 4, text]), name],
      );
    edit(installation, 'values.db', `UPDATE snapshot SET time = ${huge} WHERE name = 'noon'`);
  });
  t.regex(statusOf(hub, 'store').reason, /has a damaged row, .*: all\/noon \(snapshot\)/);
  hub.write('desk/text', 'now', writer);
  hub.write('store/all/recall', 'evening', writer);
  t.deepEqual([hub.find('desk/count')!.value, hub.find('desk/text')!.value], [5, 'evening']);
  await hub.logged(/recalled without 3 unreadable values/);
  hub.write('store/all/recall', 'morning', writer);
  hub.write('store/all/save', 'night', writer);
  t.true(hub.find('store/all/matches')!.value);
});

test('a saved timer with an invalid time does not continue, and its neighbours do', async (t) => {
  const clock = { type: 'timer' };
  const installation = await install(t, { desk, clock });
  const before = await installation.start();
  for (const number of [1, 2, 3, 4]) before.write(`clock/timer/${number}/start`, 3_600_000, writer);
  const hub = await afterRestart(installation, before, () => {
    const memories = [
      `{"endsAt":"soon","leftMs":5}`,
      `{"endsAt":1e300,"leftMs":5}`,
      `{"endsAt":${Date.now()},"leftMs":null}`,
    ];
    for (const [index, memory] of memories.entries()) {
      const name = `timer/${index + 1}`;
      edit(
        installation,
        'values.db',
        'UPDATE under_way SET memory = ?, checksum = ? WHERE name = ?',
        ...[memory, checksumOf(['clock', name, memory]), name],
      );
    }
  });
  t.is(statusOf(hub, 'clock').state, 'running');
  await eventually(() => statusOf(hub, 'store').state === 'running');
  await hub.stop();
  const { memories } = await findKept(installation);
  t.deepEqual(
    memories.map(({ name }) => name),
    ['timer/4'],
  );
});

const badEntries = `
  INSERT INTO entry VALUES (${huge}, 1, 'change', 'x', 'desk/x', 'I', 1, 2, 1, '');
  INSERT INTO entry VALUES (-5, 1, 'change', 'x', 'desk/x', 'I', 1, 2, 1, '');
  INSERT INTO entry VALUES (700, ${huge}, 'change', 'x', 'desk/x', 'I', 1, 2, 1, '');
  INSERT INTO entry VALUES (701, 8640000000000001, 'change', 'x', 'desk/x', 'I', 1, 2, 1, '');
  INSERT INTO entry VALUES (702, unixepoch() * 1000, 'deed', 'x', 'desk/x', 'I', 1, 2, 1, '');
  INSERT INTO entry VALUES (703, unixepoch() * 1000, 'change', 'x', 'desk/x', 'I', 1, 2, ${huge}, '');
  INSERT INTO entry VALUES (704, unixepoch() * 1000, 'change', 'edited', 'desk/x', 'I', ${huge}, 2, 1, '');
  INSERT INTO entry VALUES (705, unixepoch() * 1000, 'change', 'edited', 'desk/x', 'F', 9e999, 2, 1, '');`;

/** What the audit tells of the desk. */
async function reported(t: ExecutionContext, hub: StoredHub): Promise<unknown[][]> {
  const { entries } = await json<AuditPage>(t, hub, '/hub/audit?from=1970-01-01T00:00:00Z');
  t.true(
    entries.every(({ time }) => time.startsWith('2')),
    JSON.stringify(entries),
  );
  return entries.filter(({ kind }) => kind === 'change').map(({ user, before, after }) => [user, before, after]);
}

test('an audit with foreign rows is read, and continues', async (t) => {
  const installation = await install(t, { desk, api });
  const before = await installation.start();
  before.write('desk/count', 5, writer);
  await before.persistence.archive?.audit?.flush();
  const hub = await afterRestart(installation, before, () => {
    edit(
      installation,
      'audit.db',
      `${badEntries}
      INSERT INTO log VALUES (${huge}, 1, 'warn', NULL, NULL, 'edited'), (5000, ${huge}, 'warn', NULL, NULL, 'edited'),
        (5001, 5, 'loud', NULL, NULL, 'edited');
      UPDATE run SET seen = ${huge}; UPDATE age SET ran = ${huge}; UPDATE age_mark SET n = ${huge}`,
    );
  });
  await eventually(() => statusOf(hub, 'store').reason.includes('with a number out of range'), 'it is reported');
  hub.write('desk/count', 6, writer);
  await hub.persistence.archive?.audit?.flush();
  const expected = [
    ['spec', 5, 6],
    ['edited', undefined, 2],
    ['edited', undefined, 2],
    ['spec', 1, 5],
  ];
  t.deepEqual(await reported(t, hub), expected);
  t.false(hub.log(0, 'debug').entries.some(({ message }) => message === 'edited'));
  edit(installation, 'audit.db', `${badEntries.replaceAll(/\((-5|70\d)/g, '($1000')} UPDATE age SET pauses = '[7]'`);
  hub.write('desk/count', 7, writer);
  await hub.persistence.archive?.audit?.flush();
  t.deepEqual(
    (await reported(t, hub)).filter(([user]) => user === 'spec').length,
    3,
    'also when it was edited while the hub runs',
  );
  await hub.stop();
  await installation.closed();
  const again = await installation.start();
  await eventually(() => statusOf(again, 'store').reason.includes('with a number out of range'));
  t.is((await reported(t, again)).filter(([user]) => user === 'spec').length, 3);
});

/** Rows of the parameter `id`, and of one whose id is none. */
const badChanges = (hour: number) => `
  INSERT OR IGNORE INTO parameter VALUES (${huge}, 'desk/far', 'I'), (9000, 'desk/odd', 'X');
  INSERT OR IGNORE INTO writer VALUES (${huge}, 'client', 'far', ''), (9000, 'god', 'edited', '');
  INSERT INTO change SELECT ${hour}, id, ${hour} * 3600000 + 1, 1, 'text', 9000, 9000, ${huge}, ${huge}, ${huge} FROM parameter
    WHERE type IN ('I', 'F', 'B');
  INSERT INTO change SELECT ${hour}, id, ${hour} * 3600000 + 2, 1, ${huge}, ${huge}, ${huge}, 9000, 5, 1 FROM parameter;
  INSERT INTO change SELECT ${hour}, id, ${hour} * 3600000 + 3, 1, 9e999, 9000, 9000, id, ${huge}, 1 FROM parameter;
  INSERT INTO change SELECT ${hour}, id, ${huge}, 1, 1, 1, 1, id, ${-huge}, 1 FROM parameter;
  INSERT OR IGNORE INTO change SELECT ${huge}, id, 5, 1, 1, 1, 1, NULL, NULL, NULL FROM parameter;
  INSERT INTO change SELECT ${hour}, id, ${hour} * 3600000 + 4, ${huge}, 1, 1, 1, NULL, NULL, NULL FROM parameter WHERE type <> 'S';
  INSERT INTO change VALUES (${hour}, ${huge}, ${hour} * 3600000 + 4, 1, 1, 1, 1, NULL, NULL, NULL);
  INSERT OR IGNORE INTO minute SELECT id, ${hour} * 3600000, 1, 1, 1, 1, ${huge} FROM parameter;
  INSERT OR IGNORE INTO minute SELECT id, ${huge}, 1, 1, 1, 1, 1 FROM parameter;
  INSERT OR IGNORE INTO hour SELECT id, ${-huge}, 1, 1, 1, 1, 1 FROM parameter;
  INSERT INTO gap VALUES (${-huge}, ${huge}, 1, 'edited'), (0, 1, ${huge}, 'edited');
  INSERT INTO jump (sequence, before, after, gap, start) VALUES (${huge}, ${huge}, ${huge}, ${huge}, ${huge});
  INSERT INTO change SELECT ${hour}, id, ${hour} * 3600000 + 5, 1, ${-(2n ** 63n)}, 1, 1, NULL, NULL, NULL FROM parameter WHERE type <> 'T';
  INSERT OR REPLACE INTO hour_age VALUES (${huge}, 1), (1, ${huge});`;

const ids = ['count', 'level', 'lamp', 'text', 'go'];

/** Asks for all that is known of the desk. */
async function past(t: ExecutionContext, hub: StoredHub): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const values: Record<string, readonly unknown[]> = {};
  for (const id of ids) {
    const { events } = await json<EventList>(t, hub, `/hub/events/desk/${id}?from=-3h`);
    values[id] = events.map(({ value }) => value).reverse();
    for (const points of [1, 3, 1000])
      for (const from of ['-3h', '-10s', '1970-01-01T00:00:00Z'])
        await json<History>(t, hub, `/hub/history/desk/${id}?from=${from}&points=${points}`);
  }
  return values;
}

test('a history with foreign rows is read, and continues', async (t) => {
  const installation = await install(t, { desk, api }, { store: { history: [{}] } });
  const before = await installation.start();
  before.write('desk/count', 5, writer);
  before.write('desk/level', 0.5, writer);
  before.write('desk/lamp', true, writer);
  before.write('desk/text', 'written', writer);
  await before.persistence.archive?.history?.flush();
  const hour = Math.floor(Date.now() / 3_600_000) - 1;
  const hub = await afterRestart(installation, before, () => {
    edit(
      installation,
      'history.db',
      `${badChanges(hour)}
      UPDATE mark SET seen = ${huge}, minutes = ${huge}, hours = ${-huge}; UPDATE run SET last = ${huge};
      UPDATE age SET wall = ${huge}`,
    );
  });
  await eventually(() => statusOf(hub, 'store').reason.includes('history.db'), 'the loss is reported');
  hub.write('desk/count', 6, writer);
  await hub.persistence.archive?.history?.flush();
  const first = await past(t, hub);
  t.deepEqual(first.count, [1, 1, 5, 5, 6]); // the first is an edited one that reads like any other
  t.deepEqual(first.level!.slice(-3), [0, 0.5, 0.5]);
  t.true(first.text!.includes('written'));
  edit(installation, 'history.db', `${badChanges(hour - 1)}; UPDATE age SET pauses = '[{"at":'`);
  hub.write('desk/count', 7, writer);
  await hub.persistence.archive?.history?.flush();
  t.deepEqual((await past(t, hub)).count!.slice(-3), [5, 6, 7], 'also when it was edited while the hub runs');
  await hub.stop();
  await installation.closed();
  const again = await installation.start();
  again.write('desk/count', 8, writer);
  await again.persistence.archive?.history?.flush();
  t.is((await past(t, again)).count!.at(-1), 8);
});
