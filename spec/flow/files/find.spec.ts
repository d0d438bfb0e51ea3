// Which files below a folder are flow files, and that the others cost nothing.

import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { findFlowFiles } from '../../../lib/flow/files/find.ts';
import { MistakeList } from '../../../lib/json5/mistake.ts';
import { createFolder } from '../../support/folder.ts';

async function find(t: ExecutionContext, folder: string): Promise<string[]> {
  const mistakes = new MistakeList();
  const found = await findFlowFiles([folder], mistakes);
  t.deepEqual(mistakes.items, []);
  return found.map((path) => path.slice(folder.length + 1));
}

test('flow files are found in folders and behind links; packages, dashboards and hidden folders are passed over', async (t) => {
  const folder = await createFolder(t, {
    'b.json5': '',
    'a/c.ts': '',
    'a/c.spec.ts': '',
    'a/notes.txt': '',
    'a/node_modules/x/d.ts': '',
    'dashboards/e.json5': '',
    '.git/f.json5': '',
    '_off/g.json5': '',
  });
  const elsewhere = await createFolder(t, { 'h.json5': '' });
  await symlink(elsewhere, join(folder, 'linked'));
  await symlink(folder, join(folder, 'a/back'));
  await symlink(join(folder, 'nothing'), join(folder, 'a/dangling'));
  t.deepEqual(await find(t, folder), [join('a', 'c.ts'), 'b.json5', join('linked', 'h.json5')]);
});

test('what is passed over is not read, however much it is', async (t) => {
  const [few, many] = [await createFolder(t, { 'a.json5': '' }), await createFolder(t, { 'a.json5': '' })];
  const packages = join(many, 'node_modules');
  await mkdir(packages);
  await Promise.all(Array.from({ length: 4000 }, (_, index) => writeFile(join(packages, `${index}.js`), '')));
  const shortest = async (folder: string) => {
    let least = Number.POSITIVE_INFINITY;
    for (let count = 0; count < 20; count++) {
      const start = performance.now();
      await find(t, folder);
      least = Math.min(least, performance.now() - start);
    }
    return least;
  };
  t.true((await shortest(many)) < 4 * (await shortest(few)));
});
