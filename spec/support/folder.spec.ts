// A temporary folder is empty at first, and gone in the end.

import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import test from 'ava';
import { createTemporaryFolder, inTemporaryFolder } from './folder.ts';

test('work has an empty folder, named after it, which is removed with its contents', async (t) => {
  const [path, files] = await inTemporaryFolder('spec', async (folder) => {
    const before = await readdir(folder);
    await writeFile(join(folder, 'file'), 'text');
    return [folder, before] as const;
  });
  t.deepEqual(files, []);
  t.regex(basename(path), /^patchbay-spec-\w+$/);
  t.false(existsSync(path));
});

test('the folder of failed work is removed too', async (t) => {
  let path = '';
  const work = inTemporaryFolder('spec', async (folder) => {
    path = folder;
    throw new Error('it failed');
  });
  await t.throwsAsync(work, { message: 'it failed' });
  t.false(existsSync(path));
});

test('a folder stays until it is removed, also twice', async (t) => {
  const { path, remove } = await createTemporaryFolder('spec');
  t.true(existsSync(path));
  await remove();
  await remove();
  t.false(existsSync(path));
});
