// A path that leads elsewhere is followed: a link that is switched, wherever it is on the way, and a folder that replaces another.

import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { type Hub, startHub } from '../../../lib/hub/index.ts';
import { createLogRecorder } from '../../support/connection.ts';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';

const dummy = (...parameters: string[]) => ({ connections: { desk: { type: 'dummy', parameters } } });

/** Switches a link as `ln -sfn` does, or at once. */
async function switchLink(path: string, target: string, isAtOnce: boolean): Promise<void> {
  if (isAtOnce) {
    await symlink(target, `${path}.new`);
    await rename(`${path}.new`, path);
  } else {
    await rm(path, { force: true });
    await symlink(target, path);
  }
}

async function run(t: ExecutionContext, ...paths: string[]): Promise<Hub> {
  const hub = await startHub({ paths, log: createLogRecorder(), watch: true });
  t.teardown(() => hub.stop());
  return hub;
}

const shows = (t: ExecutionContext, hub: Hub, id: string) =>
  t.notThrowsAsync(
    eventually(() => hub.find(`desk/${id}`) !== undefined && [...hub.parameters()].length === 1, `desk/${id}`),
  );

/** Each leads to releases/1 and then to releases/2 by a link; `path` is the path that the hub gets. */
const ways: readonly { what: string; links: Record<string, string>; path: string; link: string }[] = [
  { what: 'the folder', links: { current: 'releases/1' }, path: 'current', link: 'current' },
  { what: 'a folder below a link', links: { now: '.', current: 'releases/1' }, path: 'now/current', link: 'current' },
  { what: 'a link behind a link', links: { live: 'current', current: 'releases/1' }, path: 'live', link: 'current' },
  { what: 'a link in the folder', links: { 'flows/linked': '../releases/1' }, path: 'flows', link: 'flows/linked' },
  {
    what: 'a link behind a link in the folder',
    links: { 'flows/linked': '../current', current: 'releases/1' },
    path: 'flows',
    link: 'current',
  },
  {
    what: 'a volume that an orchestrator renews',
    links: { 'flows/a.json5': '..data/a.json5', 'flows/..data': '../releases/1' },
    path: 'flows',
    link: 'flows/..data',
  },
  { what: 'a file', links: { current: 'releases/1' }, path: 'current/a.json5', link: 'current' },
  { what: 'a file that is a link', links: { 'a.json5': 'releases/1/a.json5' }, path: 'a.json5', link: 'a.json5' },
];

for (const { what, links, path, link } of ways)
  for (const isAtOnce of [true, false])
    test(`${what} is followed when its link is switched${isAtOnce ? ' at once' : ''}, and saves there are noticed`, async (t) => {
      const releases = Object.fromEntries(
        [1, 2, 3].map((release) => [`releases/${release}/a.json5`, dummy(`r${release}`)]),
      );
      const folder = await createFolder(t, releases);
      await mkdir(join(folder, 'flows'));
      for (const [name, target] of Object.entries(links)) await symlink(target, join(folder, name));
      const hub = await run(t, join(folder, path));
      await shows(t, hub, 'r1');
      for (const release of [2, 3, 1]) {
        const target = links[link]!.replace('releases/1', `releases/${release}`);
        await switchLink(join(folder, link), target, isAtOnce);
        await shows(t, hub, `r${release}`);
        const file = join(folder, `releases/${release}/a.json5`);
        await writeFile(file, JSON.stringify(dummy(`saved${release}`)));
        await shows(t, hub, `saved${release}`);
        await writeFile(`${file}~`, JSON.stringify(dummy(`r${release}`)));
        await rename(`${file}~`, file);
        await shows(t, hub, `r${release}`);
      }
    });

test('a folder that replaces another, or one above it, is followed', async (t) => {
  const folder = await createFolder(t, { 'app/flows/a.json5': dummy('r1'), 'next/a.json5': dummy('r2') });
  const hub = await run(t, join(folder, 'app/flows'));
  await rename(join(folder, 'app/flows'), join(folder, 'app/old'));
  await rename(join(folder, 'next'), join(folder, 'app/flows'));
  await shows(t, hub, 'r2');
  await mkdir(join(folder, 'new/flows'), { recursive: true });
  await writeFile(join(folder, 'new/flows/a.json5'), JSON.stringify(dummy('r3')));
  await rename(join(folder, 'app'), join(folder, 'old'));
  await rename(join(folder, 'new'), join(folder, 'app'));
  await shows(t, hub, 'r3');
  await writeFile(join(folder, 'app/flows/a.json5'), JSON.stringify(dummy('r4')));
  await shows(t, hub, 'r4');
});

test('a file named by settings is followed through a link', async (t) => {
  const onair = { type: 'xml-file-output', filename: 'out.xml', templateFile: 'current/in.xml' };
  const folder = await createFolder(t, {
    'a.json5': { connections: { desk: onair } },
    'releases/1/in.xml': '<a>$R1</a>',
    'releases/2/in.xml': '<a>$R2</a>',
  });
  await symlink('releases/1', join(folder, 'current'));
  const hub = await run(t, join(folder, 'a.json5'));
  await switchLink(join(folder, 'current'), 'releases/2', true);
  await shows(t, hub, 'R2');
});

test('a flow in TypeScript is followed, with its imports', async (t) => {
  const root = resolve(import.meta.dirname, '../../..');
  const flow = `import { defineFlow } from ${JSON.stringify(join(root, 'lib/index.ts'))};
    import { name } from './_name.ts';
    export default defineFlow({ connections: { desk: { type: 'dummy', parameters: [name] } } });`;
  const files = [1, 2].flatMap((release) => [
    [`releases/${release}/a.ts`, flow],
    [`releases/${release}/_name.ts`, `export const name = 'r${release}';`],
  ]);
  const folder = await createFolder(t, { ...Object.fromEntries(files), 'package.json': { type: 'module' } });
  await symlink('releases/1', join(folder, 'current'));
  const hub = await run(t, join(folder, 'current'));
  await switchLink(join(folder, 'current'), 'releases/2', true);
  await shows(t, hub, 'r2');
  await writeFile(join(folder, 'releases/2/_name.ts'), "export const name = 'r3';");
  await shows(t, hub, 'r3');
});
