// The console is served as it was built: its page at /hub/, its files below /hub/console/, nothing without credentials.

import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { createRestApi } from '../../../../lib/connections/rest-api/rest-api.ts';
import { connectionTypes } from '../../../support/connection-types.ts';
import { createFolder } from '../../../support/folder.ts';
import { ask } from '../../../support/http.ts';
import { api, startTestHub } from '../../../support/hub.ts';

const built = {
  'web/index.html': '<!doctype html><title>Patchbay</title>',
  'web/assets/app.js': 'export {};',
  'web/.vite/manifest.json': '{}',
  'secret.txt': 'secret',
};

async function start(t: ExecutionContext, settings: object = {}, files: Record<string, unknown> = built) {
  const folder = await createFolder(t, files);
  const types = new Map(connectionTypes).set('rest-api', createRestApi(join(folder, 'web')));
  return startTestHub(t, { connections: { api: { ...api, ...settings } } }, { types });
}

test('/hub/ is the page of the console, and its files are below /hub/console/', async (t) => {
  const { port } = await start(t);
  const page = await ask(t, port, 'GET /hub/');
  t.deepEqual(
    [page.status, page.headers['content-type'], page.text],
    [200, 'text/html; charset=utf-8', built['web/index.html']],
  );
  const headers = { 'if-none-match': page.headers.etag ?? '' };
  t.is((await ask(t, port, 'GET /hub/', { headers })).status, 304);
  const head = await ask(t, port, 'HEAD /hub/');
  t.is(head.headers['content-length'], String(built['web/index.html'].length));
  const script = await ask(t, port, 'GET /hub/console/assets/app.js');
  t.deepEqual([script.status, script.headers['content-type']], [200, 'text/javascript; charset=utf-8']);
  t.is((await ask(t, port, 'GET /hub/console/')).text, built['web/index.html']);
  for (const path of [
    'assets/',
    'none.js',
    '.vite/manifest.json',
    '../secret.txt',
    '%2e%2e/secret.txt',
    '..%2fsecret.txt',
  ])
    t.is((await ask(t, port, `GET /hub/console/${path}`)).status, 404, path);
  t.is((await ask(t, port, 'POST /hub/', { body: '' })).status, 405);
});

test('if it is switched off, /hub/ is the contents as text, and the files are missing', async (t) => {
  const { port } = await start(t, { console: false });
  const { headers, text } = await ask(t, port, 'GET /hub/');
  t.is(headers['content-type'], 'text/plain; charset=utf-8');
  for (const path of ['connections', 'rules', 'files', 'log', 'clients', 'dashboards', 'openapi.json'])
    t.true(text.includes(`/hub/${path}`), path);
  for (const path of ['', 'assets/app.js']) t.is((await ask(t, port, `GET /hub/console/${path}`)).status, 404);
  t.is((await ask(t, port, 'GET /hub/connections')).status, 200);
});

test('if it was not built, /hub/ is the contents as text', async (t) => {
  const { port } = await start(t, {}, {});
  t.regex((await ask(t, port, 'GET /hub/')).text, /^patchbay /);
  t.is((await ask(t, port, 'GET /hub/console/assets/app.js')).status, 404);
});

test('nothing of it is readable without credentials', async (t) => {
  const { port } = await start(t, { username: 'ann', password: 'x' });
  for (const path of ['', 'console/', 'console/assets/app.js', 'console/none.js'])
    t.is((await ask(t, port, `GET /hub/${path}`)).status, 401, path);
  const headers = { authorization: `Basic ${Buffer.from('ann:x').toString('base64')}` };
  t.is((await ask(t, port, 'GET /hub/console/assets/app.js', { headers })).status, 200);
});
