// A user who may edit one file tries to see and to change everything else, by names of files, edits, expressions and all endpoints of
// editing. Whether something exists that he may not see makes no difference to the answers.

import { readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { functionTypes } from '../../../../lib/expression/functions/functions.ts';
import { startHub } from '../../../../lib/hub/index.ts';
import { runTestsOf } from '../../../../lib/testing/run-tests.ts';
import { createLogRecorder } from '../../../support/connection.ts';
import { connectionTypes } from '../../../support/connection-types.ts';
import { Editors } from '../../../support/editors.ts';
import { createFolder } from '../../../support/folder.ts';
import { api, portsOf } from '../../../support/hub.ts';
import { sampled } from '../../../support/random.ts';

const token = 'one-token-of-the-hub';
const users = {
  owner: { token: 'owner-token-of-the-hub', read: ['**'], write: ['**'], manage: true, edit: ['**'] },
  one: { token, read: ['desk/**'], write: ['desk/lamp', 'desk/level'], edit: ['studio.json5'] },
};

/** Everything that the user may not see contains `hush`. */
const files = {
  'entry.json5': {
    connections: {
      api: { ...api, users },
      hush: { type: 'dummy', parameters: ['code,S,hush-value', 'door,B', 'state,S', 'level,F,1'] },
      'hush-core': {
        type: 'virtual-core',
        inputs: { lamp: 'desk/lamp' },
        outputs: { on: { type: 'B', expression: 'lamp' } },
      },
    },
    rules: [
      { name: 'hush rule', from: 'desk/lamp', map: "value ? 'hush-on' : 'hush-off'", to: 'hush/state' },
      { name: 'hush lights', from: 'hush/state', map: "value == 'hush-on'", to: 'desk/echo' },
    ],
  },
  'hush.json5': "{ rules: [{ name: 'hush other', from: 'desk/mic', to: 'hush/door' }] }",
  'sub/studio.json5': "{ rules: [{ name: 'hush sub', from: 'desk/mic', to: 'hush/door' }] }",
  'Studio.json5': "{ rules: [{ name: 'hush case', from: 'desk/mic', to: 'hush/door' }] }",
  '_hush.json5': "{ rules: [{ name: 'hush made', from: 'desk/mic', to: 'hush/door' }] }",
  'uses.json5': "{ instances: { template: './_hush.json5', each: { hush: {} } } }",
  'studio.json5': `{
  connections: {
    desk: { type: 'dummy', parameters: ['mic,B,false', 'lamp,B,false', 'level,F,0', 'echo,B'] },
    broker: { type: 'mqtt', enabled: false, url: 'mqtt://127.0.0.1:1', username: 'me', password: 'hush-secret', parameters: { x: { type: 'B', topic: 'x' } } },
  },
  rules: [
    { name: 'lamp', from: 'desk/mic', to: 'desk/lamp' },
  ],
  tests: [],
}
`,
};

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** A path as the hub reads it; as it is if it has bytes that are no text. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path.replaceAll(/%(?![\da-f]{2})/gi, '%25'));
  } catch {
    return path;
  }
}

class Attacker {
  readonly #editors: Editors;
  readonly #t: ExecutionContext;
  etag = '';

  constructor(t: ExecutionContext, editors: Editors) {
    this.#t = t;
    this.#editors = editors;
  }

  /** Asks, and checks that the answer has nothing hidden that was not in the question. */
  async ask(path: string, body?: object): Promise<Answer> {
    const { hub } = this.#editors;
    const response = await fetch(`http://127.0.0.1:${hub.port}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const asked = `${decoded(path)} ${new URL(path, 'http://hub').pathname} ${path} ${JSON.stringify(body ?? '')} hush/code hush/none`;
    const shown = new Set(text.match(/[\w./-]*hush[\w./ -]*/g) ?? []);
    const leaked = [...shown].filter((one) => !asked.includes(one.replace(`${hub.folder}/`, '').replace(/\.$/, '')));
    this.#t.deepEqual(leaked, [], `${asked}\n${text}`);
    this.#t.not(response.status, 500, `${asked}\n${text}`);
    return { status: response.status, text };
  }

  edit(ops: readonly object[], mode: string): Promise<Answer> {
    return this.ask('/hub/edit', { file: 'studio.json5', base: this.etag, ops, mode });
  }
}

async function start(t: ExecutionContext) {
  const folder = await createFolder(t, files);
  const elsewhere = await createFolder(t, { 'hush-outside.json5': '{ rules: [] }' });
  await symlink(join(elsewhere, 'hush-outside.json5'), join(folder, 'hush-link.json5'));
  await symlink(elsewhere, join(folder, 'hush-folder'));
  const log = createLogRecorder();
  const hub = await startHub({ paths: [folder], log, runTests: runTestsOf });
  t.teardown(() => hub.stop());
  const [port = Number.NaN] = portsOf(log);
  const editors = new Editors(Object.assign(hub, { lines: log.lines, logged: log.logged, port, folder }));
  const attacker = new Attacker(t, editors);
  const { etag } = JSON.parse((await attacker.ask('/hub/source/studio.json5')).text) as { etag: string };
  attacker.etag = etag;
  const texts = async () => {
    const names = (await readdir(folder, { recursive: true })).filter(
      (name) => name.endsWith('.json5') && !name.startsWith('.'),
    );
    return Promise.all(names.sort().map(async (name) => [name, await readFile(join(folder, name), 'utf8')]));
  };
  return { editors, attacker, texts, folder };
}

const modes = ['check', 'shadow', 'save'];

test('a user who may edit one file neither reads nor changes another one, whatever its name is written like', async (t) => {
  const { attacker, texts, folder } = await start(t);
  const before = await texts();
  const isMeant = sampled(t, 12);
  const names = [
    ...[
      'hush.json5',
      'entry.json5',
      'sub/studio.json5',
      'Studio.json5',
      'STUDIO.JSON5',
      './studio.json5',
      'uses.json5',
    ],
    ...['sub/../studio.json5', '../studio.json5', '../../studio.json5', '_hush.json5', './_hush.json5', 'new.json5'],
    ...['hush-link.json5', 'hush-folder/hush-outside.json5', 'hush-folder/new.json5', '.patchbay/revisions.json'],
    ...['.patchbay/save.json5', '.hush.json5', '/etc/passwd', '/etc/hosts.json5', 'studio.ts', 'studio.device.json5'],
    ...['studio.json5\0', 'studio.json5\0.json5', 'sub\\studio.json5', 'studio.json5/', 'studio.json5/../hush.json5'],
    ...[
      '',
      '.',
      '..',
      '*',
      '**',
      '{studio,hush}.json5',
      `${'a'.repeat(900)}.json5`,
      'studio.json5 ',
      'ＳＴＵＤＩＯ.json5',
    ],
    ...[`${folder}/hush.json5`, `${folder}/sub/../hush.json5`, `${folder}/hush-link.json5`, `${folder}//hush.json5`],
    ...[
      '%2e%2e/hush.json5',
      '..%2fhush.json5',
      'hush%2ejson5',
      '%68ush.json5',
      'hush.json5%00',
      '%c0%ae%c0%ae/hush.json5',
    ],
  ];
  const text = "{ rules: [{ from: 'desk/mic', to: 'desk/lamp' }] }";
  for (const [index, name] of names.entries()) {
    if (!isMeant(index)) continue;
    const questions = [
      () => attacker.ask(`/hub/source/${encodeURIComponent(name)}`),
      () => attacker.ask(`/hub/source/${name.replaceAll(/[^\w./%*-]/g, encodeURIComponent)}`),
      ...modes.map(
        (mode) => () => attacker.ask('/hub/edit', { file: name, base: '', ops: [{ path: '', text }], mode }),
      ),
      () =>
        attacker.ask('/hub/edit', { file: name, base: attacker.etag, ops: [{ path: 'rules', set: [] }], mode: 'save' }),
      () =>
        attacker.ask('/hub/edit', {
          files: [
            { file: 'studio.json5', base: attacker.etag, ops: [{ path: 'rules[0].name', set: 'mine' }] },
            { file: name, base: attacker.etag, ops: [{ path: 'rules', set: [] }] },
          ],
          mode: 'save',
        }),
      () => attacker.ask(`/hub/revisions?file=${encodeURIComponent(name)}`),
    ];
    for (const [number, ask] of questions.entries()) {
      const { status, text: answer } = await ask();
      // a client takes dots out of a path: then it asks for a page, or for the list of revisions
      const isList = number === questions.length - 1 || (number < 2 && answer.startsWith('<!doctype'));
      const isOwn =
        /^\/?studio\.json5$/.test(name) ||
        (number < 2 && /^\.{0,2}\/?(?:sub\/\.\.\/)?(?:\.\.\/)*studio\.json5$/.test(name));
      if (isList || isOwn) t.true(status < 500, `${name} ${answer}`);
      else t.true(status >= 400 && status < 500, `${JSON.stringify(name)}: ${number}: ${status} ${answer}`);
    }
  }
  t.deepEqual(await texts(), before);
});

/** Edits that name an address, in each place where a flow file can have one. */
function edits(address: string): object[] {
  const [connection, id] = address.split('/') as [string, string];
  const insert = (rule: object) => [{ path: 'rules[0]', insert: rule }];
  const [from, to] = ['desk/mic', 'desk/lamp'];
  const look = (expression: string) => insert({ from, map: expression, to });
  const rules = [
    insert({ from: address, map: 'true', to }),
    insert({ from: [from, address], map: 'true', to }),
    insert({ from: { a: address, b: from }, map: 'b', to }),
    insert({ from: { a: address, b: from }, require: 'any', hear: 'writes', atStart: true, map: 'b', to }),
    insert({ from, to: address }),
    insert({ from, to: [to, address] }),
    insert({ from, to: { [to]: 'value', [address]: 'value' } }),
    insert({ from, to: { [to]: `known('${address}')` } }),
    insert({ from, when: `known('${address}')`, to }),
    ...['known', 'fresh'].map((look_) => look(`${look_}('${address}')`)),
    ...[`'${address}'`, `"${address}"`, `'''${address}'''`, `r'${address}'`, `r"""${address}"""`].map((written) =>
      look(`string(param(${written})) == ''`),
    ),
    look(`param('${connection}\\u002f${id}') == ''`),
    look(`param('\\x68${address.slice(1)}') == ''`),
    look(`string(wanted('${address}')) == ''`),
    look(`[1].exists(x, string(param('${address}')) == '')`),
    look(`cel.bind(x, string(param('${address}')), x == '')`),
    look(`string(param(/**/'${address}')) == ''`),
    insert({ from, pipe: [{ filter: `known('${address}')` }], to }),
    insert({ from, pipe: [{ map: `string(param('${address}')) == ''` }], to }),
    insert({ each: { n: [address] }, name: 'x ${n}', from: '${n}', map: 'true', to }),
    insert({ each: { n: [connection] }, name: 'x ${n}', from: `\${n}/${id}`, map: 'true', to }),
    insert({ each: { a: [address.slice(0, 2)], b: [address.slice(2)] }, name: 'x', from: '${a}${b}', map: 'true', to }),
    insert({ each: { n: [address] }, name: 'x ${n}', from, map: "known('${n}')", to }),
    insert({ each: { n: [address] }, name: 'x ${n}', from, to: '${n}' }),
    insert({ folder: 'f', rules: [{ folder: 'g', enabled: false, rules: [{ from: address, map: 'true', to }] }] }),
    insert({ shadow: true, from: address, map: 'true', to }),
    insert({ enabled: false, from: address, map: 'true', to }),
  ];
  const tests = [
    { set: { [address]: 1 } },
    { expect: { [address]: 1 } },
    { never: { [address]: 1 }, during: '1s' },
    { set: { [from]: true }, expect: { [address]: null } },
  ].map((step) => [{ path: 'tests[0]', insert: { name: 'spy', steps: [step] } }]);
  const others = [
    [{ path: 'tests[0]', insert: { name: 'spy', given: { [address]: 1 }, steps: [{ expect: { [to]: true } }] } }],
    [{ path: 'describe', insert: { [address]: { label: 'mine' } } }],
    [{ path: 'describe', insert: { [`${connection}/**`]: { label: 'mine' } } }],
    [{ path: 'connections', set: { desk: { type: 'virtual-core', inputs: { x: address }, outputs: {} } } }],
    [{ path: 'connections.watch', insert: { type: 'alarms', alarms: { a: { when: `param('${address}') == ''` } } } }],
    [{ path: `connections.${connection}`, insert: { type: 'dummy', parameters: [`${id},B`] } }],
    [{ path: '', text: `{ rules: [{ from: '${address}', map: 'true', to: '${to}' }] }` }],
    [
      {
        path: 'rules[0]',
        text: `{ from: ${JSON.stringify(address).replace('u', '\\u0075')}, map: 'true', to: '${to}' }`,
      },
    ],
    [{ path: 'rules[0].name', set: 'a' }, ...insert({ from: address, map: 'true', to })],
  ];
  return [...rules, ...tests, ...others];
}

test('by no edit a user gains an address that he may not read or write, and no answer tells whether there is one', async (t) => {
  const { attacker, texts, editors } = await start(t);
  const before = await texts();
  const running = editors.hub.rules().map(({ name }) => name);
  const isMeant = sampled(t, 24);
  const [real, missing] = [edits('hush/code'), edits('hush/none')];
  t.true(real.length > 40);
  for (const [index, ops] of real.entries())
    for (const [at, mode] of modes.entries()) {
      if (!isMeant(index + at)) continue;
      const one = await attacker.edit(ops as object[], mode);
      t.is(one.status, 403, `${mode} ${JSON.stringify(ops)}\n${one.text}`);
      const other = await attacker.edit(missing[index] as object[], mode);
      t.is(other.status, one.status);
      t.is(other.text.replaceAll('none', 'code'), one.text);
    }
  t.deepEqual(await texts(), before);
  t.deepEqual(
    editors.hub.rules().map(({ name }) => name),
    running,
  );
});

test('by no edit a user gains a connection, a template, a secret or the time of the hub', async (t) => {
  const { attacker, texts } = await start(t);
  const before = await texts();
  const isMeant = sampled(t, 12);
  const password = 'connections.broker.password';
  const loops = '[1].//\nall(a, [1].all(b, a == b))';
  const attacks: object[][] = [
    ...[...connectionTypes.keys()].flatMap((type) => [
      [{ path: 'connections.mine', insert: { type } }],
      [{ path: 'connections.desk.type', set: type === 'dummy' ? 'timer' : type }],
    ]),
    ...['./_hush.json5', '_hush.json5', 'hush.json5', '../x.json5', '/etc/hosts', 'hush-link.json5'].map((template) => [
      { path: 'instances', insert: { template, each: { a: {} } } },
    ]),
    ...[
      'rules[0].name',
      'rules[1]',
      'describe',
      'tests[0]',
      'connections.broker.username',
      'connections.desk.name',
    ].map((move) => [{ path: password, move }]),
    [{ path: 'connections.broker', move: 'rules[0]' }],
    [{ path: 'connections', move: 'describe' }],
    [{ path: password, set: 'mine' }],
    [{ path: 'connections.broker.enabled', set: true }],
    [{ path: 'connections.broker', remove: true }],
    [{ path: 'connections.desk', remove: true }],
    [{ path: 'connections.desk.parameters[0]', set: { env: 'HOME' } }],
    [{ path: 'connections.desk.parameters', set: { file: 'hush.json5' } }],
    [{ path: 'rules[0].map', set: loops }],
    [{ path: 'rules[0].pipe', set: [{ filter: loops }] }],
    [
      { path: 'rules[0].each', set: { e: [loops] } },
      { path: 'rules[0].map', set: '${e}' },
    ],
  ];
  for (const [index, ops] of attacks.entries()) {
    if (!isMeant(index)) continue;
    for (const mode of modes) {
      const { status, text } = await attacker.edit(ops, mode);
      t.true(status === 403 || status === 400, `${mode} ${JSON.stringify(ops)}: ${status} ${text}`);
    }
  }
  t.deepEqual(await texts(), before);
});

test('not even the owner moves a secret to where it can be read', async (t) => {
  const { editors } = await start(t);
  for (const move of ['rules[0].name', 'connections.broker.username', 'describe']) {
    const ops = [{ path: 'connections.broker.password', move }];
    const { status, body } = await editors.edit('studio.json5', ops, 'check');
    t.true(status === 403 || status === 400, JSON.stringify(body));
    t.false(JSON.stringify(body).includes('hush-secret'));
  }
});

test('an allowed edit shows nothing of what it causes elsewhere: in errors, tests, shadow and restarts', async (t) => {
  const { attacker, editors, folder } = await start(t);
  const spy = { name: 'spy', steps: [{ set: { 'desk/mic': true }, expect: { 'desk/echo': false } }] };
  const edits: object[][] = [
    [{ path: 'tests[0]', insert: spy }],
    [{ path: 'rules[0].map', set: '!value' }],
    [{ path: 'rules[0].from', set: 'desk/mik' }],
    [{ path: 'rules[0].map', set: 'valu' }],
    [{ path: 'rules[0]', remove: true }],
    [{ path: 'rules[1]', insert: { name: 'back', from: 'desk/echo', to: 'desk/lamp' } }],
  ];
  for (const ops of edits)
    for (const mode of modes.slice(0, 2)) {
      const { status, text } = await attacker.edit(ops, mode);
      t.is(status, 200, text);
      if (ops === edits[0] && mode === 'check') t.regex(text, /expected false, got true/);
      if (mode !== 'shadow') continue;
      editors.hub.write('desk/mic', editors.hub.find('desk/mic')?.value !== true, { kind: 'client', name: 'spec' });
      await attacker.edit(ops, mode);
    }
  await editors.edit('hush.json5', [{ path: 'rules[0].name', set: 'hush renamed' }]);
  const { etag } = await editors.source('studio.json5');
  const { etag: other } = await editors.source('hush.json5');
  const both = [
    { file: join(folder, 'hush.json5'), base: other, ops: [{ path: 'rules[0].name', set: 'hush again' }] },
    { file: join(folder, 'studio.json5'), base: etag, ops: [{ path: 'rules[0].name', set: 'mine' }] },
  ];
  const saved = await editors.post<{ isSaved: boolean }>('/hub/edit', { files: both, mode: 'save' });
  t.true(saved.body.isSaved);
  t.is((await attacker.ask('/hub/revisions')).text.trim(), '{"revisions":[]}');
  for (const number of ['1', '2', '3', '0', '-1', '1e0', '01', 'x'])
    for (const mode of modes) t.is((await attacker.ask(`/hub/revisions/${number}/revert`, { mode })).status, 404);
  for (const revision of [0, 1, 2, 99]) t.is((await attacker.ask('/hub/edit/confirm', { revision })).status, 404);
  const { text } = await attacker.ask('/hub/sources');
  t.deepEqual(
    (JSON.parse(text) as { files: { file: string }[] }).files.map(({ file }) => file),
    [join(folder, 'studio.json5')],
  );
});

test('a user without manage sees no rule, override or use of others, and switches nothing', async (t) => {
  const { attacker, editors } = await start(t);
  const until = '2100-01-01T00:00:00Z';
  for (const path of [
    '/hub/rules',
    '/hub/overrides',
    '/hub/trace?rule=hush%20rule',
    '/hub/shadow',
    '/hub/files',
    '/hub/connections',
  ])
    t.is((await attacker.ask(path)).status, 403, path);
  for (const body of [
    { rule: 'hush rule', enabled: false },
    { rule: 'lamp', enabled: false, until },
  ])
    t.is((await attacker.ask('/hub/rules', body)).status, 403);
  t.is((await attacker.ask('/hub/connections', { connection: 'hush', action: 'stop', until })).status, 403);
  for (const address of ['desk/lamp', 'desk/mic', 'desk/echo'])
    t.is((await attacker.ask(`/hub/usages?address=${encodeURIComponent(address)}`)).status, 200);
  const uses = async (address: string) => attacker.ask(`/hub/usages?address=${encodeURIComponent(address)}`);
  const [one, other] = [await uses('hush/code'), await uses('hush/none')];
  t.deepEqual([one.status, one.text], [404, other.text.replaceAll('none', 'code')]);
  const recipe = (address: string) =>
    attacker.ask('/hub/recipes/tally/two-microphones', { as: 'mine', set: { mic1: address } });
  t.is((await recipe('hush/code')).text, (await recipe('hush/none')).text.replaceAll('none', 'code'));
  t.deepEqual(editors.hub.overrides(), []);
});

test('rehearsals and open sheets show nothing of rules, values and files of others', async (t) => {
  const { attacker, editors } = await start(t);
  const writer = { kind: 'client', name: 'spec' } as const;
  for (const mic of [true, false]) editors.hub.write('desk/mic', mic, writer);
  const sheet = { rule: 'hush other', sheet: 'one', isOpen: true };
  const opened = await editors.post('/hub/edit/sheet', { ...sheet, file: editors.name('hush.json5') });
  t.is(opened.status, 200);
  for (const file of ['hush.json5', 'entry.json5', 'none.json5'])
    for (const isOpen of [true, false]) {
      const { status } = await attacker.ask('/hub/edit/sheet', { ...sheet, file: editors.name(file), isOpen });
      t.true(status === 403 || status === 404, `${file}: ${status}`);
    }
  const own = await attacker.ask('/hub/edit/sheet', { ...sheet, file: editors.name('studio.json5'), rule: 'lamp' });
  t.deepEqual([own.status, own.text.trim()], [200, '{"others":[]}']);
  const ops = [{ path: 'rules[0].map', set: '!value' }];
  for (const rule of ['lamp', 'hush rule', 'hush none', 'hush other', ''])
    for (const address of ['desk/mic', 'hush/code', 'hush/none']) {
      const recorded = [{ address, value: true, time: Date.now() }];
      const asked = { file: 'studio.json5', base: attacker.etag, ops, mode: 'check', rehearse: { rule, recorded } };
      const { status, text } = await attacker.ask('/hub/edit', asked);
      t.true(status < 500, text);
      t.false(text.includes('hush-value'), text);
    }
  const of = async (rule: string) => {
    const asked = { file: 'studio.json5', base: attacker.etag, ops, mode: 'check', rehearse: { rule, recorded: [] } };
    return (await attacker.ask('/hub/edit', asked)).text.replaceAll(rule, 'rule');
  };
  t.is(await of('hush rule'), await of('hush none'));
});

test('an expression reads nothing that its author may not read, in no argument of any function', async (t) => {
  const { attacker } = await start(t);
  const isMeant = sampled(t, 60);
  const looks = (address: string) => [
    `param('${address}')`,
    `known('${address}')`,
    `param("${address}", 0)`,
    `wanted(r'${address}')`,
  ];
  const forms: ((look: string) => string)[] = [
    (look) => look,
    (look) => `true || ${look} == ''`,
    (look) => `false ? ${look} : 1`,
    (look) => `size([${look}])`,
    (look) => `{'a': ${look}}['a'] == ''`,
    (look) => `[1, 2].exists(x, ${look} == '')`,
    (look) => `cel.bind(x, ${look}, 1)`,
    (look) => `[0][${look}]`,
  ];
  for (const { name, overloads } of functionTypes.values())
    for (const { takes } of overloads)
      for (const at of takes.keys())
        forms.push((look) => `${name}(${takes.map((_, index) => (index === at ? look : "'1'")).join(', ')})`);
  t.true(forms.length > 80);
  const evaluate = (expression: string, from: unknown = 'desk/mic') =>
    attacker.ask('/hub/evaluate', { expression, from });
  const [real, missing] = [looks('hush/code'), looks('hush/none')];
  for (const [index, form] of forms.entries())
    for (const [kind, look] of real.entries()) {
      if (!isMeant(index * real.length + kind)) continue;
      const [one, other] = [await evaluate(form(look)), await evaluate(form(missing[kind]!))];
      t.true(one.status === 404 || one.status === 400, `${form(look)}: ${one.text}`);
      t.deepEqual([one.status, one.text], [other.status, other.text.replaceAll('none', 'code')]);
    }
  for (const from of ['hush/code', ['hush/code'], { a: 'hush/code' }, { a: 'desk/mic', b: 'hush/code' }]) {
    const absent = JSON.parse(JSON.stringify(from).replace('code', 'none')) as unknown;
    const [one, other] = [await evaluate('1', from), await evaluate('1', absent)];
    t.deepEqual([one.status, one.text], [404, other.text.replaceAll('none', 'code')]);
  }
  t.is((await evaluate('value', [])).status, 400);
});
