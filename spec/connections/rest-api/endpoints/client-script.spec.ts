// GET /hub/client.js: the client library as browsers get it.

import { cp, mkdir, readFile, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { createFolder } from '../../../support/folder.ts';
import { ask } from '../../../support/http.ts';
import { api, startTestHub } from '../../../support/hub.ts';
import { startHubProcess } from '../../../support/system/hub-process.ts';

const root = resolve(import.meta.dirname, '../../../..');

test('one module of less than 8 kB compressed, with conditional requests', async (t) => {
  const hub = await startTestHub(t, { connections: { api } });
  const { status, headers, text, body } = await ask(t, hub.port, 'GET /hub/client.js');
  t.is(status, 200);
  t.is(headers['content-type'], 'text/javascript; charset=utf-8');
  t.is(headers['cache-control'], 'no-cache');
  t.is(text, await readFile(join(root, 'dist/web/client.js'), 'utf8'));
  t.notRegex(text, /\bimport\s*[{*'"(]/);
  t.true(gzipSync(body).length < 8000, `${gzipSync(body).length}`);
  const { connect } = await import(`data:text/javascript,${encodeURIComponent(text)}`);
  t.is(typeof connect, 'function');
  const again = await ask(t, hub.port, 'GET /hub/client.js', { headers: { 'if-none-match': headers.etag! } });
  t.is(again.status, 304);
  const head = await ask(t, hub.port, 'HEAD /hub/client.js');
  t.is(head.headers['content-length'], String(body.length));
  t.is((await ask(t, hub.port, 'POST /hub/client.js')).status, 405);
});

test('it takes the same credentials as everything else', async (t) => {
  const hub = await startTestHub(t, { connections: { api: { ...api, token: 'c2VjcmV0' } } });
  t.is((await ask(t, hub.port, 'GET /hub/client.js')).status, 401);
  const headers = { authorization: 'Bearer c2VjcmV0' };
  t.is((await ask(t, hub.port, 'GET /hub/client.js', { headers })).status, 200);
});

test('a hub without the built file explains how to build it', async (t) => {
  const folder = await createFolder(t);
  await mkdir(join(folder, 'hub'));
  for (const name of ['lib', 'package.json'])
    await cp(join(root, name), join(folder, 'hub', name), { recursive: true });
  await symlink(join(root, 'node_modules'), join(folder, 'hub/node_modules'));
  const program = join(folder, 'hub/lib/main.ts');
  const hub = await startHubProcess(t, { connections: { api } }, { program });
  const { status, text } = await ask(t, hub.port, 'GET /hub/client.js');
  t.is(status, 404);
  t.is(text, '/hub/client.js: this file has not been built; run "npm install" in the folder of the hub\n');
});
