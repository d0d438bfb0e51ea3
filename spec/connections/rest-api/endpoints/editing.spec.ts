// Editing of flow files over HTTP: what people see, check, save, and take back.

import { readdirSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { type HubOptions, startHub } from '../../../../lib/hub/index.ts';
import { runTestsOf } from '../../../../lib/testing/run-tests.ts';
import type {
  EditResult,
  Evaluated,
  RevisionList,
  SeparationAnswer,
  SourceList,
  Usages,
} from '../../../../lib/wire/http/editing-shapes.ts';
import type { RuleList } from '../../../../lib/wire/http/operation.ts';
import type { Problem } from '../../../../lib/wire/http/problem.ts';
import { createLogRecorder } from '../../../support/connection.ts';
import { eventually } from '../../../support/deadline.ts';
import { Editors } from '../../../support/editors.ts';
import { createFolder } from '../../../support/folder.ts';
import { api, portsOf, startHubFrom } from '../../../support/hub.ts';
import { Random } from '../../../support/random.ts';

const studio = `// The studio
{
  connections: {
    desk: { type: 'dummy', parameters: ['mic,B,false', 'lamp,B', 'level,F,0'] },
    clock: { type: 'timer', timers: [1000] },
  },
  rules: [
    // the lamp
    { name: 'lamp', from: 'desk/mic', to: 'desk/lamp' },
    { each: { n: [1, 2] }, name: 'level \${n}', from: 'desk/level', map: 'value > \${n}', to: 'desk/lamp' },
  ],
  tests: [{ name: 'the lamp follows', steps: [{ set: { 'desk/mic': true }, expect: { 'desk/lamp': true } }] }],
}
`;

const users = {
  owner: { token: 'owner-token-of-the-hub', read: ['**'], write: ['**'], manage: true, edit: ['**'] },
  manager: { token: 'manager-token-of-the-hub', read: ['**'], manage: true },
  one: { token: 'one-token-of-the-hub', read: ['desk/**'], write: ['desk/lamp', 'desk/level'], edit: ['studio.json5'] },
};

const entry = {
  connections: { api: { ...api, users }, vault: { type: 'dummy', parameters: ['code,S,1234', 'door,B'] } },
};

async function start(t: ExecutionContext, files: Record<string, unknown> = {}, options: Partial<HubOptions> = {}) {
  const hub = await startHubFrom(
    t,
    { 'entry.json5': entry, 'studio.json5': studio, ...files },
    { runTests: runTestsOf, ...options },
  );
  return new Editors(hub);
}

test('a source has its text, its values with their places, and what templates made of them', async (t) => {
  const editors = await start(t);
  const { text, tree, made, canEdit } = await editors.source('studio.json5');
  t.is(text, studio);
  t.true(canEdit);
  const { children } = tree as unknown as {
    children: { key: string; children: { path: string; start: number; lead: number }[] }[];
  };
  const [rule] = children.find(({ key }) => key === 'rules')!.children;
  t.is(rule!.path, 'rules[0]');
  t.true(text.slice(rule!.start).startsWith("{ name: 'lamp'"));
  t.true(text.slice(rule!.lead).startsWith('// the lamp'));
  t.deepEqual(made, [{ path: 'rules[1]', by: 'each', names: ['level 1', 'level 2'] }]);
  const { body } = await editors.get<SourceList>('/hub/sources', users.one.token);
  t.deepEqual(body.files, [{ file: editors.name('studio.json5'), canEdit: true, reason: '' }]);
});

test('a check names errors with their places, the difference, what restarts and the results of tests, and changes nothing', async (t) => {
  const editors = await start(t);
  const { body } = await editors.edit('studio.json5', [{ path: 'rules[0].map', set: '!value' }], 'check');
  t.deepEqual(body.errors, []);
  t.deepEqual(body.files[0]!.difference.match(/^[+-].*$/gm), [
    "-    { name: 'lamp', from: 'desk/mic', to: 'desk/lamp' },",
    "+    { name: 'lamp', from: 'desk/mic', map: '!value', to: 'desk/lamp' },",
  ]);
  t.deepEqual(body.restarts.rules.changed, ['lamp']);
  t.is(body.tests.failed[0]?.name, 'the lamp follows');
  const wrong = await editors.edit('studio.json5', [{ path: 'rules[0].to', set: 'desk/lamb' }], 'save');
  t.like(wrong.body, { isSaved: false });
  t.like(wrong.body.errors[0], { line: 9, path: 'rules[0].to' });
  t.is(await editors.text('studio.json5'), studio);
  const timers = await editors.edit('studio.json5', [{ path: 'connections.clock.timers[0]', set: 2000 }], 'check');
  t.true(timers.body.restarts.notes.includes('clock restarts: its running timers end'));
});

test('a save writes the file, runs it, keeps a revision and names the user in the audit; the revision can be taken back', async (t) => {
  const editors = await start(t);
  const { body } = await editors.edit('studio.json5', [{ path: 'rules[0].when', set: 'value' }]);
  t.like(body, { isSaved: true, revision: 1 });
  t.is(await editors.text('studio.json5'), studio.replace("mic', to", "mic', when: 'value', to"));
  const { body: rules } = await editors.get<RuleList>('/hub/rules');
  t.is(rules.find(({ name }) => name === 'lamp')?.when, 'value');
  const { body: list } = await editors.get<RevisionList>('/hub/revisions');
  t.regex(list.revisions[0]!.user, /^api owner /);
  const later = await editors.edit('studio.json5', [{ path: 'connections.desk.parameters[2]', set: 'level,F,1' }]);
  t.true(later.body.isSaved);
  const { body: back } = await editors.post<EditResult>('/hub/revisions/1/revert', {});
  t.like(back, { isSaved: true, revision: 3 });
  t.is(await editors.text('studio.json5'), studio.replace('level,F,0', 'level,F,1'), 'later edits stay');
});

test('a text that has changed on disk meanwhile merges, or both texts are shown', async (t) => {
  const editors = await start(t);
  const { etag } = await editors.source('studio.json5');
  await writeFile(editors.name('studio.json5'), studio.replace('timers: [1000]', 'timers: [2000]'));
  const file = editors.name('studio.json5');
  const merged = await editors.post<EditResult>('/hub/edit', {
    file,
    base: etag,
    ops: [{ path: 'rules[0].map', set: '!value' }],
    mode: 'save',
  });
  t.true(merged.body.isSaved && merged.body.files[0]!.isMerged);
  const now = await editors.text('studio.json5');
  t.true(now.includes('timers: [2000]') && now.includes("map: '!value'"));
  const clash = await editors.post<Problem>('/hub/edit', {
    file,
    base: etag,
    ops: [{ path: 'rules[0].map', set: 'value' }],
    mode: 'save',
  });
  t.is(clash.status, 409);
  t.like(clash.body.conflicts?.[0], { file, theirs: now, base: studio });
  t.is(await editors.text('studio.json5'), now);
});

test('a change set of several files lands whole or not at all', async (t) => {
  const editors = await start(t, {
    'second.json5': "{ rules: [{ name: 'second', from: 'desk/mic', to: 'desk/level' }] }",
  });
  const [one, other] = [await editors.source('studio.json5'), await editors.source('second.json5')];
  const files = (to: string) => [
    { file: one.file, base: one.etag, ops: [{ path: 'rules[0].name', set: 'first' }] },
    { file: other.file, base: other.etag, ops: [{ path: 'rules[0].to', set: to }] },
  ];
  const wrong = await editors.post<EditResult>('/hub/edit', { files: files('desk/nothing'), mode: 'save' });
  t.false(wrong.body.isSaved);
  t.is(await editors.text('studio.json5'), studio);
  const { body } = await editors.post<EditResult>('/hub/edit', { files: files('desk/lamp'), mode: 'save' });
  t.true(body.isSaved);
  t.true((await editors.text('studio.json5')).includes("name: 'first'"));
  t.true((await editors.text('second.json5')).includes("to: 'desk/lamp'"));
});

test('by an edit nobody gains what he may not read, write or manage; the place is named', async (t) => {
  const editors = await start(t);
  const refused: [op: object, message: RegExp][] = [
    [
      { path: 'rules[2]', insert: { from: 'vault/code', map: 'value', to: 'desk/lamp' } },
      /studio\.json5:\d+:\d+: rules\[2\]\.from: .*read, got "vault\/code"/,
    ],
    [
      { path: 'rules[2]', insert: { from: 'desk/mic', to: 'vault/door' } },
      /studio\.json5:\d+:\d+: rules\[2\]\.to: .*write, got "vault\/door"/,
    ],
    [{ path: 'rules[0].map', set: "param('vault/code') == '1'" }, /read, got "vault\/code"/],
    [{ path: 'rules[0].map', set: "param('vault\\u002fcode') == '1'" }, /expected an address that you may read/],
    [{ path: 'rules[0].to', set: 'desk/mic' }, /write, got "desk\/mic"/],
    [
      { path: 'rules[2]', insert: { each: { a: ['vault/code'] }, name: '${a}', from: '${a}', to: 'desk/lamp' } },
      /read, got "vault\/code"/,
    ],
    [{ path: 'rules[2]', insert: { from: 'vault/nothing', to: 'desk/lamp' } }, /read, got "vault\/nothing"/],
    [
      { path: 'connections.mine', insert: { type: 'rest-api', port: 0 } },
      /connections\.mine: expected a user with all rights/,
    ],
    [
      { path: 'connections.desk.parameters[3]', insert: 'x,B' },
      /connections\.desk: expected a connection with only parameters that/,
    ],
    [
      { path: 'connections.out', insert: { type: 'xml-file-output', filename: 'a.xml', template: '<a/>' } },
      /all rights/,
    ],
    [{ path: 'connections.desk.parameters[3]', insert: { env: 'HOME' } }, /all rights/],
    [
      { path: 'describe', insert: { 'vault/**': { label: 'mine' } } },
      /describe\["vault\/\*\*"\]: expected an address that you may/,
    ],
    [
      { path: 'instances', insert: { template: './_secret.json5', each: { a: {} } } },
      /instances: expected a template that you may edit/,
    ],
    [
      { path: 'tests[1]', insert: { name: 'spy', steps: [{ expect: { 'vault/code': '1234' } }] } },
      /read, got "vault\/code"/,
    ],
  ];
  for (const mode of ['check', 'save'])
    for (const [op, message] of refused) {
      const { status, body } = await editors.edit('studio.json5', [op], mode, users.one.token);
      t.is(status, 403, JSON.stringify([op, body]));
      t.regex(body.detail, message);
    }
  const allowed = await editors.edit(
    'studio.json5',
    [{ path: 'rules[0].map', set: '!value' }],
    'save',
    users.one.token,
  );
  t.true(allowed.body.isSaved, JSON.stringify(allowed.body));
});

test('other files, unsafe names and secrets are refused', async (t) => {
  const editors = await start(t, { 'flow.ts': '' });
  const { etag } = await editors.source('studio.json5');
  for (const [file, status] of [
    ['../outside.json5', 404],
    [editors.name('../../etc/passwd'), 400],
    [`${editors.hub.folder}/../x.json5`, 400],
    [editors.name('flow.ts'), 400],
    [editors.name('.hidden.json5'), 404],
    ['nothing.json5', 404],
  ] as const) {
    const edit = { file, base: etag, ops: [], mode: 'check' };
    const path = `/hub/source/${encodeURIComponent(file)}`;
    t.is((await editors.post<Problem>('/hub/edit', edit)).status, status, file);
    t.is((await editors.get(path)).status, status, file);
    t.is((await editors.post<Problem>('/hub/edit', edit, users.one.token)).status, 403, file);
    t.is((await editors.get(path, users.one.token)).status, 403, file);
  }
  const others = { file: editors.name('entry.json5'), base: etag, ops: [], mode: 'check' };
  t.is((await editors.post<Problem>('/hub/edit', others, users.one.token)).status, 403, 'a file that exists');
  t.is((await editors.get('/hub/sources', users.manager.token)).status, 403, 'manage does not include edit');
  const source = await editors.source('entry.json5');
  t.false(source.text.includes('token-of-the-hub'));
  const secret = await editors.edit('entry.json5', [{ path: 'connections.api.users.one.token', set: 'mine' }]);
  t.is(secret.status, 403);
});

test('an expression has a type and a value, and reads only what the user may read', async (t) => {
  const editors = await start(t);
  const ask = (body: object) => editors.post<Evaluated & Problem>('/hub/evaluate', body, users.one.token);
  t.deepEqual((await ask({ expression: 'value + 1.5', from: 'desk/level' })).body, {
    value: 1.5,
    type: 'F',
    reason: '',
  });
  t.like((await ask({ expression: 'a && b > 1', from: { a: 'desk/mic', b: 'desk/level' } })).body, {
    value: false,
    type: 'B',
  });
  t.like((await ask({ expression: 'value', from: 'desk/lamp' })).body, { value: null, reason: 'desk/lamp is unknown' });
  t.is((await ask({ expression: "param('vault/code')" })).status, 404);
  t.is((await ask({ expression: "param('vault/nothing')" })).status, 404);
  t.is((await ask({ expression: 'value', from: 'vault/code' })).status, 404);
  t.regex((await ask({ expression: 'value +', from: 'desk/level' })).body.detail, /column 8|expression: column/);
  const list = `[${Array.from({ length: 200 }, (_, at) => at).join(', ')}]`;
  for (const dot of ['.', './/\n', ' . // .\n '])
    t.is((await ask({ expression: `${list}.all(a, ${list}${dot}all(b, a != b))` })).status, 400, dot);
});

test('no expression takes much memory, or the time of the hub', async (t) => {
  const editors = await start(t);
  const long = `replace(replace('${'a'.repeat(100)}', 'a', '${'a'.repeat(100)}'), 'a', '${'a'.repeat(26)}')`;
  const parts = `split('${'a'.repeat(900)}', '')`;
  const deep = (open: string, close: string) => `size(string(${open.repeat(24)}1${close.repeat(24)} == 1))`;
  const expressions = [
    `size(replace(${long}, 'a', '${'a'.repeat(100)}'))`,
    `cel.bind(a, ${long}, lastIndexOf(a, substring(a, 130000) + 'b'))`,
    `cel.bind(a, ${long}, lastIndexOf(a, substring(a, 259900) + 'b'))`,
    `cel.bind(a, ${long}, size(${Array(400).fill('a').join(' + ')}))`,
    `cel.bind(a, ${long}, size(base64(a)))`,
    `size(join(${parts}, ${long}))`,
    `size(${parts}.map(x, replace('aaaa', 'a', ${long.slice(0, 300).replace(/, 'a', '.*/, `, 'a', '${'b'.repeat(100)}'`)})))`,
    `size(${parts}.map(x, ${long}))`,
    deep('{1: ', '}[1]'),
    deep("param('desk/level', ", ')'),
  ];
  const cpu = process.cpuUsage();
  const before = process.memoryUsage().rss;
  for (const expression of expressions) {
    const { status, body } = await editors.post<Evaluated & Problem>('/hub/evaluate', { expression }, users.one.token);
    t.true(status === 200 || status === 400, JSON.stringify(body));
  }
  const { user, system } = process.cpuUsage(cpu);
  t.true((user + system) / 1000 < 5000, `${(user + system) / 1000} ms`);
  t.true(process.memoryUsage().rss - before < 300 * 1024 * 1024);
});

test('many expressions at once are evaluated one by one, and others are answered in between', async (t) => {
  const editors = await start(t);
  const expression = `matches('${'a'.repeat(3500)}', '(a*)*(a*)*(a*)*b')`;
  let evaluated = 0;
  const all = Array.from({ length: 300 }, async () => {
    const { status } = await editors.post('/hub/evaluate', { expression }, users.one.token);
    t.is(status, 200);
    evaluated++;
  });
  await eventually(() => evaluated > 0, 'the first expression');
  await editors.get('/parameters/desk/level');
  t.true(evaluated < all.length, 'another request does not wait for all expressions');
  await Promise.all(all);
});

test('the uses of a parameter are its rules, connections, dashboards and tests', async (t) => {
  const core = {
    connections: {
      core: { type: 'virtual-core', inputs: { mic: 'desk/mic' }, outputs: { on: { type: 'B', expression: 'mic' } } },
    },
  };
  const snapshots = { night: { include: ['desk/m*'] }, other: { include: ['desk/lamp'] } };
  const history = [{ include: ['vault/*'] }, { include: ['desk/**'], exclude: ['desk/lamp'] }];
  const store = { type: 'store', folder: 'data', history, snapshots };
  const alarm = { type: 'alarms', alarms: { open: { when: 'desk/mic' } } };
  const editors = await start(t, { 'core.json5': core, 'past.json5': { connections: { store, alarm } } });
  const { body } = await editors.get<Usages>('/hub/usages?address=desk%2Fmic');
  t.like(body.rules[0], { name: 'lamp', as: ['from'] });
  t.deepEqual(body.connections, [
    { id: 'core', type: 'virtual-core', as: ['mic'] },
    { id: 'store', type: 'store', as: ['history', 'snapshot night'] },
    { id: 'alarm', type: 'alarms', as: ['open'] },
  ]);
  t.is(body.tests[0]?.name, 'the lamp follows');
  t.is((await editors.get('/hub/usages?address=vault%2Fcode', users.one.token)).status, 404);
  const seen = await editors.get<Usages>('/hub/usages?address=desk%2Fmic', users.one.token);
  t.deepEqual(seen.body.connections, [], 'core is in a file that this user may not edit');
});

test('an instance of a template becomes a file of its own: the same rules run, and comments stay', async (t) => {
  const template = `// A studio
{
  variables: { overrun: 2000 }, // in ms
  connections: {
    '\${instance}': { type: 'dummy', parameters: ['mic,B', 'sign,S,\${label}'] },
    '\${instance}-clock': { type: 'timer', timers: ['\${overrun}'] },
  },
  rules: [
    // the time
    { name: 'timer', from: '\${instance}/mic', when: '!value', map: 'true', to: '\${instance}-clock/timer/1/start' },
  ],
}
`;
  const list = `{
  instances: {
    template: './_studio.json5',
    each: {
      s1: { label: 'Studio 1' },
      s2: { label: 'Studio 2', overrun: 5000 }, // the large one
    },
  },
}
`;
  const editors = await start(t, { '_studio.json5': template, 'studios.json5': list });
  const addresses = () => [...editors.hub.parameters()].map(({ address, value }) => `${address}=${value}`).sort();
  const before = addresses();
  const { made } = await editors.source('_studio.json5');
  const rules = made.find(({ path }) => path === 'rules[0]');
  t.deepEqual(rules, { path: 'rules[0]', by: 'instances', names: ['s1: timer', 's2: timer'] });
  const ask = { file: editors.name('_studio.json5'), path: 'rules[0]', made: 1 };
  t.is((await editors.post('/hub/edit/separate', ask, users.one.token)).status, 403);
  t.is((await editors.post('/hub/edit/separate', { ...ask, made: 2 })).status, 400);
  t.is((await editors.post('/hub/edit/separate', { ...ask, file: editors.name('studio.json5') })).status, 400);
  const { status, body } = await editors.post<SeparationAnswer>('/hub/edit/separate', ask);
  t.is(status, 200, JSON.stringify(body));
  const saved = await editors.post<EditResult>('/hub/edit', { files: body.files, mode: 'save' });
  t.true(saved.body.isSaved, JSON.stringify(saved.body));
  t.is(await editors.text('studios.json5'), list.replace(/ *s2.*\n/, ''));
  t.is(await editors.text('s2.json5'), template.replace('overrun: 2000 }', "overrun: 5000, label: 'Studio 2' }"));
  t.is(await editors.text('_studio.json5'), template);
  t.deepEqual(addresses(), before);
  t.is(body.place, `${editors.name('s2.json5')}:10:5`);
  t.is((await editors.post('/hub/edit/separate', { ...ask, made: 0 })).status, 200);
  const last = await editors.post<SeparationAnswer>('/hub/edit/separate', { ...ask, made: 0 });
  t.true((await editors.post<EditResult>('/hub/edit', { files: last.body.files, mode: 'save' })).body.isSaved);
  t.is((await editors.text('studios.json5')).replaceAll(/\s/g, ''), '{}');
  t.deepEqual(addresses(), before);
});

test('an edit in shadow runs next to the live rules until it is saved', async (t) => {
  const editors = await start(t);
  const ops = [{ path: 'rules[0].map', set: '!value' }];
  const { body } = await editors.edit('studio.json5', ops, 'shadow');
  t.deepEqual(body.shadow?.rules, ['lamp']);
  t.is(await editors.text('studio.json5'), studio);
  const saved = await editors.edit('studio.json5', ops);
  t.true(saved.body.isSaved);
  t.is(editors.hub.shadow(), undefined);
});

/** Starts a hub with the files of a folder, until the test is over. */
async function restart(t: ExecutionContext, folder: string): Promise<void> {
  const hub = await startHub({ paths: [folder], log: createLogRecorder() });
  t.teardown(() => hub.stop());
}

test('a change of access that nobody has confirmed is taken back by a restart, a confirmed one stays', async (t) => {
  const editors = await start(t);
  const before = await editors.text('entry.json5');
  const ops = [{ path: 'connections.api.users.manager.manage', set: false }];
  const { body } = await editors.edit('entry.json5', ops);
  t.true(body.isSaved && body.probation !== undefined, JSON.stringify(body));
  const folder = editors.hub.folder;
  await editors.hub.stop();
  await restart(t, folder);
  t.is(await editors.text('entry.json5'), before);

  const { connections } = entry;
  const others = await start(t, { 'entry.json5': { connections: { ...connections, other: { ...api, users } } } });
  const saved = await others.edit('entry.json5', ops);
  const { revision } = saved.body;
  const statuses = await Promise.all(
    portsOf(others.hub).map(async (port) => {
      if (port === others.hub.port) return undefined;
      const headers = { authorization: 'Bearer owner-token-of-the-hub', 'content-type': 'application/json' };
      const url = `http://127.0.0.1:${port}/hub/edit/confirm`;
      return (await fetch(url, { method: 'POST', headers, body: JSON.stringify({ revision }) })).status;
    }),
  );
  t.deepEqual(statuses.sort(), [403, undefined], 'another connection confirms nothing');
  t.is(
    (await others.post('/hub/edit/confirm', { revision }, users.one.token)).status,
    403,
    'another user confirms nothing',
  );
  const isNoted = () =>
    readdirSync(others.hub.folder, { recursive: true }).some((name) => /probation/.test(String(name)));
  t.true(isNoted());
  t.is((await others.post('/hub/edit/confirm', { revision })).status, 200);
  t.false(isNoted(), 'a hub that is killed right after the answer keeps the change');
  await others.hub.stop();
  await restart(t, others.hub.folder);
  t.regex(await others.text('entry.json5'), /manage"?: ?false/);
});

test('a change of access that cuts its author off takes itself back when the time is up', async (t) => {
  for (const ops of [
    [{ path: 'connections.api.users.owner', remove: true }],
    [{ path: 'connections.api.users.owner.edit', remove: true }],
  ]) {
    const editors = await start(t, {}, { probationMs: 1500 });
    const before = await editors.text('entry.json5');
    const { body } = await editors.edit('entry.json5', ops);
    t.true(body.isSaved && body.probation !== undefined, JSON.stringify(body));
    const { revision } = body;
    const isShut = async () => (await editors.post('/hub/edit/confirm', { revision: 99 })).status !== 404;
    await eventually(isShut, 'the author is cut off');
    t.not((await editors.post('/hub/edit/confirm', { revision })).status, 200, 'he cannot confirm');
    await eventually(async () => (await editors.get('/hub/sources')).status === 200, 'the author is back');
    t.is(await editors.text('entry.json5'), before);
    t.true(
      editors.hub.lines.some(({ message }) =>
        /was not confirmed within 1.5 s: the previous files were restored/.test(message),
      ),
    );
  }
});

test('a save of several files that a kill has interrupted is taken back at the next start', async (t) => {
  const folder = await createFolder(t, { 'a.json5': '{ rules: [] }', 'b.json5': '{ rules: [ ] }' });
  const write = (file: string, before: string) => ({ path: join(folder, file), before, after: '{ tests: [] }' });
  await mkdir(join(folder, '.patchbay'));
  const writes = [write('a.json5', '{ rules: [] }'), write('b.json5', '{ rules: [ ] }')];
  await writeFile(join(folder, '.patchbay/save.json'), JSON.stringify(writes));
  await writeFile(join(folder, 'a.json5'), '{ tests: [] }');
  await rm(join(folder, 'b.json5')); // between the two steps of its replacement
  await restart(t, folder);
  t.is(await readFile(join(folder, 'a.json5'), 'utf8'), '{ rules: [] }');
  t.is(await readFile(join(folder, 'b.json5'), 'utf8'), '{ rules: [ ] }');
});

test('what an editor has saved just before an interrupted save is not lost', async (t) => {
  const folder = await createFolder(t, { 'b.json5': '{ rules: [] }', '.a.json5.0123456789ab.old': '{ /* theirs */ }' });
  await mkdir(join(folder, '.patchbay'));
  const writes = [{ path: join(folder, 'a.json5'), before: '{ rules: [] }', after: '{ tests: [] }' }];
  await writeFile(join(folder, '.patchbay/save.json'), JSON.stringify(writes));
  await restart(t, folder);
  t.is(await readFile(join(folder, 'a.json5'), 'utf8'), '{ /* theirs */ }');
  t.deepEqual((await readdir(folder)).sort(), ['.patchbay', 'a.json5', 'b.json5']);
});

test('a hub that stops before or while it runs a saved change keeps the change', async (t) => {
  for (const waitMs of [0, 45, 50, 55, 60, 70, 90]) {
    const editors = await start(t);
    const { body } = await editors.edit('entry.json5', [{ path: 'connections.api.maxClients', set: 100 }]);
    t.true(body.isSaved);
    await after(waitMs); // it runs the change 50 ms after the answer
    await editors.hub.stop();
    await after(200);
    t.regex(await editors.text('entry.json5'), /maxClients"?: ?100/, `after ${waitMs} ms`);
  }
});

test('the answer to a change that restarts its own REST API arrives', async (t) => {
  const editors = await start(t);
  const { status, body } = await editors.edit('entry.json5', [{ path: 'connections.api.maxClients', set: 100 }]);
  t.is(status, 200);
  t.true(body.isSaved);
});

test('any rule is accepted exactly if its author may read what it reads and write what it writes', async (t) => {
  const editors = await start(t);
  const { etag } = await editors.source('studio.json5', users.one.token);
  const sources = ['desk/mic', 'desk/level', 'vault/door', 'vault/none'];
  const targets = ['desk/lamp', 'desk/level', 'desk/mic', 'vault/door', 'vault/none'];
  const forms: ((from: string, to: string) => object)[] = [
    (from, to) => ({ from, to }),
    (from, to) => ({ from: ['desk/mic', from], map: 'true', to: [to] }),
    (from, to) => ({ from: { a: from }, map: 'a', to: { 'desk/lamp': 'value', [to]: 'value' } }),
    (from, to) => ({ from: 'desk/mic', map: `param('${from}')`, to }),
    (from, to) => ({ from: 'desk/mic', when: `known("${from}")`, to }),
    (from, to) => ({ from: 'desk/mic', pipe: [{ filter: `known('${from}')` }], to }),
    (from, to) => ({ each: { n: [from] }, name: 'x${n}', from: '${n}', to }),
    (from, to) => ({ folder: 'f', rules: [{ folder: 'g', rules: [{ enabled: false, from, to }] }] }),
  ];
  const random = new Random(66, 1);
  let accepted = 0;
  for (let round = 0; round < 40; round++) {
    const [from, to] = [random.pick(sources), random.pick(targets)];
    const insert = random.pick(forms)(from, to);
    const ops = [{ path: 'rules[0]', insert }];
    const request = { file: 'studio.json5', base: etag, ops, mode: random.pick(['check', 'shadow']) };
    const { status, body } = await editors.post<Problem>('/hub/edit', request, users.one.token);
    const isAllowed = from.startsWith('desk/') && ['desk/lamp', 'desk/level'].includes(to);
    t.is(status, isAllowed ? 200 : 403, JSON.stringify([insert, body]));
    if (isAllowed) accepted++;
    else t.regex(body.detail, /studio\.json5:\d+:\d+: /);
  }
  t.true(accepted > 2);
});

test('a message names a file and a page as people know them, not as a URL encodes them', async (t) => {
  const editors = await start(t);
  const name = editors.name('studio.json5');
  const of = async (path: string) => (await editors.get<Problem>(path, users.manager.token)).body.detail;
  t.is(await of(`/hub/source/${encodeURIComponent(name)}`), `${name}: expected a user who may edit flow files`);
  t.is(await of('/hub/a%20page%1b'), '/hub/a page\\u001b: no such page');
  t.is(await of('/hub/50%25%zz'), '/hub/50%25%zz: no such page');
});
