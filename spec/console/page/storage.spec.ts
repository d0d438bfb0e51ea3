// The console in a browser that denies it all storage, as the policies of some studios do ("block all cookies"): Chromium then throws
// a SecurityError wherever a page asks for a storage, and keeps no cookie.

import test from 'ava';
import { waitUntil } from '../../support/browser/console.ts';
import { browser } from '../../support/browser/own-browser.ts';
import { api, startTestHub } from '../../support/hub.ts';

const denyAll = `
  const deny = (name, owner = window) => Object.defineProperty(owner, name, {
    get() { throw new DOMException(\`Failed to read the '\${name}' property from 'Window': Access is denied for this document.\`, 'SecurityError'); },
  });
  for (const name of ['localStorage', 'sessionStorage', 'indexedDB', 'caches']) deny(name);
  Object.defineProperty(Document.prototype, 'cookie', { get: () => '', set() {} });
`;

test('the console works wholly: values, colours, keys and pins last as long as the page', async (t) => {
  const hub = await startTestHub(t, {
    connections: { api, desk: { type: 'dummy', parameters: ['level,F,0.5'] } },
  });
  const context = await browser.newContext();
  t.teardown(() => context.close());
  await context.addInitScript(denyAll);
  const faults: string[] = [];
  const page = await context.newPage();
  page.on('pageerror', (error) => faults.push(String(error.stack)));
  page.on('console', (message) => {
    const isAsked = new URL(message.location().url).pathname.startsWith('/hub/history/'); // the hub has no store
    if (message.type() === 'error' && !isAsked) faults.push(message.text());
  });
  await page.goto(`http://127.0.0.1:${hub.port}/hub/#/parameters?address=desk/level`);
  const isDenied = '(() => { try { return !localStorage; } catch { return true; } })()';
  t.true(await page.evaluate(isDenied), 'the browser denies storage');
  await page.getByText('0.5', { exact: true }).first().waitFor();
  await page.getByRole('button', { name: 'Pin' }).click();
  await page.getByRole('region', { name: 'Pinned' }).getByRole('button').waitFor();
  await page.getByRole('button', { name: /^Colours/ }).click();
  await waitUntil(page, 'document.documentElement.dataset.theme !== undefined');
  await page.keyboard.press('?');
  const areKeysOn = page.getByRole('dialog').getByRole('checkbox');
  await areKeysOn.uncheck();
  await page.keyboard.press('Escape');
  for (const view of ['connections', 'flows', 'why', 'log', 'clients', 'dashboards']) {
    await page.goto(`http://127.0.0.1:${hub.port}/hub/#/${view}`);
    await page.getByRole('heading').first().waitFor();
  }
  t.deepEqual(faults, []);
});
