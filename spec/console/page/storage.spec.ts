// The console in a browser that denies it all storage, as the policies of some studios do ("block all cookies"), and in one that keeps
// what the console did not write.

import test from 'ava';
import { chromium } from '../../support/browser/chromium.ts';
import { openConsole, waitUntil } from '../../support/browser/console.ts';
import { browser } from '../../support/browser/own-browser.ts';
import { createFolder } from '../../support/folder.ts';
import { api, startTestHub } from '../../support/hub.ts';
import { chromiumPath, needs } from '../../support/programs.ts';

needs('chromium');

test('the console works without storage: values, colours, keys and pins last as long as the page', async (t) => {
  const blockAll = { profile: { default_content_setting_values: { cookies: 2 } } };
  const folder = await createFolder(t, { 'Default/Preferences': JSON.stringify(blockAll) });
  const hub = await startTestHub(t, {
    connections: { api, desk: { type: 'dummy', parameters: ['level,F,0.5'] } },
  });
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: chromiumPath(),
    args: ['--no-sandbox', '--disable-gpu'],
  });
  t.teardown(() => context.close());
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

test('of a saved list, only texts are used; anything but a list is ignored', async (t) => {
  const hub = await startTestHub(t, {
    connections: { api, desk: { type: 'dummy', parameters: ['level,F,0.5'] } },
  });
  const page = await openConsole(t, browser, hub.port, '#/parameters');
  const pins = page.getByRole('region', { name: 'Pinned' }).getByRole('button');
  for (const [kept, count] of [
    ['[7, "desk/level", null]', 1],
    ['{"desk/level":1}', 0],
    ['["desk/level"', 0],
    ['["desk/level"]', 1],
  ] as const) {
    await page.evaluate(`localStorage.setItem('patchbay-pins', ${JSON.stringify(kept)})`);
    await page.reload();
    await page.getByText('0.5', { exact: true }).first().waitFor();
    t.is(await pins.count(), count, kept);
  }
});
