// The package: `npm pack` gives compiled JavaScript that runs, and types that check, when installed elsewhere.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import test from 'ava';
import { dependent } from '../bench/dependent.ts';
import { createFolder } from './support/folder.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '..');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

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
  // As `npm pack` does after `prepare`, whose pages are there already. The types of lib are checked elsewhere.
  t.is(scripts.prepack, 'npm run build');
  await run('npm', ['run', 'build', '--', '--noCheck', '--singleThreaded'], { cwd: root });
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: root });
  const [archive] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
  await mkdir(join(folder, 'app/node_modules'));
  await run('tar', ['-xzf', join(folder, archive!), '-C', join(folder, 'app/node_modules')]);
  await run('mv', ['package', 'patchbay-hub'], { cwd: join(folder, 'app/node_modules') });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await run(
    join(root, 'node_modules/.bin/tsc'),
    ['--noEmit', '--singleThreaded', '--module', 'nodenext', '--target', 'es2024', '--skipLibCheck', 'main.ts'],
    {
      cwd: join(folder, 'app'),
    },
  );

  const packed = join(folder, 'app/node_modules/patchbay-hub/dist/main.js');
  const hub = spawn(...dependent(process.execPath, [packed, 'run', join(folder, 'flow.json5')]));
  const exited = once(hub, 'exit');
  t.teardown(() => hub.kill('SIGKILL'));
  let port: string | undefined;
  for await (const line of createInterface(hub.stdout)) {
    port = /listens on .*:(\d+)\//.exec(line)?.[1];
    if (port !== undefined) break;
  }
  t.is(await (await fetch(`http://127.0.0.1:${port}/parameters/desk/lamp`)).text(), 'true');
  t.is((await fetch(`http://127.0.0.1:${port}/hub/client.js`)).status, 200);
  const page = await (await fetch(`http://127.0.0.1:${port}/hub/`)).text();
  for (const [, path] of page.matchAll(/(?:src|href)="(\/hub\/console\/[^"]+)"/g))
    t.is((await fetch(`http://127.0.0.1:${port}${path}`)).status, 200, path);
  t.true(page.includes('/hub/console/'));
  hub.kill('SIGTERM');
  t.deepEqual(await exited, [0, null]);
});
