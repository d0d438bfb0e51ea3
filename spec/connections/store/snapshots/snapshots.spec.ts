// Snapshots of a running hub: saved, recalled, compared, forgotten, and there again after a restart.

import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { HubError } from '../../../../lib/model/error.ts';
import type { Change } from '../../../../lib/model/parameter.ts';
import type { Snapshot, SnapshotList } from '../../../../lib/wire/http/past/snapshots.ts';
import { deadlineMs } from '../../../support/deadline.ts';
import { ask } from '../../../support/http.ts';
import { api, portsOf, writer } from '../../../support/hub.ts';
import { install, type StoredHub } from '../../../support/store/store.ts';
import { processorTimeOf } from '../../../support/system/machine.ts';

const desk = { type: 'dummy', parameters: ['router,I,1', 'fader,F,0', 'title,S', 'far,B', 'go,T'] };
const snapshots = { 'studio-1': { include: ['desk/fader', 'desk/**', 'store/**'], exclude: ['desk/title2'] } };
const store = { snapshots };
const at = { save: 'store/studio-1/save', recall: 'store/studio-1/recall', forget: 'store/studio-1/forget' };

const matches = (hub: StoredHub) => hub.find('store/studio-1/matches')!.value;
const set = (hub: StoredHub, values: Readonly<Record<string, unknown>>) => {
  for (const [address, value] of Object.entries(values)) hub.write(address, value, writer);
};
const valuesOf = (hub: StoredHub) => ['router', 'fader', 'title', 'far'].map((id) => hub.find(`desk/${id}`)!.value);
const recordOf = (hub: StoredHub) => {
  const changes: Change[] = [];
  hub.changes$.subscribe((change) => changes.push(change));
  return changes;
};

test('a recall writes what differs, in listed order, as one turn that the recall has caused', async (t) => {
  const { start } = await install(t, { desk }, { store });
  const hub = await start();
  set(hub, { 'desk/router': 2, 'desk/fader': 0.5, 'desk/title': 'evening' });
  hub.write(at.save, 'evening', writer);
  t.true(matches(hub));
  set(hub, { 'desk/fader': 0.25, 'desk/router': 3, 'desk/far': true });
  t.false(matches(hub));
  const changes = recordOf(hub);
  hub.write(at.recall, 'evening', writer);
  t.deepEqual(
    changes.map(({ parameter, value }) => [parameter.address, value]),
    [
      [at.recall, 'evening'],
      ['desk/fader', 0.5],
      ['desk/router', 2],
      ['store/studio-1/matches', true],
    ],
  );
  t.deepEqual(valuesOf(hub), [2, 0.5, 'evening', true], 'what was unknown when it was saved is left alone');
  const [recall, ...written] = changes.slice(0, 3);
  for (const { origin, cause } of written) {
    t.deepEqual(origin, { kind: 'connection', name: 'store' });
    t.is(cause, recall);
  }
  t.is(recall!.origin, writer);
  changes.length = 0;
  hub.write(at.recall, 'evening', writer);
  t.deepEqual(changes, [], 'nothing differs');
});

test('matches follows each change, also those that rules make of a recall, and tells no step between', async (t) => {
  const rules = [{ from: 'desk/router', when: 'value == 9', map: '0.75', to: 'desk/fader' }];
  const { start } = await install(t, { desk }, { store, rules });
  const hub = await start();
  set(hub, { 'desk/router': 9 });
  set(hub, { 'desk/fader': 0.1 });
  hub.write(at.save, 'nine', writer);
  set(hub, { 'desk/router': 1 });
  const changes = recordOf(hub);
  hub.write(at.recall, 'nine', writer);
  t.deepEqual([hub.find('desk/fader')!.value, matches(hub)], [0.75, false], 'a rule has changed it again');
  t.false(changes.some(({ parameter }) => parameter.address.endsWith('/matches')));
  set(hub, { 'desk/fader': 0.1 });
  t.true(matches(hub));
  hub.turn(() => set(hub, { 'desk/fader': 0.2, 'desk/title': 'x' }));
  hub.turn(() => set(hub, { 'desk/title': 'y' }));
  t.false(matches(hub));
  set(hub, { 'desk/fader': 0.1 });
  t.true(matches(hub), 'the title was unknown when it was saved');
});

test('a turn with many saves and recalls looks at the parameters once: the last recall counts, and all names are saved', async (t) => {
  const many = { type: 'dummy', parameters: Array.from({ length: 5000 }, (_, n) => `p${n},F,0`) };
  const wide = { snapshots: { 'studio-1': { include: ['desk/**', 'many/**'] } } };
  const { start } = await install(t, { desk, many }, { store: wide });
  const hub = await start();
  set(hub, { 'desk/router': 1, 'desk/fader': 0.1 });
  hub.write(at.save, 'one', writer);
  set(hub, { 'desk/router': 2, 'desk/fader': 0.2 });
  hub.write(at.save, 'two', writer);
  set(hub, { 'desk/router': 3 });
  const changes = recordOf(hub);
  let tookMs = await processorTimeOf(() =>
    hub.turn(() => {
      for (let n = 0; n < 2000; n++) {
        set(hub, { 'desk/fader': n, [at.recall]: 'one' });
        set(hub, { 'desk/far': n % 2 === 1, [at.recall]: 'two' });
      }
    }),
  );
  t.deepEqual(valuesOf(hub).slice(0, 2), [2, 0.2]);
  t.true(matches(hub));
  const last = changes.findLast(({ parameter }) => parameter.address === at.recall)!;
  const router = changes.filter(({ parameter }) => parameter.address === 'desk/router');
  t.deepEqual(
    router.map(({ value, cause }) => [value, cause === last]),
    [[2, true]],
  );
  tookMs += await processorTimeOf(() =>
    hub.turn(() => {
      for (let n = 0; n < 4000; n++) set(hub, { 'desk/fader': n, [at.save]: `n${n % 50}`, [at.forget]: 'one' });
    }),
  );
  t.true(tookMs < 5000, 'a turn holds up everybody else');
  const [list] = hub.keeping.archive!.snapshots!.list();
  t.deepEqual([list!.saved.length, list!.matches], [51, 'n49']);
  const { values } = hub.keeping.archive!.snapshots!.compare('studio-1', 'n7');
  t.is(values.find(({ parameter }) => parameter === 'desk/fader')!.value, 3999, 'as the turn has left it');
});

const refused: readonly (readonly [
  title: string,
  address: keyof typeof at,
  name: unknown,
  code: string,
  text: RegExp,
])[] = [
  [
    'an unknown name',
    'recall',
    'evning',
    'not-found',
    /^store\/studio-1\/recall: unknown snapshot "evning", did you mean "evening"\?$/,
  ],
  ['a name that is to be forgotten', 'forget', 'x', 'not-found', /unknown snapshot "x", expected one of evening$/],
  ['an empty name', 'save', '', 'not-convertible', /^store\/studio-1\/save: expected a name of 1 to 64 characters/],
  ['a path', 'save', 'a/b', 'not-convertible', /expected a name .* got "a\/b" \(string\)$/],
  ['a long name', 'save', 'x'.repeat(65), 'not-convertible', /expected a name/],
  ['a control character', 'save', 'a\u0007', 'not-convertible', /expected a name/],
  ['no text', 'save', null, 'not-convertible', /expected text/],
];

test('what cannot be saved or recalled is refused, with a sentence', async (t) => {
  const { start } = await install(t, { desk }, { store });
  const hub = await start();
  const none = t.throws(() => hub.write(at.recall, 'evening', writer), { instanceOf: HubError });
  t.regex(none!.message, /unknown snapshot "evening" \(string\), nothing was saved yet$/);
  hub.write(at.save, 'evening', writer);
  for (const [title, parameter, name, code, message] of refused)
    t.throws(() => hub.write(at[parameter], name, writer), { instanceOf: HubError, code, message }, title);
  hub.write(at.save, 'Größe 2 – ab 20:00', writer);
  for (let n = 3; n <= 100; n++) hub.write(at.save, `n${n}`, writer);
  t.throws(() => hub.write(at.save, 'n101', writer), {
    message: /expected at most 100 snapshots, got 101: forget one$/,
  });
  hub.write(at.forget, 'n3', writer);
  t.notThrows(() => hub.write(at.save, 'n101', writer));
  const large = { 'desk/title': 'x'.repeat(60_000) };
  t.is(hub.keeping.archive!.snapshots!.list()[0]!.saved.length, 100);
  set(hub, large);
  t.notThrows(() => hub.write(at.save, 'n101', writer), 'under a name that there is');
});

test('a selection of too many parameters, and a snapshot that is too large, are refused', async (t) => {
  const many = { type: 'dummy', parameters: Array.from({ length: 20_001 }, (_, n) => `p${n},B`) };
  const texts = { type: 'dummy', parameters: Array.from({ length: 70 }, (_, n) => `t${n}`) };
  const selections = { many: { include: ['many/**'] }, texts: { include: ['texts/**'] } };
  const { start } = await install(t, { many, texts }, { store: { snapshots: selections } });
  const hub = await start();
  const save = (selection: string) => hub.write(`store/${selection}/save`, 'one', writer);
  t.throws(() => save('many'), { message: 'store/many/save: expected at most 20,000 parameters, got 20,001' });
  for (let n = 0; n < 70; n++) hub.write(`texts/t${n}`, 'x'.repeat(60_000), writer);
  t.throws(() => save('texts'), { message: /expected a snapshot of at most 4,194,304 bytes, got 4,20\d,\d{3}$/ });
});

test('snapshots are there after a restart, and the database shows them', async (t) => {
  const { start, values } = await install(t, { desk }, { store });
  const before = await start();
  set(before, { 'desk/router': 2, 'desk/title': 'a' });
  before.write(at.save, 'evening', writer);
  before.write(at.save, 'night', writer);
  before.write(at.save, 'gone', writer);
  before.write(at.forget, 'gone', writer);
  before.write(at.recall, 'evening', writer);
  set(before, { 'desk/router': 5 });
  await before.stop();
  const database = new DatabaseSync(values, { readOnly: true, timeout: deadlineMs });
  t.teardown(() => database.close());
  const query = "SELECT address, type, value FROM snapshot_value WHERE selection = 'studio-1' AND name = 'evening'";
  t.deepEqual(
    database
      .prepare(query)
      .all()
      .map((row) => Object.values(row)),
    [
      ['desk/fader', 'F', 0],
      ['desk/router', 'I', 2],
      ['desk/title', 'S', 'a'],
    ],
  );
  const hub = await start();
  t.false(matches(hub));
  set(hub, { 'desk/router': 2 });
  t.true(matches(hub), 'evening was recalled last');
  const [{ saved, matches: name } = { saved: [], matches: '' }] = hub.keeping.archive!.snapshots!.list();
  t.deepEqual([saved.map((one) => one.name), name], [['night', 'evening'], 'evening']);
  set(hub, { 'desk/router': 7 });
  hub.control('store', 'restart', writer);
  await hub.logged(/^connection "store" is running$/, 2);
  hub.write(at.recall, 'night', writer);
  t.is(hub.find('desk/router')!.value, 2, 'after a restart of the connection alone too');
});

test('what is no more, or converts no longer, is left out of a recall with a warning', async (t) => {
  const installation = await install(t, { desk }, { store });
  const before = await installation.start();
  set(before, { 'desk/router': 2, 'desk/fader': 0.5, 'desk/title': 'word', 'desk/far': true });
  before.write(at.save, 'evening', writer);
  await before.stop();
  await installation.change({ desk: { type: 'dummy', parameters: ['far,B', 'title,I', 'fader,I', 'title2'] } });
  const hub = await installation.start();
  set(hub, { 'desk/far': false, 'desk/fader': 8 });
  const { values } = hub.keeping.archive!.snapshots!.compare('studio-1', 'evening');
  t.deepEqual(values, [
    { parameter: 'desk/fader', type: 'I', value: 0.5, present: 8, differs: true },
    { parameter: 'desk/far', type: 'B', value: true, present: false, differs: true },
    { parameter: 'desk/router', type: 'I', value: 2, present: undefined, differs: false },
    { parameter: 'desk/title', type: 'S', value: 'word', present: undefined, differs: false },
  ]);
  hub.write(at.recall, 'evening', writer);
  t.deepEqual([hub.find('desk/far')!.value, hub.find('desk/fader')!.value, matches(hub)], [true, 0, true]);
  t.is(
    hub.lines.filter(({ level }) => level === 'warn').at(-1)!.message,
    'snapshot "evening" of studio-1 was recalled without desk/title (expected a number, got "word" (string)), desk/router (there is no such parameter)',
  );
});

test('the hub lists and compares snapshots over HTTP, and refuses what it cannot recall', async (t) => {
  const { start } = await install(t, { api, desk }, { store });
  const hub = await start();
  const [port] = portsOf(hub) as [number];
  const get = async (path: string) => JSON.parse((await ask(t, port, `GET ${path}`)).text);
  hub.write(at.save, 'evening 1', writer);
  set(hub, { 'desk/router': 4 });
  const { connection, selections } = (await get('/hub/snapshots')) as SnapshotList;
  t.is(connection, 'store');
  t.like(selections, [{ name: 'studio-1', saved: [{ name: 'evening 1', parameters: 2 }] }]);
  t.is(selections[0]!.matches, undefined);
  const compared = (await get('/hub/snapshots/studio-1/evening%201')) as Snapshot;
  t.is(compared.time, selections[0]!.saved[0]!.time);
  t.deepEqual(compared.values, [
    { parameter: 'desk/fader', type: 'F', value: 0, present: 0, differs: false },
    { parameter: 'desk/router', type: 'I', value: 1, present: 4, differs: true },
  ]);
  t.like(await get('/hub/snapshots/studio-2/x'), {
    status: 404,
    detail: 'unknown selection "studio-2", did you mean "studio-1"?',
  });
  t.like(await get('/hub/snapshots/studio-1'), { status: 404 });
  const recall = `GET /update?parameter=${at.recall}&value=`;
  t.is((await ask(t, port, `${recall}evening`)).status, 404);
  t.is((await ask(t, port, `${recall}evening%201`)).status, 200);
  t.is(hub.find('desk/router')!.value, 1);
});
