// The arrows between rooms: which of them may import which.

import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import test from 'ava';

const root = resolve(import.meta.dirname, '..');
const lib = join(root, 'lib');

const { dependencies, optionalDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
const packages = Object.keys({ ...dependencies, ...optionalDependencies });

/** The contract of connection types, which stands on the floor above their folders. */
const contract = ['connection', 'claim', 'setting', 'status', 'hub-port'].map((name) => `connections/${name}.ts`);

/** A connection type imports the contract, the model and packages, never another type or what runs it; some import more. */
const furtherRoomsOfType: Readonly<Record<string, readonly string[]>> = {
  'connections/rest-api/': ['wire/', 'json5/', 'dashboard/', 'net/'],
  'connections/virtual-core/': ['expression/'],
};

/** For each room, by the longest prefix of a file: the rooms and packages that its files may import. */
const arrows: readonly (readonly [room: string, allowed: readonly string[]])[] = [
  ['model/', []],
  ['wire/', ['model/']],
  ['graph/', ['model/', 'rxjs']],
  ['expression/', ['model/', '@marcbachmann/cel-js']],
  ['json5/', ['model/', 'json5', 'zod', 'fastest-levenshtein']],
  ['dashboard/', ['model/', 'json5/', 'zod']],
  ['net/', ['model/', 'uws-legacy']],
  ['connections/', [...contract, 'model/', 'rxjs', 'zod']],
  ['connections/registry.ts', ['connections/', 'zod']],
  ['flow/', ['model/', 'graph/', 'expression/', ...contract, 'rxjs', 'zod', 'json5/', 'chokidar']],
  ['client/', ['model/', 'wire/']],
  ['console/', ['client/', 'dashboard/format.ts', 'model/', 'wire/', 'solid-js', 'uplot', '@dagrejs/dagre']],
  ['hub.ts', ['*']],
  ['hub/', ['model/', 'graph/', 'flow/', ...contract]],
  [
    'testing/',
    ['hub.ts', 'hub/journal.ts', 'model/', 'graph/', 'flow/', 'json5/', ...contract, 'connections/registry.ts', 'rxjs'],
  ],
  [
    'command/',
    [
      'hub.ts',
      'testing/',
      'flow/check/check.ts',
      'flow/plan.ts',
      'flow/programs/',
      'hub/journal.ts',
      'connections/registry.ts',
      'connections/keyboard/key-table.ts',
      'json5/',
      'model/',
      'pino',
      'pino-pretty',
    ],
  ],
  ['index.ts', ['*']],
  ['main.ts', ['*', 'commander']],
  ['patchbay.ts', ['command/node-version.ts', 'main.ts']],
];

const importPattern = /(?:^|\n)(?:import|export)\b[^;]*?\bfrom '([^']+)'|\bimport\('([^']+)'\)/g;

async function libFiles(): Promise<string[]> {
  return (await readdir(lib, { recursive: true })).filter((name) => /\.tsx?$/.test(name));
}

async function importsOf(file: string): Promise<string[]> {
  const text = await readFile(join(lib, file), 'utf8');
  return [...text.matchAll(importPattern)].map((match) => match[1] ?? match[2]!);
}

function roomOf(file: string): readonly [string, readonly string[]] | undefined {
  const [typeFolder] = /^connections\/[^/]+\//.exec(file) ?? [];
  if (typeFolder !== undefined)
    return [typeFolder, [...contract, 'model/', ...packages, ...(furtherRoomsOfType[typeFolder] ?? [])]];
  return arrows.filter(([room]) => file.startsWith(room)).sort(([a], [b]) => b.length - a.length)[0];
}

test('every file imports only what the arrows of its room allow', async (t) => {
  for (const file of await libFiles()) {
    const room = roomOf(file);
    t.truthy(room, `${file} is in no room`);
    const [name, allowed] = room!;
    for (const specifier of await importsOf(file)) {
      if (specifier.startsWith('node:')) {
        t.false(['model/', 'wire/', 'client/', 'console/'].includes(name), `${file} imports ${specifier}`);
        continue;
      }
      const target = specifier.startsWith('.') ? relative(lib, join(lib, dirname(file), specifier)) : specifier;
      t.false(target.startsWith('..'), `${file} leaves lib: ${specifier}`);
      const isOwn = name.endsWith('/') && name !== 'connections/' && target.startsWith(name);
      const isAllowed =
        isOwn ||
        allowed.some((one) => one === '*' || target === one || target.startsWith(one.endsWith('/') ? one : `${one}/`));
      t.true(isAllowed, `${file} must not import ${target}`);
    }
  }
});

test('only lib/net/uws.ts names uWebSockets.js', async (t) => {
  for (const file of await libFiles())
    if ((await readFile(join(lib, file), 'utf8')).includes('uws-')) t.is(file, 'net/uws.ts');
});

test('only programs touch process: lib/main.ts, the process of the keyboard, and threads of their own', async (t) => {
  const programs = [
    'main.ts',
    'connections/keyboard/child.ts',
    'flow/programs/trial-thread.ts',
    'command/watchdog-thread.ts',
    'command/node-version.ts',
  ];
  for (const file of await libFiles())
    if (/\bprocess\.\w/.test(await readFile(join(lib, file), 'utf8'))) t.true(programs.includes(file), file);
});
