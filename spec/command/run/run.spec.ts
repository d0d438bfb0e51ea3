// `patchbay run` as a process: saves and SIGHUP reload, `--no-watch` and `--safe`.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { createFolder } from '../../support/folder.ts';
import { type HubProcess, startHubProcess } from '../../support/system/hub-process.ts';
import { start } from '../../support/system/process.ts';

const flow = (...parameters: string[]) => ({
  connections: { desk: { type: 'dummy', parameters: ['a', ...parameters] } },
  rules: [{ from: 'desk/a', to: 'desk/a' }],
});
const save = ({ folder }: HubProcess, content: unknown) =>
  writeFile(join(folder, 'flow.json5'), JSON.stringify(content));

test('a save reloads; a broken one says what is wrong', async (t) => {
  const hub = await startHubProcess(t, flow());
  await hub.logged(/runs 1 connections, 1 rules/);
  await save(hub, flow('b'));
  t.is(await hub.logged(/^reloaded/), 'reloaded: connections: 1 changed');
  await save(hub, flow('b,X'));
  await hub.logged(/expected a value type/);
  await hub.logged(/^not reloaded/);
  hub.process.kill('SIGTERM');
  t.like(await hub.ended(), { status: 0, signal: null });
});

test('with --no-watch only SIGHUP reloads; with --safe no rule runs', async (t) => {
  const hub = await startHubProcess(t, flow(), { args: ['--no-watch', '--safe'] });
  await hub.logged(/runs 1 connections, 0 rules/);
  await hub.logged(/safe: none of the 1 rules runs/);
  const watching = start(t, ['run', hub.folder, '--log-format', 'json']);
  await watching.shows(/patchbay \S+ runs/);
  await save(hub, flow('b'));
  await watching.shows(/reloaded/); // by then a hub that watches has heard of the save
  await save(hub, flow('b', 'c'));
  await watching.shows(/reloaded[\s\S]*reloaded/);
  hub.process.kill('SIGHUP');
  t.is(await hub.logged(/^reloaded/), 'reloaded: connections: 1 changed');
  hub.process.kill('SIGTERM');
  const { status, signal, output } = await hub.ended();
  t.deepEqual([status, signal], [0, null]);
  t.is(output.match(/reloaded/g)?.length, 1);
});

test('what a flow file in TypeScript prints is in the log', async (t) => {
  const index = join(import.meta.dirname, '../../../lib/index.ts');
  const folder = await createFolder(t, {
    'talks.ts': `import { defineFlow } from ${JSON.stringify(index)};
      console.log('loaded %d', 7, { a: 1 });
      console.error('beware');
      export default defineFlow({ connections: {}, rules: () => [] });`,
  });
  const hub = await startHubProcess(t, flow(), { args: [folder] });
  t.is(await hub.logged(/loaded/), 'loaded 7 { a: 1 }');
  t.is(await hub.logged(/beware/), 'beware');
});

test('a SIGHUP that comes before the hub runs does not end it: it reloads as soon as it runs', async (t) => {
  const index = join(import.meta.dirname, '../../../lib/index.ts');
  const folder = await createFolder(t, {
    'hasty.ts': `import { execFileSync } from 'node:child_process';
      import { isMainThread } from 'node:worker_threads';
      import { defineFlow } from ${JSON.stringify(index)};
      if (isMainThread) execFileSync('kill', ['-HUP', String(process.pid)]);
      export default defineFlow({ connections: {}, rules: () => [] });`,
  });
  const hub = await startHubProcess(t, flow(), { args: [folder, '--no-watch', '--log-level', 'debug'] });
  t.is(await hub.logged(/^reloaded/), 'reloaded: nothing has changed');
});
