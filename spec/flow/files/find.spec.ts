// Which files below a folder are flow files, and that other files cost nothing.

import { createHook } from 'node:async_hooks';
import { mkdir, symlink } from 'node:fs/promises';
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

test('flow files are found in folders and behind links; packages, dashboards and hidden folders are skipped', async (t) => {
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

test.serial('skipped folders are not read, however large they are', async (t) => {
  const few = await createFolder(t, { 'a.json5': '' });
  const many = await createFolder(t, { 'a.json5': '' });
  for (let index = 0; index < 20; index++) await mkdir(join(many, `node_modules/${index}`), { recursive: true });
  t.is(await requestsOf(() => find(t, many)), await requestsOf(() => find(t, few)));
});

/** Counts the calls to the file system during some work. */
async function requestsOf(work: () => Promise<unknown>): Promise<number> {
  let requests = 0;
  const hook = createHook({
    init(_, type) {
      if (type.startsWith('FSREQ')) requests++;
    },
  }).enable();
  await work();
  hook.disable();
  return requests;
}
