// The READMEs name what there is: connection types and their settings, commands, requests, steps, functions, folders.

import { existsSync, globSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { commonSettings } from '../lib/connections/setting.ts';
import { documentedFunctions } from '../lib/expression/functions/functions.ts';
import { stepTypes } from '../lib/flow/steps/steps.ts';
import { listRecipes } from '../lib/hub/recipes.ts';
import { connectionTypes } from './support/connection-types.ts';
import { api, startTestHub } from './support/hub.ts';
import { readReadme, root } from './support/repository/readme.ts';
import { unnamedSettings } from './support/repository/settings.ts';
import { withTypeTable } from './support/repository/type-table.ts';
import { runToEnd } from './support/system/process.ts';

/** The names in backticks in the first cells of all tables of the text. */
const rowsOf = (text: string) =>
  [...text.matchAll(/^\| ((?:[^|\\]|\\\|)*) \|/gm)].flatMap(([, cell]) =>
    [...cell!.matchAll(/`([^`]*)`/g)].map(([, name]) => name!),
  );

test('README.md names every connection type and verb', (t) => {
  const readme = readReadme('README.md');
  t.is(readme, withTypeTable(readme), 'npm run format writes the table of connection types');
  const { scripts } = JSON.parse(readReadme('package.json'));
  for (const [verb] of [...readme.matchAll(/(?<=`npm run )[\w:]+/g)]) t.truthy(scripts[verb], verb);
  for (const verb of ['dev', 'check', 'format', 'bench', 'screenshots']) t.true(readme.includes(`\`npm run ${verb}\``));
});

for (const [name, type] of connectionTypes)
  test(`the README of ${name} names its settings`, (t) => {
    t.deepEqual(unnamedSettings(readReadme(`lib/connections/${name}/README.md`), type), []);
  });

test('docs/rules.md names the settings of all connections, and all steps', (t) => {
  const readme = readReadme('docs/rules.md');
  const rows = rowsOf(readme);
  for (const setting of Object.keys(commonSettings)) t.true(rows.includes(setting), setting);
  for (const [name] of stepTypes) t.true(rows.includes(name), name);
});

test('docs/rules.md names every function of expressions, and no other', (t) => {
  const [, table = ''] = /\| function \| \|\n\|---\|---\|\n([\s\S]*?)\n\n/.exec(readReadme('docs/rules.md')) ?? [];
  const named = rowsOf(table).map((usage) => usage.replaceAll('\\|', '|'));
  t.deepEqual(named.sort(), documentedFunctions.flatMap(({ usages }) => [...usages]).sort());
});

test('docs/commands.md names every command', async (t) => {
  const { output } = await runToEnd(t, ['--help']);
  const commands = [...output.matchAll(/^ {2}(\w+) (?=\[|<| )/gm)]
    .map(([, name]) => name!)
    .filter((name) => name !== 'help');
  t.true(commands.length >= 9);
  const named = rowsOf(readReadme('docs/commands.md')).flatMap((row) => row.split(' ')[1]!.split('\\|'));
  t.deepEqual(named.sort(), commands.sort());
});

test('README.md and docs/guide.md have the number of recipes', async (t) => {
  const { length } = await listRecipes();
  for (const page of ['README.md', 'docs/guide.md']) t.regex(readReadme(page), new RegExp(`\\[${length} recipes\\]`));
});

test('docs/api.md names every request', async (t) => {
  const hub = await startTestHub(t, { connections: { api } });
  const answer = await fetch(`http://127.0.0.1:${hub.port}/hub/openapi.json`);
  const { paths } = (await answer.json()) as { paths: Record<string, object> };
  const readme = readReadme('docs/api.md');
  for (const [path, methods] of Object.entries(paths)) {
    const shown = path.replace(/\{.*\}.*/, '<');
    for (const method of Object.keys(methods).filter((method) => /^(get|post)$/.test(method)))
      if (!['/ws', '/hub/console/{file}'].includes(path))
        t.regex(readme, new RegExp(`^\\| .*(\`${method.toUpperCase()} |, \`)${shown}`, 'm'), `${method} ${path}`);
  }
});

test('lib/README.md names the folders', async (t) => {
  const [, table = ''] = /\| folder \| \|\n\|---\|---\|\n([\s\S]*?)\n\n/.exec(readReadme('lib/README.md')) ?? [];
  const cells = [...table.matchAll(/^\| (.*?) \|/gm)].map(([, cell]) => cell!);
  const named = cells.flatMap((cell) => cell.match(/[\w.-]+(?:\.ts|\/)(?=[`\]])/g) ?? []);
  const folders = (await readdir(join(root, 'lib'), { withFileTypes: true }))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .filter((name) => /\/$|\.ts$/.test(name));
  t.deepEqual(named.sort(), folders.sort());
});

test('lib/README.md names only existing files and folders', (t) => {
  const text = readReadme('lib/README.md').replace(/^```(ts|console)[\s\S]*?^```$/gm, '');
  const paths = [...text.matchAll(/(?<![\w/.(-])([\w-]+\/)*([\w-]+\/|[\w-]+\.ts)(?![\w#-])/g)].map(([path]) => path);
  t.true(paths.length >= 20);
  for (const path of paths) t.true(existsSync(join(root, 'lib', path)) || existsSync(join(root, path)), path);
});

test('each statement and decision of docs/specification.md is cited by a spec, and nothing else is cited', (t) => {
  const stated = [...readReadme('docs/specification.md').matchAll(/^\| ([SD]-\d\d) \|/gm)].map(([, number]) => number!);
  const specs = globSync('spec/**/*.spec.ts', { cwd: root, exclude: ['spec/.together/**'] });
  const cited = new Set(specs.flatMap((spec) => readReadme(spec).match(/\b[SD]-\d\d\b/g) ?? []));
  t.deepEqual([...cited].sort(), [...new Set(stated)].sort());
});
