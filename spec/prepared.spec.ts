// A clone reads what has been prepared of its modules and packages, as long as nothing has changed since.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { createFolder } from './support/folder.ts';
import { root } from './support/repository/readme.ts';

const run = promisify(execFile);

test('prepared modules are used, but not once a module has changed or other packages are installed', async (t) => {
  const lock = 'packages as they are';
  const bundler = 'what joins them';
  const folder = await createFolder(t, {
    'package.json': { type: 'module' },
    'lib/main.ts': "import { usePrepared } from './prepared.ts';\nusePrepared();\nvoid import('./one.ts');\n",
    'lib/one.ts': "import { two } from 'two';\nconst own: string = 'own';\nconsole.log(own, two);\n",
    'node_modules/two/package.json': { name: 'two', type: 'module', exports: './index.js' },
    'node_modules/two/index.js': "export const two = 'own';\n",
    'node_modules/.package-lock.json': lock,
    'spec/prepared/bundle.ts': bundler,
    'node_modules/.cache/stripped/lib/one.ts': "import { two } from 'two';\nconsole.log('prepared', two);\n",
    'node_modules/.cache/bundled/node_modules/two.mjs': "export const two = 'prepared';\n",
    'node_modules/.cache/bundled/index.json': {
      version: createHash('sha256').update(lock).update(bundler).digest('hex'),
      names: ['two'],
    },
  });
  copyFileSync(join(root, 'lib/prepared.ts'), join(folder, 'lib/prepared.ts'));
  const prints = async () =>
    (
      await run(process.execPath, [join(folder, 'lib/main.ts')], { env: { ...process.env, NODE_OPTIONS: '' } })
    ).stdout.trim();
  const module = join(folder, 'lib/one.ts');
  const stripped = join(folder, 'node_modules/.cache/stripped/lib/one.ts');
  const { atime, mtime } = statSync(module);
  utimesSync(stripped, atime, new Date(mtime.getTime() - 2000)); // both may have been written in the same millisecond
  t.is(await prints(), 'own prepared', 'the module is newer or older than what was prepared of it');
  utimesSync(stripped, atime, mtime);
  t.is(await prints(), 'prepared prepared');
  writeFileSync(join(folder, 'node_modules/.package-lock.json'), 'others');
  t.is(await prints(), 'prepared own');
  writeFileSync(module, readFileSync(module, 'utf8').replace("'own'", "'changed'"));
  utimesSync(module, atime, new Date(mtime.getTime() + 2000));
  t.is(await prints(), 'changed own');
});
