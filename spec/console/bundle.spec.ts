// The built console: it is small and whole, people see it soon, and it is closed to whoever has no credentials.

import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { openConsole } from '../support/browser/console.ts';
import { browser } from '../support/browser/own-browser.ts';
import { ask } from '../support/http.ts';
import { api, startTestHub } from '../support/hub.ts';
import { bestOf, slowness } from '../support/system/machine.ts';

const web = resolve(import.meta.dirname, '../../dist/web');
const maxBytes = 220_000;
const maxFirstPaintMs = 1000;

const connections = { api, desk: { type: 'dummy', parameters: ['lamp,B,true'] } };
const assets = async () => (await readdir(join(web, 'assets'))).map((name) => `assets/${name}`);

test('all files of the console together are under 220 kB compressed', async (t) => {
  let bytes = 0;
  for (const name of ['index.html', ...(await assets())]) bytes += gzipSync(await readFile(join(web, name))).length;
  t.log(`${bytes} bytes`);
  t.true(bytes < maxBytes, `${bytes} bytes`);
});

test('something is visible within a second', async (t) => {
  const hub = await startTestHub(t, { connections });
  const page = await openConsole(t, browser, hub.port, '#/connections');
  await page.locator('[data-connection=desk]').waitFor();
  const paintMs = async () =>
    (await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")) as number;
  const best = await bestOf(maxFirstPaintMs, async () => {
    await page.reload();
    await page.locator('[data-connection=desk]').waitFor();
    return (await paintMs()) / slowness();
  });
  t.log(`first paint after ${Math.round(best)} ms`);
  t.true(best < maxFirstPaintMs, `${best} ms`);
});

test('with username and password nothing is readable without them; with them everything works, including the socket', async (t) => {
  const httpCredentials = { username: 'me', password: 'secret' };
  const hub = await startTestHub(t, { connections: { ...connections, api: { ...api, ...httpCredentials } } });
  const files = (await assets()).map((name) => `/hub/console/${name}`);
  const endpoints = [
    'connections',
    'parameters',
    'log',
    'clients',
    'rules',
    'files',
    'health',
    'dashboards',
    'client.js',
  ];
  for (const path of ['/hub/', '/hub', '/ws', ...files, ...endpoints.map((name) => `/hub/${name}`)])
    t.is((await ask(t, hub.port, `GET ${path}`)).status, 401, path);

  const page = await openConsole(t, browser, hub.port, '#/parameters?address=desk/lamp', { httpCredentials });
  const lamp = page.getByRole('switch');
  await lamp.getByText('true').waitFor();
  await lamp.click();
  await lamp.getByText('false').waitFor();
  t.is(hub.find('desk/lamp')?.value, false);
  await page.locator('[role=row][data-address="desk/lamp"]').getByText('false').waitFor();
});
