// Editing of dashboards over HTTP: a new one, changes and conflicts, revisions, and what a user who may edit a few of them cannot do.

import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { widgetSchemas } from '../../../../lib/dashboard/format.ts';
import type { EditResult, RevisionList, SourceAnswer, SourceList } from '../../../../lib/wire/http/editing-shapes.ts';
import type { Problem } from '../../../../lib/wire/http/problem.ts';
import { Editors } from '../../../support/editors.ts';
import { api, startHubFrom } from '../../../support/hub.ts';

const users = {
  owner: { token: 'owner-token-of-the-hub', read: ['**'], write: ['**'], manage: true, edit: ['**'] },
  one: {
    token: 'one-token-of-the-hub',
    ...{ read: ['desk/**'], write: ['desk/lamp'], edit: ['dashboards/mine*.json5'], dashboards: ['**'] },
  },
};
const entry = {
  connections: {
    api: { ...api, dashboards: 'dashboards', users },
    desk: { type: 'dummy', parameters: ['mic,B,false', 'lamp,B,false', 'level,F,0'] },
    hush: { type: 'dummy', parameters: ['code,S,1234', 'door,B,false'] },
  },
};
const mine = `// My panel
{
  title: 'Mine',
  widgets: [
    { type: 'lamp', address: 'desk/lamp', at: [1, 1] }, // over the door
    { type: 'button', label: 'Door', address: 'hush/door', at: [2, 1] },
  ],
}
`;
const one = 'one-token-of-the-hub';

async function start(t: ExecutionContext) {
  const other = { widgets: [{ type: 'value', address: 'hush/code' }] };
  const files = { 'entry.json5': entry, 'dashboards/mine.json5': mine, 'dashboards/other.json5': other };
  const editors = new Editors(await startHubFrom(t, files));
  const source = async (file: string, token?: string) =>
    (await editors.get<SourceAnswer>(`/hub/source/${encodeURIComponent(file)}`, token)).body;
  const edit = async (file: string, ops: object[], mode = 'save', token?: string, base?: string) =>
    editors.post<EditResult & Problem>(
      '/hub/edit',
      { file, base: base ?? (await source(file, token)).etag, ops, mode },
      token,
    );
  const text = (name: string) => readFile(join(editors.hub.folder, 'dashboards', name), 'utf8');
  return { editors, source, edit, text };
}

test('a new dashboard is served after its save, only the bytes of an edit change, and revisions take both back', async (t) => {
  const { editors, edit, text } = await start(t);
  const empty = "{\n  title: 'New',\n  columns: 4,\n  widgets: [\n  ],\n}\n";
  const added = [
    { path: '', text: empty },
    { path: 'widgets[0]', insert: { type: 'lamp', address: 'desk/lamp', at: [1, 1] } },
    { path: 'widgets[1]', insert: { type: 'value', address: 'desk/level', at: [2, 1] } },
    { path: 'widgets[0].size', set: [2, 2] },
    { path: 'widgets[0].label', set: "ON 'AIR'" },
    { path: 'widgets[1].at', set: [3, 1] },
  ];
  t.is((await edit('dashboards/new.json5', added, 'save', undefined, '')).body.revision, 1);
  const saved = `{
  title: 'New',
  columns: 4,
  widgets: [
    { type: 'lamp', label: "ON 'AIR'", address: 'desk/lamp', at: [1, 1], size: [2, 2] },
    { type: 'value', address: 'desk/level', at: [3, 1] },
  ],
}
`;
  t.is(await text('new.json5'), saved);
  const served = await editors.get<{ title: string }>('/hub/dashboards/new');
  t.is(served.body.title, 'New');
  const removal = await edit('dashboards/new.json5', [{ path: '', remove: true }]);
  t.true(removal.body.isSaved);
  t.is((await editors.get('/hub/dashboards/new')).status, 404);
  const { body } = await editors.get<RevisionList>('/hub/revisions');
  t.deepEqual(
    body.revisions.map(({ revision, files }) => [revision, files[0]!.file]),
    [
      [2, 'dashboards/new.json5'],
      [1, 'dashboards/new.json5'],
    ],
  );
  await editors.post('/hub/revisions/2/revert', {});
  t.is(await text('new.json5'), saved);
  await editors.post('/hub/revisions/1/revert', {});
  t.false((await readdir(join(editors.hub.folder, 'dashboards'))).includes('new.json5'));
});

test('comments stay, an error has its place and saves nothing, and an address without a parameter is a warning', async (t) => {
  const { edit, source, text } = await start(t);
  const file = 'dashboards/mine.json5';
  t.is((await source(file)).tree !== undefined, true);
  const wrong = await edit(file, [{ path: 'widgets[0].tone', set: 'pink' }]);
  t.false(wrong.body.isSaved);
  const [error] = wrong.body.errors;
  t.deepEqual([error!.line, error!.path], [5, 'widgets[0].tone']);
  t.is(await text('mine.json5'), mine);
  const { body } = await edit(file, [
    { path: 'widgets[1]', remove: true },
    { path: 'widgets[0].address', set: 'desk/lamb' },
  ]);
  t.true(body.isSaved);
  t.regex(
    body.warnings[0]!,
    /^dashboards\/mine\.json5:5:21: widgets\[0\]\.address: no parameter "desk\/lamb" currently exists/,
  );
  t.true((await text('mine.json5')).includes("'desk/lamb', at: [1, 1] }, // over the door\n  ],"));
});

test('two people change a dashboard: different widgets merge, the same one shows both texts', async (t) => {
  const { edit, source, text } = await start(t);
  const file = 'dashboards/mine.json5';
  const { etag } = await source(file);
  await edit(file, [{ path: 'widgets[0].at', set: [3, 1] }]);
  const merged = await edit(file, [{ path: 'widgets[1].label', set: 'Gate' }], 'save', undefined, etag);
  t.true(merged.body.isSaved && merged.body.files[0]!.isMerged);
  t.true((await text('mine.json5')).includes('at: [3, 1]') && (await text('mine.json5')).includes("'Gate'"));
  const { status, body } = await edit(file, [{ path: 'widgets[0].at', set: [4, 1] }], 'save', undefined, etag);
  t.is(status, 409);
  t.true(body.conflicts![0]!.theirs.includes('[3, 1]') && body.conflicts![0]!.yours!.includes('[4, 1]'));
  const taken = await edit(file, [{ path: '', text: '{ widgets: [] }' }], 'save', undefined, '');
  t.is(taken.status, 409);
});

test('a user sees, edits and adds only the dashboards of edit', async (t) => {
  const { editors, edit, source } = await start(t);
  const { folder } = editors.hub;
  const { body } = await editors.get<SourceList>('/hub/sources', one);
  t.deepEqual(body.dashboards, {
    ...{ folder: 'dashboards', canEdit: true, reason: '' },
    files: [{ file: 'dashboards/mine.json5', canEdit: true, reason: '' }],
  });
  t.deepEqual(body.files, []);
  await symlink(join(folder, 'entry.json5'), join(folder, 'dashboards', 'mine-link.json5'));
  await mkdir(join(folder, 'dashboards', 'mine-folder.json5'));
  const before = (await readdir(folder, { recursive: true })).filter((name) => !name.startsWith('.')).sort();
  const text = '{ widgets: [] }';
  const names = [
    ...['dashboards/other.json5', 'dashboards/new.json5', 'dashboards/_mine.json5', 'dashboards/.mine.json5'],
    ...['dashboards/mine.json5/x.json5', 'dashboards/../mine.json5', 'dashboards/mine/../../mine.json5', 'mine.json5'],
    ...[
      'dashboards/mine-link.json5',
      'dashboards/mine-folder.json5',
      'dashboards/mine\0.json5',
      'Dashboards/mine.json5',
    ],
    ...[
      'dashboards//mine-2.json5',
      'dashboards/mine\\x.json5',
      `${folder}/dashboards/other.json5`,
      'dashboards/mine.ts',
    ],
    `dashboards/mine${'x'.repeat(200)}.json5`,
  ];
  for (const name of names) {
    const read = await editors.get<Problem>(`/hub/source/${encodeURIComponent(name)}`, one);
    t.true(read.status >= 400 && read.status < 500, `${name}: ${read.status}`);
    for (const base of ['', 'x']) {
      const { status, body: answer } = await edit(name, [{ path: '', text }], 'save', one, base);
      if (name === 'dashboards//mine-2.json5') continue; // a plain file of the folder, written in another way
      t.true(status >= 400 && status < 500, `${name}: ${status} ${JSON.stringify(answer)}`);
    }
  }
  const after = (await readdir(folder, { recursive: true })).filter((name) => !name.startsWith('.')).sort();
  t.deepEqual(
    after.filter((name) => name !== 'dashboards/mine-2.json5'),
    before,
  );
  t.is((await edit('dashboards/mine-3.json5', [{ path: '', text }], 'save', one, '')).status, 200);
  t.is((await source('dashboards/mine-3.json5', one)).text, text);
  const mixed = {
    files: [
      { file: 'dashboards/mine.json5', base: '', ops: [{ path: '', text }] },
      { file: 'entry.json5', base: '', ops: [{ path: '', text }] },
    ],
    mode: 'save',
  };
  t.is((await editors.post('/hub/edit', mixed, one)).status, 403);
});

const writers = ['button', 'fader', 'select', 'radio', 'number', 'text'];

/** A widget of each type with an address in each of its settings that takes one, by the schema. */
function widgetsWith(address: string): { type: string; widget: object; isWritten: boolean }[] {
  const all: { type: string; widget: object; isWritten: boolean }[] = [];
  const add = (type: string, settings: object, isWritten: boolean) =>
    all.push({ type, widget: { type, ...(type === 'icon' && { icon: 'mic' }), ...settings }, isWritten });
  for (const [type, { shape }] of Object.entries(widgetSchemas)) {
    if ('addresses' in shape) add(type, { addresses: ['desk/level', address] }, false);
    if ('address' in shape) add(type, { address }, writers.includes(type));
    if ('lamp' in shape) add(type, { address: 'desk/lamp', lamp: address }, false);
    if ('lamps' in shape) add(type, { lamps: [{ address }] }, false);
    for (const formula of ['visible', 'toneBy'] as const) {
      const text = formula === 'visible' ? `param('${address}') == 1` : `param('${address}') == 1 ? 'ok' : 'danger'`;
      if (type === 'label') add(type, { label: 'x', [formula]: text }, false);
    }
  }
  return all;
}

test('by no widget a user gains an address that he may not read or write; what is there may be moved', async (t) => {
  const { edit, text, source, editors } = await start(t);
  const file = 'dashboards/mine.json5';
  const { etag } = await source(file, one);
  const forms = (widget: object) => [
    [{ path: 'widgets[0]', insert: widget }],
    [{ path: 'widgets[0]', set: widget }],
    [{ path: 'widgets[0]', insert: { type: 'group', widgets: [widget] } }],
    [{ path: 'widgets[0]', insert: { each: { n: [1] }, widgets: [widget] } }],
    [{ path: '', text: JSON.stringify({ widgets: [widget] }) }],
  ];
  const asks: [address: string, isRefused: (isWritten: boolean) => boolean][] = [
    ['hush/code', () => true],
    ['hush/none', () => true],
    ['desk/mic', (isWritten) => isWritten],
    ['desk/lamp', () => false],
  ];
  for (const [address, isRefused] of asks)
    for (const { type, widget, isWritten } of widgetsWith(address))
      for (const ops of forms(widget)) {
        const { status, body } = await edit(file, ops, 'check', one, etag);
        const asked = `${type} ${JSON.stringify(ops)}: ${JSON.stringify(body)}`;
        t.is(status, isRefused(isWritten) ? 403 : 200, asked);
        if (status === 403)
          t.regex(body.detail ?? '', /^dashboards\/mine\.json5:\d+:\d+: widgets\[0\].*expected an address/);
      }
  const relabel = await edit(file, [{ path: 'widgets[1].label', set: 'Lamp' }], 'save', one);
  t.is(relabel.status, 403, 'the label of a button that he could not press');
  const indirect = [
    { path: 'widgets[1].at', set: [4, 2] },
    { path: 'widgets[0]', insert: { each: { n: ['hush'] }, widgets: [{ type: 'value', address: '${n}/code' }] } },
  ];
  t.is((await edit(file, indirect, 'save', one)).status, 403);
  t.is(await text('mine.json5'), mine);
  t.true((await edit(file, [{ path: 'widgets[1].at', set: [4, 2] }], 'save', one)).body.isSaved);
  t.is(await text('mine.json5'), mine.replace('[2, 1]', '[4, 2]'));
  await writeFile(join(editors.hub.folder, 'dashboards', 'mine.json5'), '{ widgets: [ }');
  const repair = await edit(
    file,
    [{ path: '', text: JSON.stringify({ widgets: [{ type: 'value', address: 'hush/code' }] }) }],
    'save',
    one,
  );
  t.is(repair.status, 403, JSON.stringify(repair.body));
  const whole = [{ path: '', text: "{ widgets: [{ type: 'value', address: 'desk/level' }] }" }];
  t.true((await edit(file, whole, 'save', one)).body.isSaved, 'a broken file is repaired as a whole');
});
