// The program that lib/client/README.md shows runs, and prints what it should.

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { createFolder } from '../support/folder.ts';
import { api, startTestHub } from '../support/hub.ts';

const folder = resolve(import.meta.dirname, '../../lib/client');
const readme = await readFile(join(folder, 'README.md'), 'utf8');

test('the program', async (t) => {
  const hub = await startTestHub(t, {
    connections: {
      api: { ...api, token: 'c2VjcmV0' },
      desk: { type: 'dummy', parameters: ['lamp,B,false', 'level,F,0.5'] },
    },
  });
  const [, program] = /```js\n([\s\S]*?)```/.exec(readme)!;
  const place = await createFolder(t, {
    'package.json': { type: 'module' },
    'program.js': program!.replace("'patchbay-hub/client'", JSON.stringify(join(folder, 'index.ts'))),
  });
  const { stdout } = await promisify(execFile)(process.execPath, [join(place, 'program.js')], {
    env: { ...process.env, HUB_URL: `http://127.0.0.1:${hub.port}`, HUB_TOKEN: 'c2VjcmV0' },
    timeout: 30_000,
  });
  const lines = stdout.trimEnd().split('\n');
  for (const line of ['lamp false', 'desk/lamp false', 'desk/level 0.5', 'lamp true'])
    t.true(lines.includes(line), line);
  t.is(lines.filter((line) => line === 'desk/lampe: unknown parameter').length, 1);
  t.is(hub.find('desk/lamp')?.value, false);
});

test('the page is ten lines and what the table names is there', async (t) => {
  const [, page] = /```html\n([\s\S]*?)```/.exec(readme)!;
  t.true(page!.trimEnd().split('\n').length <= 10);
  const { connect } = await import('../../lib/client/index.ts');
  const client = connect('http://127.0.0.1:1');
  t.teardown(() => client.close());
  for (const [, name] of readme.matchAll(/\bhub\.(\w+\$?)/g)) t.true(name! in client, name);
});
