// `patchbay run` as a process: saves and SIGHUP reload, `--no-watch` and `--safe`.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import { createFolder } from '../../support/folder.ts';
import { shared } from '../../support/shared.ts';
import { startHubProcess } from '../../support/system/hub-process.ts';
import { start } from '../../support/system/process.ts';

const index = JSON.stringify(join(import.meta.dirname, '../../../lib/index.ts'));
const flow = (...parameters: string[]) => ({
  connections: { desk: { type: 'dummy', parameters: ['a', ...parameters] } },
  rules: [{ from: 'desk/a', to: 'desk/a' }],
});
/** They talk, and ask for a reload before the hub runs. */
const programs = {
  'talks.ts': `import { defineFlow } from ${index};
    console.log('loaded %d', 7, { a: 1 });
    console.error('beware');
    export default defineFlow({ connections: {}, rules: () => [] });`,
  'hasty.ts': `import { execFileSync } from 'node:child_process';
    import { isMainThread } from 'node:worker_threads';
    import { defineFlow } from ${index};
    if (isMainThread) execFileSync('kill', ['-HUP', String(process.pid)]);
    export default defineFlow({ connections: {}, rules: () => [] });`,
};
const notWatching = shared(async (t) => {
  const args = [await createFolder(t, programs), '--no-watch', '--safe', '--log-level', 'debug'];
  return startHubProcess(t, flow(), { args });
});
/** It has the same flow file. */
const watching = shared(async (t) => start(t, ['run', (await notWatching()).folder, '--log-format', 'json']));
const save = async (content: unknown) =>
  writeFile(join((await notWatching()).folder, 'flow.json5'), JSON.stringify(content));

test.serial('the output of a flow file in TypeScript is in the log', async (t) => {
  const hub = await notWatching();
  t.is(await hub.logged(/loaded \d/), 'loaded 7 { a: 1 }');
  t.is(await hub.logged(/beware/), 'beware');
});

test.serial('a SIGHUP before the hub runs does not end it: it reloads as soon as it runs', async (t) => {
  const hub = await notWatching();
  t.is(await hub.logged(/^reloaded/), 'reloaded: no changes');
});

test.serial('saving a file causes a reload; a broken file is reported', async (t) => {
  const hub = await watching();
  await hub.shows(/started with 1 connection, 1 rule,/);
  await save(flow('b'));
  const [, reloaded] = await hub.shows(/"(reloaded[^"]*)"/);
  t.is(reloaded, 'reloaded: connections: 1 changed');
  await save(flow('b,X'));
  await hub.shows(/expected a value type/);
  await hub.shows(/"reload failed/);
});

test.serial('with --no-watch only SIGHUP reloads; with --safe no rule runs', async (t) => {
  const hub = await notWatching();
  await hub.logged(/started with 1 connection, 0 rules/);
  await hub.logged(/safe mode: 1 rule disabled/);
  const other = await watching();
  await save(flow('b', 'c'));
  await other.shows(/"reloaded[\s\S]*"reloaded/); // by then a hub that watches has heard of the save before
  hub.process.kill('SIGHUP');
  t.is(await hub.logged(/^reloaded/, 2), 'reloaded: connections: 1 changed');
  hub.process.kill('SIGTERM');
  const { status, signal, output } = await hub.ended();
  t.deepEqual([status, signal], [0, null]);
  t.is(output.match(/"reloaded/g)?.length, 2);
  other.process.kill('SIGTERM');
  t.like(await other.ended(), { status: 0, signal: null });
});

test.serial(
  'a hub that reloads continuously ends at SIGTERM: a reload in progress is not a hanging disk',
  async (t) => {
    const parameters = Array.from({ length: 10_000 }, (_, index) => `sensor-${index}/value,F,${index}`);
    const large = { connections: { desk: { type: 'dummy', parameters } } };
    const hub = await startHubProcess(t, large, { args: ['--no-watch', '--no-warm-up', '--log-level', 'debug'] });
    hub.process.kill('SIGHUP');
    await hub.logged(/^reloaded/);
    for (let count = 0; hub.process.exitCode === null && hub.process.signalCode === null; count++) {
      hub.process.kill(count === 10 ? 'SIGTERM' : 'SIGHUP');
      await setImmediate(); // signals that come at once are one
    }
    t.like(await hub.ended(), { status: 0, signal: null });
  },
);
