// A folder is made with its parents, on every file system.

import { statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { makeFolder } from '../../lib/files/make-folder.ts';
import { createFolder } from '../support/folder.ts';

test('a folder is made with its missing parents, or the error names the obstacle; nothing loops', async (t) => {
  const folder = await createFolder(t, { file: '' });
  const made = join(folder, 'a/b/c');
  makeFolder(made);
  makeFolder(made);
  t.true(statSync(made).isDirectory());
  symlinkSync('a', join(folder, 'link'));
  makeFolder(join(folder, 'link/d'));
  t.true(statSync(join(folder, 'a/d')).isDirectory());
  symlinkSync('nowhere', join(folder, 'dangling'));
  for (const path of ['file', 'file/a', 'dangling/a', 'dangling'].map((name) => join(folder, name)))
    t.throws(
      () => {
        makeFolder(path);
        statSync(path);
      },
      undefined,
      path,
    );
  if (process.platform === 'linux') t.throws(() => makeFolder('/proc/nothing/here'), { code: 'ENOENT' });
});
