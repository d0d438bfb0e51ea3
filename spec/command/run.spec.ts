// `patchbay run` as a process: saves and SIGHUP reload, `--no-watch` and `--safe`.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import test, { type ExecutionContext } from 'ava';
import { filter, firstValueFrom, ReplaySubject, timeout } from 'rxjs';
import { createFolder } from '../support/folder.ts';

const main = resolve(import.meta.dirname, '../../lib/main.ts');
const flow = (...parameters: string[]) => ({
  connections: { desk: { type: 'dummy', parameters: ['a', ...parameters] } },
  rules: [{ from: 'desk/a', to: 'desk/a' }],
});

async function run(t: ExecutionContext, ...options: string[]) {
  const folder = await createFolder(t, { 'a.json5': flow() });
  const hub = spawn(process.execPath, [main, 'run', folder, '--log-format', 'json', ...options]);
  t.teardown(() => hub.kill('SIGKILL'));
  const exited = once(hub, 'exit');
  const lines$ = new ReplaySubject<string>();
  createInterface(hub.stdout).on('line', (line) => lines$.next((JSON.parse(line) as { msg: string }).msg));
  const line = (pattern: RegExp) =>
    firstValueFrom(
      lines$.pipe(
        filter((message) => pattern.test(message)),
        timeout(30_000),
      ),
    );
  return {
    hub,
    line,
    save: (content: unknown) => writeFile(join(folder, 'a.json5'), JSON.stringify(content)),
    async stop() {
      hub.kill('SIGTERM');
      t.deepEqual(await exited, [0, null]);
    },
  };
}

test('a save reloads; a broken one says what is wrong', async (t) => {
  const { line, save, stop } = await run(t);
  await line(/runs 1 connections, 1 rules/);
  await save(flow('b'));
  t.is(await line(/^reloaded/), 'reloaded: connections: 1 changed');
  await save(flow('b,X'));
  await line(/expected a value type/);
  await line(/^not reloaded/);
  await stop();
});

test('with --no-watch only SIGHUP reloads; with --safe no rule runs', async (t) => {
  const { hub, line, save, stop } = await run(t, '--no-watch', '--safe');
  await line(/runs 1 connections, 0 rules/);
  await line(/safe: none of the 1 rules runs/);
  await save(flow('b'));
  await new Promise((resolve) => setTimeout(resolve, 300)); // by now a watched save would have had its effect
  await save(flow('b', 'c'));
  hub.kill('SIGHUP');
  t.is(await line(/^reloaded/), 'reloaded: connections: 1 changed');
  await stop();
});
