// The page of docs/client.md in Chromium, served by a hub of its own process: live values, visibly stale while the hub
// hangs or is gone, and live again by itself when it is back.

import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import test from 'ava';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser/browser.ts';
import { deadlineMs } from '../support/deadline.ts';
import { createFolder } from '../support/folder.ts';
import { api, startTestHub } from '../support/hub.ts';
import { startHubProcess } from '../support/system/hub-process.ts';
import { freePort } from '../support/system/port.ts';

const readme = await readFile(resolve(import.meta.dirname, '../../docs/client.md'), 'utf8');
const [, page] = /```html\n([\s\S]*?)```/.exec(readme)!;
const deadline = { timeout: deadlineMs };

let browser: Browser;
test.before(async () => {
  // A page that the spec itself plays is of no network, and would not be let to one of this machine.
  browser = await launchBrowser('--disable-features=LocalNetworkAccessChecks');
});
test.after.always(() => browser?.close());

test('the page shows values live, visibly becomes stale with the hub, and recovers', async (t) => {
  const folder = await createFolder(t, { 'www/index.html': page });
  const port = await freePort();
  const flow = {
    connections: {
      api: { type: 'rest-api', port, bindIp: '127.0.0.1', documentRoot: join(folder, 'www') },
      desk: { type: 'dummy', parameters: ['door-lamp,B,false'] },
    },
  };
  const tab = await browser.newPage();
  const faults: string[] = [];
  tab.on('pageerror', (error) => faults.push(String(error)));
  const shows = (lamp: string) => tab.waitForFunction(`lamp.textContent === "${lamp}"`, undefined, deadline);
  const isShown = (opacity: number) =>
    tab.waitForFunction(`getComputedStyle(document.body).opacity === "${opacity}"`, undefined, deadline);

  const first = await startHubProcess(t, flow);
  await tab.goto(first.url);
  await shows('off');
  await isShown(1);
  await tab.click('#switch');
  await shows('on');
  t.is(await first.get('/parameters/desk/door-lamp'), 'true');
  await first.get('/update?parameter=desk/door-lamp&value=false');
  await shows('off');

  process.kill(first.pid, 'SIGSTOP'); // it hangs: the link is as it was, and silent
  await isShown(0.3);
  process.kill(first.pid, 'SIGCONT');
  await isShown(1);

  await tab.evaluate(`
    (async () => {
      const { connect } = await import('/hub/client.js');
      globalThis.patient = connect(undefined, { firstPauseMs: 600_000, longestPauseMs: 600_000 });
      await patient.whenLive();
    })()`);
  process.kill(first.pid, 'SIGKILL');
  await first.ended();
  await isShown(0.3);
  const second = await startHubProcess(t, flow);
  t.is(new URL(second.url).port, String(port));
  await isShown(1);
  await second.get('/update?parameter=desk/door-lamp&value=true');
  await shows('on');
  t.is(await tab.evaluate('patient.state.name'), 'waiting');
  await tab.evaluate('dispatchEvent(new Event("online"))');
  await tab.waitForFunction('!patient.stale', undefined, deadline);
  t.deepEqual(faults, []);
  await tab.close();
});

/** Connects in a page with these options; resolves with the value of the lamp, or with why the link is closed. */
const connectIn = (tab: Page, options: object) =>
  tab.evaluate(`
    (async () => {
      const { connect } = await import('/hub/client.js');
      const hub = connect(undefined, ${JSON.stringify(options)});
      const value = new Promise((resolve) => hub.param('desk/lamp').subscribe(resolve));
      return await hub.whenLive().then(() => value, ({ message }) => message);
    })()`);
const desk = { type: 'dummy', parameters: ['lamp,B,true'] };

test('with a password, the sign-in of the browser also applies to the socket', async (t) => {
  const folder = await createFolder(t, { 'www/index.html': '<title>Panel</title>' });
  const credentials = { username: 'me', password: 'secret' };
  const hub = await startTestHub(t, {
    connections: { api: { ...api, documentRoot: join(folder, 'www'), ...credentials }, desk },
  });
  const context = await browser.newContext({ httpCredentials: credentials });
  const tab = await context.newPage();
  await tab.goto(`http://127.0.0.1:${hub.port}/`);
  t.is(await connectIn(tab, {}), true);
  await context.close();
});

test('a page passes its own credentials; wrong ones close its link permanently', async (t) => {
  const hub = await startTestHub(t, { connections: { api: { ...api, username: 'me', token: 'c2VjcmV0' }, desk } });
  const tab = await browser.newPage();
  await tab.route('**/panel', (route) => route.fulfill({ contentType: 'text/html', body: '<title>Panel</title>' }));
  await tab.route('**/hub/client.js', (route) => route.fulfill({ path: 'dist/web/client.js' }));
  await tab.goto(`http://127.0.0.1:${hub.port}/panel`);
  t.is(await connectIn(tab, { token: 'c2VjcmV0' }), true);
  t.is(await connectIn(tab, { username: 'me' }), true);
  for (const wrong of [{ token: 'b3RoZXI=' }, { username: 'you' }])
    t.is(await connectIn(tab, wrong), 'the connection to the hub is closed: the hub refused these credentials');
  await tab.close();
});
