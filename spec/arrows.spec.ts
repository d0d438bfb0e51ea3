// The arrows between rooms: which of them may import which.

import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { importsOf, lib, libFiles, loadedBy, readLib } from './support/repository/imports.ts';

const { dependencies, optionalDependencies } = JSON.parse(await readFile(join(lib, '../package.json'), 'utf8'));
const packages = Object.keys({ ...dependencies, ...optionalDependencies });

/** What the stages of flow share: the plan and what it is made of. */
const hinge = [
  'define-flow',
  'instances-schema',
  'plan',
  'private-files',
  'programs/flow-code',
  'programs/stack',
  'rule-expression',
  'streams',
  'test-plan',
].map((name) => `flow/${name}.ts`);
/** The contract of connection types, which stands on the floor above their folders. */
const contract = [
  'connection',
  'claim',
  'orphans',
  'setting',
  'loss',
  'expected',
  'leadership',
  'hub-port',
  'persistence',
  'archive',
  'installation',
  'mirroring',
  'editing',
  'places',
  'id-template',
].map((name) => `connections/${name}.ts`);

/** A connection type imports the contract, the model and packages, never another type or what runs it; some import more. */
const furtherRoomsOfType: Readonly<Record<string, readonly string[]>> = {
  'connections/device/': ['device/', 'expression/', 'json5/'],
  'connections/mail/': ['connections/message-template.ts', 'connections/outbox.ts', 'device/', 'nodemailer'],
  'connections/midi/': ['device/'],
  'connections/modbus/': ['device/'],
  'connections/mqtt/': ['device/', 'expression/', 'json5/'],
  'connections/dmx/': ['device/'],
  'connections/ember-plus/': ['device/'],
  'connections/home-assistant/': ['device/'],
  'connections/osc/': ['device/'],
  'connections/companion/': ['backup/', 'device/', 'files/'],
  'connections/satellite/': ['device/', 'ws'],
  'connections/tsl-umd/': ['device/'],
  'connections/rest-api/': ['wire/', 'json5/', 'expression/', 'dashboard/', 'net/', 'regex/'],
  'connections/snmp/': ['device/'],
  'connections/store/': ['backup/', 'json5/', 'wire/'],
  'connections/virtual-core/': ['expression/'],
  'connections/webhook/': ['connections/message-template.ts', 'connections/outbox.ts', 'device/', 'expression/'],
};

/** For each room, by the longest prefix of a file: the rooms and packages that its files may import. */
const arrows: readonly (readonly [room: string, allowed: readonly string[]])[] = [
  ['model/', []],
  ['model/record-schema.ts', ['model/', 'zod']],
  ['files/', ['model/']],
  ['wire/', ['model/', 'zod']],
  ['backup/', ['model/', 'zod']],
  ['graph/', ['model/', 'rxjs']],
  ['regex/', ['re2js']],
  ['device/', ['model/', 'json5/', 'rxjs', 'saxes', 'serialport', 'undici', 'ws']],
  ['expression/', ['model/', 'json5/', 'regex/', '@marcbachmann/cel-js']],
  ['json5/', ['model/', 'json5', 'zod', 'fastest-levenshtein']],
  ['template/', ['model/', 'json5/', 'zod']],
  ['dashboard/', ['model/', 'json5/', 'expression/', 'template/', 'zod']],
  ['net/', ['model/', 'uws-legacy']],
  ['connections/', [...contract, 'model/', 'rxjs', 'zod']],
  ['connections/connection.ts', [...contract, 'model/', 'device/transport.ts', 'rxjs', 'zod']],
  ['connections/message-template.ts', [...contract, 'model/', 'device/', 'expression/', 'zod']],
  ['connections/expected.ts', [...contract, 'model/', 'files/', 'zod']],
  ['connections/setting.ts', [...contract, 'model/', 'files/', 'zod']],
  ['connections/places.ts', [...contract, 'device/ports.ts', 'zod']],
  ['connections/outbox.ts', [...contract, 'model/', 'device/', 'rxjs', 'zod']],
  ['connections/registry.ts', ['connections/']],
  ['connections/connection-types.ts', ['connections/', 'zod']],
  // The stages of flow: files and programs, check, run. The check makes a plan, run takes it; neither knows the other.
  ['flow/define-flow.ts', ['model/', 'flow/check/tests/test-schema.ts', 'rxjs']],
  ['flow/instances-schema.ts', ['model/record-schema.ts', 'zod']],
  ['flow/test-plan.ts', ['model/']],
  ['flow/private-files.ts', [...contract, 'flow/plan.ts']],
  ['flow/rule-expression.ts', ['model/', 'expression/']],
  ['flow/steps/', ['model/', 'flow/rule-expression.ts', 'rxjs', 'zod']],
  [
    'flow/plan.ts',
    ['model/', ...contract, ...['rule-expression', 'steps/step', 'test-plan'].map((name) => `flow/${name}.ts`), 'rxjs'],
  ],
  [
    'flow/streams.ts',
    ['model/', 'json5/', 'flow/define-flow.ts', 'flow/plan.ts', 'flow/programs/flow-code.ts', 'rxjs'],
  ],
  ['flow/programs/', ['model/', 'files/', 'json5/', 'flow/streams.ts', 'rxjs', 'zod']],
  [
    'flow/files/',
    [
      'model/',
      'files/',
      'json5/',
      'template/',
      ...contract,
      'flow/programs/',
      'flow/instances-schema.ts',
      'rxjs',
      'chokidar',
    ],
  ],
  [
    'flow/check/',
    [
      'model/',
      'files/',
      'json5/',
      'expression/',
      ...contract,
      ...hinge,
      'flow/files/flow-file.ts',
      'flow/steps/',
      'template/',
      'rxjs',
      'zod',
    ],
  ],
  ['flow/load.ts', ['model/', 'json5/', ...contract, 'flow/files/', 'flow/programs/', 'flow/check/', 'flow/plan.ts']],
  ['flow/run/', ['model/', 'graph/', 'json5/', ...contract, ...hinge, 'flow/steps/step.ts', 'rxjs']],
  ['flow/rxjs.ts', ['model/', 'flow/run/rules/streams/', 'rxjs']],
  ['flow/rxjs-operators.ts', ['flow/rxjs.ts', 'rxjs']],
  ['client/', ['model/', 'wire/']],
  [
    'console/',
    [
      'client/',
      'dashboard/format.ts',
      'dashboard/formula.ts',
      'dashboard/place-items.ts',
      'dashboard/tone.ts',
      'model/',
      'regex/',
      'wire/',
      'solid-js',
      'uplot',
      'lean-qr',
    ],
  ],
  [
    'hub/',
    [
      'model/',
      'graph/',
      'flow/',
      'json5/',
      'files/make-folder.ts',
      'testing/virtual-clock.ts',
      ...contract,
      'connections/connection-types.ts',
      'rxjs',
    ],
  ],
  ['hub/index.ts', ['hub/']],
  [
    'testing/',
    [
      'hub/index.ts',
      'hub/journal.ts',
      'model/',
      'graph/',
      'flow/',
      'json5/',
      'device/transport.ts',
      ...contract,
      'connections/connection-types.ts',
      'rxjs',
    ],
  ],
  [
    'replay/',
    ['hub/index.ts', 'hub/', 'testing/virtual-clock.ts', 'files/', 'model/', 'wire/', 'graph/', 'flow/plan.ts'],
  ],
  [
    'command/',
    [
      'hub/index.ts',
      'testing/',
      'replay/',
      'backup/',
      'dashboard/parse-dashboard.ts',
      'flow/check/check.ts',
      'flow/check/schema.ts',
      'flow/plan.ts',
      'flow/programs/',
      'hub/journal.ts',
      'hub/recipes.ts',
      'connections/connection-types.ts',
      'connections/companion/',
      'connections/device/',
      'connections/keyboard/key-table.ts',
      'connections/rest-api/users/passwords.ts',
      'files/',
      'json5/',
      'model/',
      'wire/',
      'pino',
      'pino-pretty',
      'commander',
    ],
  ],
  [
    'authoring.ts',
    [
      'model/',
      'connections/connection.ts',
      'connections/hub-port.ts',
      'connections/connection-types.ts', // its types alone
      'flow/check/tests/test-schema.ts',
      'flow/define-flow.ts',
      'hub/version.ts',
    ],
  ],
  ['index.ts', ['*']],
  ['code-loader.ts', ['files/make-folder.ts']],
  ['prepared.ts', []],
  ['main.ts', ['*', 'commander']],
  ['patchbay.ts', ['command/node-version.ts', 'main.ts']],
];

function roomOf(file: string): readonly [string, readonly string[]] | undefined {
  const [typeFolder] = /^connections\/[^/]+\//.exec(file) ?? [];
  if (typeFolder !== undefined)
    return [typeFolder, [...contract, 'model/', 'files/', ...packages, ...(furtherRoomsOfType[typeFolder] ?? [])]];
  return arrows.filter(([room]) => file.startsWith(room)).sort(([a], [b]) => b.length - a.length)[0];
}

test('every file imports only what the arrows of its room allow', async (t) => {
  for (const file of await libFiles()) {
    const room = roomOf(file);
    t.truthy(room, `${file} is in no room`);
    const [name, allowed] = room!;
    for (const target of await importsOf(file)) {
      if (target.startsWith('node:')) {
        t.false(['model/', 'wire/', 'client/', 'console/'].includes(name), `${file} imports ${target}`);
        continue;
      }
      t.false(target.startsWith('..'), `${file} leaves lib: ${target}`);
      const isOwn = name.endsWith('/') && name !== 'connections/' && target.startsWith(name);
      const isAllowed =
        isOwn ||
        allowed.some((one) => one === '*' || target === one || target.startsWith(one.endsWith('/') ? one : `${one}/`));
      t.true(isAllowed, `${file} must not import ${target}`);
    }
  }
});

/**
 * The floors of the REST API, by the longest prefix of a file. A floor may know itself, and the floors and files that are named beside it.
 * The files on no floor, such as the connection type and the endpoints, may know them all.
 */
const floorsOfRestApi: readonly (readonly [floor: string, allowed: readonly string[]])[] = [
  ['pacing/', []],
  ['input/', []],
  ['proxies/', ['input/']],
  ['limits/', ['proxies/']],
  ['entrance/', []],
  ['tracing/', []],
  ['settings.ts', ['limits/', 'proxies/', 'users/user-settings.ts']],
  ['filters/', ['limits/']],
  ['users/', ['filters/', 'limits/']],
  ['http/guard/', ['input/', 'limits/', 'proxies/', 'settings.ts', 'users/']],
  ['http/answer/', ['http/guard/', 'input/', 'limits/', 'proxies/', 'settings.ts']],
  ['http/', ['http/answer/', 'http/guard/', 'input/', 'limits/', 'pacing/', 'proxies/', 'settings.ts', 'users/']],
  ['files/', ['http/', 'http/answer/', 'input/', 'limits/']],
  ['dashboards/', ['files/', 'http/answer/', 'users/']],
  [
    'sockets/',
    ['filters/', 'http/', 'http/answer/', 'input/', 'limits/', 'pacing/', 'proxies/', 'settings.ts', 'users/'],
  ],
  ['sockets/plain/', ['sockets/', 'filters/', 'input/', 'limits/', 'pacing/', 'users/']],
  ['sockets/v1/', ['sockets/', 'filters/', 'input/', 'limits/', 'pacing/', 'tracing/', 'users/']],
  ['metrics/', ['input/', 'limits/', 'sockets/sockets.ts']],
  ['sockets/sockets.ts', ['sockets/', 'sockets/plain/', 'sockets/v1/', 'filters/', 'http/', 'limits/', 'users/']],
];

test('every layer of the REST API imports only from permitted layers', async (t) => {
  const room = 'connections/rest-api/';
  const floorOf = (file: string) =>
    floorsOfRestApi.filter(([floor]) => file.startsWith(floor)).sort(([a], [b]) => b.length - a.length)[0];
  const mistakes: string[] = [];
  for (const file of (await libFiles()).filter((name) => name.startsWith(room))) {
    const floor = floorOf(file.slice(room.length));
    if (floor === undefined) continue;
    const [name, allowed] = floor;
    const targets = (await importsOf(file))
      .filter((path) => path.startsWith(room))
      .map((path) => path.slice(room.length));
    for (const target of targets) {
      const targetFloor = floorOf(target)?.[0] ?? 'no floor';
      if (targetFloor !== name && !allowed.includes(target) && !allowed.includes(targetFloor))
        mistakes.push(`${file} must not import ${target}`);
    }
  }
  t.deepEqual(mistakes, []);
});

test('only lib/net/uws.ts names uWebSockets.js', async (t) => {
  for (const file of await libFiles()) if ((await readLib(file)).includes('uws-')) t.is(file, 'net/uws.ts');
});

test('only lib/files/make-folder.ts makes folders: with `recursive` Node.js never returns below /proc', async (t) => {
  for (const file of await libFiles())
    if (file !== 'files/make-folder.ts' && /\bmkdir(Sync)?\(/.test(await readLib(file))) t.fail(file);
  t.pass();
});

test('only programs touch process: lib/main.ts, the processes of the keyboard and of drivers, and threads of their own', async (t) => {
  const programs = [
    'main.ts',
    'code-loader.ts',
    ...['guard', 'host', 'main'].map((name) => `connections/companion/process/${name}.ts`),
    'connections/keyboard/process/main.ts',
    'connections/midi/process/main.ts',
    'flow/programs/trial-thread.ts',
    'command/run/watchdog-thread.ts',
    'command/node-version.ts',
  ];
  for (const file of await libFiles())
    if (/\bprocess\.\w/.test(await readLib(file))) t.true(programs.includes(file), file);
});

test('the threads of every hub with a store load no package', async (t) => {
  const found = new Set(['values', 'audit', 'history'].map((name) => `connections/store/thread/${name}-thread.ts`));
  for (const file of found) {
    const loaded = await loadedBy(file);
    t.deepEqual(
      loaded.filter((target) => !/^node:|\.ts$/.test(target)),
      [],
      file,
    );
    for (const target of loaded) if (target.endsWith('.ts')) found.add(target);
  }
  t.true(found.has('connections/store/history/history-rules.ts'));
});

test('browsers load no zod: what they import of the shapes of answers is types', async (t) => {
  const found = new Set((await libFiles()).filter((file) => /^(console|client)\//.test(file)));
  for (const file of found)
    for (const target of await loadedBy(file)) {
      t.not(target, 'zod', file);
      if (/\.tsx?$/.test(target)) found.add(target);
    }
  t.true(found.has('wire/limits.ts'));
});

test('no spec and no trial imports the bench, and nothing but the bench does', async (t) => {
  const files = globSync('{spec,install}/**/*.ts', { cwd: join(lib, '..'), exclude: ['spec/.together/**'] });
  t.true(files.length > 400);
  for (const file of files)
    for (const target of await importsOf(`../${file}`))
      t.false(target.startsWith('../bench/'), `${file} imports ${target}`);
});
