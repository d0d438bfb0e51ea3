// Snapshots of a running hub: saved, recalled, compared, forgotten, and there again after a restart.

import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { HubError } from '../../../../lib/model/error.ts';
import type { Change } from '../../../../lib/model/parameter.ts';
import type { Snapshot, SnapshotList } from '../../../../lib/wire/http/past-shapes.ts';
import { ask } from '../../../support/http.ts';
import { api, portsOf, writer } from '../../../support/hub.ts';
import { shared } from '../../../support/shared.ts';
import { desk, selectionOf, useDesk } from '../../../support/store/desk.ts';
import { install, type StoredHub } from '../../../support/store/store.ts';
import { processorTimeOf } from '../../../support/system/machine.ts';

const numbered = (count: number, name: (n: number) => string) => ({
  type: 'dummy',
  parameters: Array.from({ length: count }, (_, n) => name(n)),
});
/** Each test has a desk of its own. */
const connections = {
  ...{ api, recalled: desk, ruled: desk, wide: desk, refused: desk, asked: desk },
  more: numbered(5000, (n) => `p${n},F,0`),
  many: numbered(20_001, (n) => `p${n},B`),
  texts: numbered(70, (n) => `t${n}`),
};
const rules = [{ from: 'ruled/router', when: 'value == 9', map: '0.75', to: 'ruled/fader' }];
const snapshots = {
  ...{ recalled: selectionOf('recalled'), ruled: selectionOf('ruled'), refused: selectionOf('refused') },
  wide: { include: ['wide/**', 'more/**'] },
  many: { include: ['many/**'] },
  texts: { include: ['texts/**'] },
  'studio-1': selectionOf('asked'),
};
const start = shared(async (t) => {
  const values = { exclude: ['texts/**'] };
  return (await install(t, connections, { rules, store: { snapshots, values, history: [] } })).start();
});

const startDesk = async (id: string, selection?: string) => {
  const hub = await start();
  return { hub, ...useDesk(hub, id, selection) };
};

const recordOf = (hub: StoredHub) => {
  const changes: Change[] = [];
  hub.changes$.subscribe((change) => changes.push(change));
  return changes;
};

test('a recall writes differing values, in listed order, as one turn caused by the recall', async (t) => {
  const { hub, at, set, matches, valuesOf } = await startDesk('recalled');
  set({ router: 2, fader: 0.5, title: 'evening' });
  hub.write(at.save, 'evening', writer);
  t.true(matches());
  set({ fader: 0.25, router: 3, far: true });
  t.false(matches());
  const changes = recordOf(hub);
  hub.write(at.recall, 'evening', writer);
  t.deepEqual(
    changes.map(({ parameter, value }) => [parameter.address, value]),
    [
      [at.recall, 'evening'],
      ['recalled/fader', 0.5],
      ['recalled/router', 2],
      ['store/recalled/matches', true],
    ],
  );
  t.deepEqual(valuesOf(), [2, 0.5, 'evening', true], 'what was unknown when it was saved is left alone');
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

test('matches follows each change, also by rules after a recall, and reports no intermediate step', async (t) => {
  const { hub, at, set, matches, find } = await startDesk('ruled');
  set({ router: 9 });
  set({ fader: 0.1 });
  hub.write(at.save, 'nine', writer);
  set({ router: 1 });
  const changes = recordOf(hub);
  hub.write(at.recall, 'nine', writer);
  t.deepEqual([find('fader'), matches()], [0.75, false], 'a rule has changed it again');
  t.false(changes.some(({ parameter }) => parameter.address.endsWith('/matches')));
  set({ fader: 0.1 });
  t.true(matches());
  hub.turn(() => set({ fader: 0.2, title: 'x' }));
  hub.turn(() => set({ title: 'y' }));
  t.false(matches());
  set({ fader: 0.1 });
  t.true(matches(), 'the title was unknown when it was saved');
});

test('a turn with many saves and recalls visits the parameters once: the last recall counts, and all names are saved', async (t) => {
  const { hub, at, set, matches, valuesOf, list } = await startDesk('wide');
  set({ router: 1, fader: 0.1 });
  hub.write(at.save, 'one', writer);
  set({ router: 2, fader: 0.2 });
  hub.write(at.save, 'two', writer);
  set({ router: 3 });
  const changes = recordOf(hub);
  let tookMs = await processorTimeOf(() =>
    hub.turn(() => {
      for (let n = 0; n < 2000; n++) {
        set({ fader: n });
        hub.write(at.recall, 'one', writer);
        set({ far: n % 2 === 1 });
        hub.write(at.recall, 'two', writer);
      }
    }),
  );
  t.deepEqual(valuesOf().slice(0, 2), [2, 0.2]);
  t.true(matches());
  const last = changes.findLast(({ parameter }) => parameter.address === at.recall)!;
  const router = changes.filter(({ parameter }) => parameter.address === 'wide/router');
  t.deepEqual(
    router.map(({ value, cause }) => [value, cause === last]),
    [[2, true]],
  );
  tookMs += await processorTimeOf(() =>
    hub.turn(() => {
      for (let n = 0; n < 4000; n++) {
        set({ fader: n });
        hub.write(at.save, `n${n % 50}`, writer);
        hub.write(at.forget, 'one', writer);
      }
    }),
  );
  t.true(tookMs < 5000, 'a turn holds up everybody else');
  t.deepEqual([list().saved.length, list().matches], [51, 'n49']);
  const { values } = hub.persistence.archive!.snapshots!.compare('wide', 'n7');
  t.is(values.find(({ parameter }) => parameter === 'wide/fader')!.value, 3999, 'as the turn has left it');
});

const refused: readonly (readonly [
  title: string,
  act: 'save' | 'recall' | 'forget',
  name: unknown,
  code: string,
  text: RegExp,
])[] = [
  [
    'an unknown name',
    'recall',
    'evning',
    'not-found',
    /^store\/refused\/recall: unknown snapshot "evning", did you mean "evening"\?$/,
  ],
  ['a name that is to be forgotten', 'forget', 'x', 'not-found', /unknown snapshot "x", expected one of evening$/],
  ['an empty name', 'save', '', 'not-convertible', /^store\/refused\/save: expected a name of 1 to 64 characters/],
  ['a path', 'save', 'a/b', 'not-convertible', /expected a name .* got "a\/b" \(string\)$/],
  ['a long name', 'save', 'x'.repeat(65), 'not-convertible', /expected a name/],
  ['a control character', 'save', 'a\u0007', 'not-convertible', /expected a name/],
  ['no text', 'save', null, 'not-convertible', /expected text/],
];

test('a snapshot that cannot be saved or recalled is refused, with a sentence', async (t) => {
  const { hub, at, set, list } = await startDesk('refused');
  const none = t.throws(() => hub.write(at.recall, 'evening', writer), { instanceOf: HubError });
  t.regex(none!.message, /unknown snapshot "evening" \(string\); no snapshot has been saved yet$/);
  hub.write(at.save, 'evening', writer);
  for (const [title, act, name, code, message] of refused)
    t.throws(() => hub.write(at[act], name, writer), { instanceOf: HubError, code, message }, title);
  hub.write(at.save, 'Größe 2 – ab 20:00', writer);
  for (let n = 3; n <= 100; n++) hub.write(at.save, `n${n}`, writer);
  t.throws(() => hub.write(at.save, 'n101', writer), {
    message: /expected at most 100 snapshots, got 101: forget one$/,
  });
  hub.write(at.forget, 'n3', writer);
  t.notThrows(() => hub.write(at.save, 'n101', writer));
  t.is(list().saved.length, 100);
  set({ title: 'x'.repeat(60_000) });
  t.notThrows(() => hub.write(at.save, 'n101', writer), 'under a name that there is');
});

test('a selection of too many parameters, and a snapshot that is too large, are refused', async (t) => {
  const hub = await start();
  const save = (selection: string) => hub.write(`store/${selection}/save`, 'one', writer);
  t.throws(() => save('many'), { message: 'store/many/save: expected at most 20,000 parameters, got 20,001' });
  for (let n = 0; n < 70; n++) hub.write(`texts/t${n}`, 'x'.repeat(60_000), writer);
  t.throws(() => save('texts'), { message: /expected a snapshot of at most 4,194,304 bytes, got 4,20\d,\d{3}$/ });
});

const texts = { type: 'dummy', parameters: ['far,B', 'title,I', 'fader,I', 'title2'] };

/** A hub after a restart, with one desk as it was and one that has changed; then its store is started anew. */
const restart = shared(async (t) => {
  const snapshots = { kept: selectionOf('kept'), changed: selectionOf('changed') };
  const installation = await install(t, { kept: desk, changed: desk }, { store: { snapshots } });
  const before = await installation.start();
  const { at, set } = useDesk(before, 'kept');
  set({ router: 2, title: 'a' });
  for (const name of ['evening', 'night', 'gone']) before.write(at.save, name, writer);
  before.write(at.forget, 'gone', writer);
  before.write(at.recall, 'evening', writer);
  set({ router: 5 });
  useDesk(before, 'changed').set({ router: 2, fader: 0.5, title: 'word', far: true });
  before.write('store/changed/save', 'evening', writer);
  await before.stop();
  await installation.closed();
  const rows = rowsOf(installation.values);
  await installation.change({ kept: desk, changed: texts });
  const hub = await installation.start();
  const kept = useDesk(hub, 'kept');
  const matches = [kept.matches()];
  kept.set({ router: 2 });
  matches.push(kept.matches());
  const list = kept.list();
  kept.set({ router: 7 });
  hub.control('store', 'restart', writer);
  await hub.logged(/^connection "store" is running$/, 2);
  return { rows, hub, matches, list };
});

function rowsOf(path: string): unknown[][] {
  const database = new DatabaseSync(path, { readOnly: true });
  const query = "SELECT address, type, value FROM snapshot_value WHERE selection = 'kept' AND name = 'evening'";
  const rows = database.prepare(query).all();
  database.close();
  return rows.map((row) => Object.values(row));
}

test('snapshots survive a restart, and the database shows them', async (t) => {
  const { rows, hub, matches, list } = await restart();
  t.deepEqual(rows, [
    ['kept/fader', 'F', 0],
    ['kept/router', 'I', 2],
    ['kept/title', 'S', 'a'],
  ]);
  t.deepEqual(matches, [false, true], 'evening was recalled last');
  t.deepEqual([list.saved.map(({ name }) => name), list.matches], [['night', 'evening'], 'evening']);
  hub.write('store/kept/recall', 'night', writer);
  t.is(hub.find('kept/router')!.value, 2, 'after a restart of the connection alone too');
});

test('removed parameters, and values that no longer convert, are skipped by a recall with a warning', async (t) => {
  const { hub } = await restart();
  const { at, set, find, matches } = useDesk(hub, 'changed');
  set({ far: false, fader: 8 });
  const { values } = hub.persistence.archive!.snapshots!.compare('changed', 'evening');
  t.deepEqual(values, [
    { parameter: 'changed/fader', type: 'I', value: 0.5, present: 8, differs: true },
    { parameter: 'changed/far', type: 'B', value: true, present: false, differs: true },
    { parameter: 'changed/router', type: 'I', value: 2, present: undefined, differs: false },
    { parameter: 'changed/title', type: 'S', value: 'word', present: undefined, differs: false },
  ]);
  hub.write(at.recall, 'evening', writer);
  t.deepEqual([find('far'), find('fader'), matches()], [true, 0, true]);
  t.is(
    hub.lines.filter(({ level }) => level === 'warn').at(-1)!.message,
    'snapshot "evening" of changed recalled without changed/title (expected a number, got "word" (string)), changed/router (no such parameter)',
  );
});

test('the hub lists and compares snapshots over HTTP, and refuses an impossible recall', async (t) => {
  const { hub, at, set, find } = await startDesk('asked', 'studio-1');
  const [port] = portsOf(hub) as [number];
  const get = async (path: string) => JSON.parse((await ask(t, port, `GET ${path}`)).text);
  hub.write(at.save, 'evening 1', writer);
  set({ router: 4 });
  const { connection, selections } = (await get('/hub/snapshots')) as SnapshotList;
  t.is(connection, 'store');
  const listed = selections.find(({ name }) => name === 'studio-1')!;
  t.like(listed, { saved: [{ name: 'evening 1', parameters: 2 }] });
  t.is(listed.matches, undefined);
  const compared = (await get('/hub/snapshots/studio-1/evening%201')) as Snapshot;
  t.is(compared.time, listed.saved[0]!.time);
  t.deepEqual(compared.values, [
    { parameter: 'asked/fader', type: 'F', value: 0, present: 0, differs: false },
    { parameter: 'asked/router', type: 'I', value: 1, present: 4, differs: true },
  ]);
  t.like(await get('/hub/snapshots/studio-2/x'), {
    status: 404,
    detail: 'unknown selection "studio-2", did you mean "studio-1"?',
  });
  t.like(await get('/hub/snapshots/studio-1'), { status: 404 });
  const recall = `GET /update?parameter=${at.recall}&value=`;
  t.is((await ask(t, port, `${recall}evening`)).status, 404);
  t.is((await ask(t, port, `${recall}evening%201`)).status, 200);
  t.is(find('router'), 1);
});
