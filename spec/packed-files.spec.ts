// What is packed is the project's own: each flow file and page by its name, none that somebody has put beside them. People run the hub in
// their clone, and their flow files have passwords.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'ava';
import { createFolder } from './support/folder.ts';
import { readReadme, root } from './support/repository/readme.ts';

const { files } = JSON.parse(readReadme('package.json')) as { files: string[] };

function packedIn(folder: string): string[] {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const [{ files }] = JSON.parse(execFileSync('npm', args, { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26 }));
  return (files as { path: string }[]).map(({ path }) => path);
}

test('each flow file and page of the repository is packed by its name', (t) => {
  const tracked = execFileSync('git', ['ls-files', 'flows', 'docs'], { cwd: root, encoding: 'utf8' }).split('\n');
  const wanted = tracked.filter((path) => path !== '').sort();
  t.deepEqual(files.filter((path) => /^(flows|docs)\//.test(path)).sort(), wanted, 'package.json: files');
  t.deepEqual(
    files.filter((path) => path.includes('*')),
    [
      'lib/**/README.md',
      'lib/connections/device/protocols/*.json5',
      'lib/connections/rest-api/metrics/*.{json,yml}',
      'lib/console/screenshots/*.png',
    ],
  );
});

test('the lock file matches package.json, so npm install changes no file', (t) => {
  const asked = JSON.parse(readReadme('package.json')) as Record<string, unknown>;
  const { packages } = JSON.parse(readReadme('package-lock.json')) as { packages: Record<'', Record<string, unknown>> };
  for (const kind of ['dependencies', 'optionalDependencies', 'devDependencies', 'peerDependencies'])
    t.deepEqual(packages[''][kind], asked[kind], kind);
});

test('additional files of a clone are not packed', async (t) => {
  const folder = await createFolder(t);
  for (const name of ['package.json', 'README.md', 'LICENSE', 'flows', 'docs', '.gitignore', '.npmrc'])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  const before = packedIn(folder);
  t.true(before.includes('flows/demo.json5') && before.includes('flows/init/studio.json5'));
  for (const path of [
    'flows/house.json5',
    'flows/demo2.json5',
    'flows/demo.json5~',
    'flows/demo.json5.bak',
    'flows/studio/house.json5',
    'flows/cookbook/own.json5',
    'flows/cookbook/tally/own.json5',
    'flows/cookbook/tally/_two-microphones.json5',
    'flows/cookbook/buttons/own.ts',
    'flows/cookbook/operations/dashboards/own.json5',
    'flows/cookbook/own/own.json5',
    'flows/init/own.json5',
    'flows/init/dashboards/own.json5',
    'flows/dashboards/own.json5',
    'flows/own.ts',
    'flows/password.txt',
    'flows/data/values.db',
    'docs/passwords.md',
    'house.json5',
    '.env',
    'install/own.json5',
  ]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), '{ connections: { api: { type: "rest-api", password: "secret" } } }');
  }
  t.deepEqual(packedIn(folder), before);
});
