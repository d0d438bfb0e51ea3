// The package: `npm pack` gives compiled JavaScript that runs, and types that check, when installed elsewhere. No link of a
// README is broken: the file is there, and the heading that it names, in the repository and in the package.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { createInterface } from 'node:readline';
import { text as readText } from 'node:stream/consumers';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { eventually } from './support/deadline.ts';
import { createFolder } from './support/folder.ts';
import { packInto } from './support/repository/package.ts';
import { anchorsOf, linksOf, readmes, readReadme, root } from './support/repository/readme.ts';
import { shared } from './support/shared.ts';
import { dependent } from './support/system/dependent.ts';

const run = promisify(execFile);
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** The compiler, a Go program, needs none of its memory back before it ends. */
const env = { ...process.env, GOGC: 'off' };

const packed = shared(async (t) => {
  // As `npm pack` does after `prepare`, whose pages are there already. The types of lib are checked elsewhere.
  await run('npm', ['run', 'build', '--', '--noCheck', '--singleThreaded'], { cwd: root, env });
  return packInto(await createFolder(t));
});

test('the packed package runs a hub, and its types check', async (t) => {
  const folder = await createFolder(t, {
    'flow.json5': {
      connections: {
        api: { type: 'rest-api', port: 0, bindIp: '127.0.0.1' },
        desk: { type: 'dummy', parameters: ['lamp,B,true'] },
      },
    },
    'app/package.json': { type: 'module' },
    'app/main.ts':
      "import { startHub, type ConnectionStatus, type Hub } from 'patchbay-hub';\nexport const start: typeof startHub = startHub;\nexport type Mine = Hub;\n" +
      "import { connect, type Delivery, type Parameter } from 'patchbay-hub/client';\nimport { from } from 'rxjs';\n" +
      "const lamp: Parameter = connect('http://localhost').param('desk/lamp');\nfrom(lamp).subscribe();\n" +
      '// @ts-expect-error a type whose file is not in the package would take anything\n' +
      "export const delivery: Delivery = 'none';\n" +
      '// @ts-expect-error the same of what the hub tells\n' +
      "export const state: ConnectionStatus['state'] = 'none';\n",
  });
  t.is(scripts.prepack, 'npm run build');
  const { archive } = await packed();
  await mkdir(join(folder, 'app/node_modules'));
  await run('tar', ['-xzf', archive, '-C', join(folder, 'app/node_modules')]);
  await run('mv', ['package', 'patchbay-hub'], { cwd: join(folder, 'app/node_modules') });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await run(
    join(root, 'node_modules/.bin/tsc'),
    ['--noEmit', '--singleThreaded', '--module', 'nodenext', '--target', 'es2024', '--skipLibCheck', 'main.ts'],
    { cwd: join(folder, 'app'), env },
  );

  const main = join(folder, 'app/node_modules/patchbay-hub/dist/main.js');
  const { port, stop } = await startHub(t, main, join(folder, 'flow.json5'));
  t.is(await (await fetch(`http://127.0.0.1:${port}/parameters/desk/lamp`)).text(), 'true');
  t.is((await fetch(`http://127.0.0.1:${port}/hub/client.js`)).status, 200);
  const page = await (await fetch(`http://127.0.0.1:${port}/hub/`)).text();
  for (const [, path] of page.matchAll(/(?:src|href)="(\/hub\/console\/[^"]+)"/g))
    t.is((await fetch(`http://127.0.0.1:${port}${path}`)).status, 200, path);
  t.true(page.includes('/hub/console/'));
  await stop();

  // a recipe in TypeScript, in a folder far from the package
  const cwd = await createFolder(t);
  const patchbay = join(folder, 'app/node_modules/patchbay-hub/dist/patchbay.cjs');
  await run(process.execPath, [patchbay, 'init', '--recipe', 'buttons/enter-a-code', '--set', 'open=hall/door'], {
    cwd,
  });
  const { stdout } = await run(process.execPath, [patchbay, 'test'], { cwd });
  t.regex(stdout, /^2 tests passed$/m);
});

test('D-45: the compiled code of the package is kept for the next start, and no problem with it prevents the start', async (t) => {
  const kept = `${process.versions.node}-${process.arch}/run`;
  const folder = await createFolder(t, {
    'flow.ts':
      "import { defineFlow } from 'patchbay-hub';\nimport { map } from 'rxjs';\nexport default defineFlow({ connections: {\n" +
      "api: { type: 'rest-api', port: 0, bindIp: '127.0.0.1' }, store: { type: 'store', folder: 'data' },\n" +
      "desk: { type: 'dummy', parameters: ['lamp,B,true', 'level,I'] } },\n" +
      "rules: (on) => [{ name: 'level', from: on.flag('desk/lamp').pipe(map((lamp) => (lamp ? 7 : 0))), to: 'desk/level' }] });\n",
  });
  const { archive } = await packed();
  await mkdir(join(folder, 'node_modules'));
  await run('tar', ['-xzf', archive, '-C', join(folder, 'node_modules')]);
  await run('mv', ['package', 'patchbay-hub'], { cwd: join(folder, 'node_modules') });
  for (const name of ['rxjs', 'tslib', 'uws-legacy', 'uws-modern'])
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  const main = join(folder, 'node_modules/patchbay-hub/dist/patchbay.cjs');
  const cache = join(folder, 'cache');
  const runs = async (why: string, PATCHBAY_CACHE = cache) => {
    const { port, stop } = await startHub(t, main, join(folder, 'flow.ts'), {
      PATCHBAY_CACHE,
      HOME: join(folder, 'home'),
    });
    const ask = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text();
    await ask('/update?parameter=desk/lamp&value=false');
    await eventually(async () => (await ask('/parameters/desk/level')) === '0', why);
    return stop();
  };
  t.is(await runs('nothing is kept'), '');
  const file = join(cache, kept);
  const { mtimeMs } = statSync(file);
  const code = readFileSync(file);
  t.is(await runs('it is kept'), '');
  t.is(statSync(file).mtimeMs, mtimeMs, 'it is used, not written again');
  for (const [why, wrong] of [
    ['half of it', code.subarray(0, code.length / 2)],
    ['nothing of it', Buffer.of()],
    ['another one', Buffer.from(code).fill(0x55, code.length / 2)],
  ] as const) {
    writeFileSync(file, wrong);
    t.is(await runs(why), '', why);
    t.deepEqual(readFileSync(file).length > 1000, true, `${why}: it is kept anew`);
  }
  writeFileSync(file, code);
  chmodSync(file, 0o666);
  t.is(await runs('everybody may write it'), '');
  t.is(statSync(file).mode & 0o777, 0o644, 'it is not run, and kept anew');
  t.is(await runs('nothing can be kept there', '/dev/null/cache'), '');
});

/** Starts the hub of a package; `stop` resolves to what it has written to standard error. */
async function startHub(t: ExecutionContext, main: string, flow: string, env: NodeJS.ProcessEnv = {}) {
  const [program, args] = dependent(process.execPath, [main, 'run', flow]);
  const hub = spawn(program, args, { env: { ...process.env, ...env } });
  const exited = once(hub, 'exit');
  t.teardown(() => hub.kill('SIGKILL'));
  const errors = readText(hub.stderr);
  let port: string | undefined;
  for await (const line of createInterface(hub.stdout)) {
    port = /listening on .*:(\d+)\//.exec(line)?.[1];
    if (port !== undefined) break;
  }
  const stop = async () => {
    hub.stdout.resume();
    hub.kill('SIGTERM');
    const [status, signal] = await exited;
    t.true(status === 0 || signal === 'SIGTERM', 'by the signal where a thread is late, as on a busy machine');
    return errors;
  };
  return { port, stop };
}

for (const readme of readmes)
  test(`${readme}: each of its links leads to an existing place, in the package as well`, async (t) => {
    const { files } = await packed();
    t.true(files.has(readme), 'the package has it');
    const links = linksOf(readReadme(readme));
    for (const link of links) {
      if (/^https?:/.test(link)) continue;
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? readme : posix.join(posix.dirname(readme), path);
      t.true(existsSync(join(root, target)) && statSync(join(root, target)).isFile(), `${link}: no such file`);
      t.true(files.has(target), `${link}: not in the package`);
      if (anchor !== undefined) t.true(anchorsOf(readReadme(target)).has(anchor), `${link}: no such heading`);
    }
  });
