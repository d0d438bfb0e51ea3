// The views of the log and of the clients against a real hub.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { firstValueFrom, interval } from 'rxjs';
import { filter, timeout } from 'rxjs/operators';
import { goTo, openConsole, waitUntil } from '../support/browser/console.ts';
import { browser } from '../support/browser/own-browser.ts';
import { deadlineMs, eventually } from '../support/deadline.ts';
import { createFolder } from '../support/folder.ts';
import { api, type HubUnderTest, startTestHub, writer } from '../support/hub.ts';
import { allTests, shared } from '../support/shared.ts';
import { openRawClient } from '../support/sockets/socket.ts';
import { readKeptLog } from '../support/store/audit.ts';
import { startHubProcess } from '../support/system/hub-process.ts';
import { freePort } from '../support/system/port.ts';

const connections = {
  api: { ...api, port: 0 },
  desk: { type: 'dummy', parameters: ['lamp,B,false', 'text'] },
  onair: { type: 'xml-file-output', filename: 'onair.xml', template: '<status></lamp>' },
};

/** The hub that runs now, and a page that outlives it. */
let hub: HubUnderTest;
const open = shared(async (t) => {
  connections.api.port = await freePort();
  hub = await startTestHub(t, { connections });
  return openConsole(t, browser, hub.port);
});

test.serial('a restart of the hub is shown, and its new log follows the previous one', async (t) => {
  const page = await open();
  await goTo(page, '#/log');
  const runs = page.locator('.entry', { hasText: 'patchbay' });
  await runs.first().waitFor();
  t.is(await page.getByText('The hub was restarted.').count(), 0);
  await hub.stop();
  hub = await startTestHub(allTests, { connections }); // which has logged as many entries
  await page.getByText('The hub was restarted.').waitFor();
  await runs.nth(1).waitFor();
  const texts = await page.locator('.log > *').allTextContents();
  const cut = texts.indexOf('The hub was restarted.');
  const isStart = (text: string) => text.includes('started with 3 connections');
  t.true(texts.slice(0, cut).some(isStart) && texts.slice(cut).some(isStart), texts.join('\n'));
  await page.getByLabel('From').selectOption('error');
  await page.getByText('The hub was restarted.').waitFor();
});

test.serial('a paused log filters its lines by level and text', async (t) => {
  const page = await open();
  await goTo(page, '#/log');
  const entries = page.locator('.entry');
  await entries.getByText('connection "desk" is running').waitFor();
  const all = await entries.count();
  await page.getByRole('button', { name: 'Pause' }).click();
  for (const [level, isInfoShown] of [
    ['error', false],
    ['debug', true],
    ['warn', false],
    ['info', true],
  ] as const) {
    await page.getByLabel('From').selectOption(level);
    await entries.getByText('connection "desk" is running').waitFor({ state: isInfoShown ? 'visible' : 'detached' });
    await entries.getByText('unexpected close tag').waitFor();
  }
  t.is(await entries.count(), all);
  await page.getByRole('searchbox').fill('template');
  await entries.getByText('connection "desk" is running').waitFor({ state: 'detached' });
  t.is(await entries.count(), 1);
});

test.serial('the log is filtered by source and day, and exported as it is shown', async (t) => {
  const page = await open();
  await goTo(page, '#/log');
  const entries = page.locator('.entry');
  await entries.getByText('connection "desk" is running').waitFor();
  await page.getByLabel('Source').selectOption('onair');
  await entries.getByText('connection "desk" is running').waitFor({ state: 'detached' });
  await entries.getByText('unexpected close tag').first().waitFor();
  t.true(page.url().includes('source=onair'));
  const loaded = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export' }).click();
  const file = await loaded;
  t.regex(file.suggestedFilename(), /^patchbay-.*\.log$/);
  const text = await readFile(await file.path(), 'utf8');
  t.regex(text, /^\d{4}-\d\d-\d\dT\S+ \w+ +onair: .*unexpected close tag/m);
  t.notRegex(text, /connection "desk" is running/);
  await page.getByLabel('Source').selectOption('');
  await page.getByLabel('Day').selectOption({ index: 1 });
  await entries.getByText('connection "desk" is running').waitFor();
});

test.serial('the log continues live, by level and text, and pauses on request', async (t) => {
  const page = await open();
  await goTo(page, '#/log?repeats=all');
  const entries = page.locator('.entry');
  await entries.getByText('unexpected close tag').waitFor();
  await entries.getByText('connection "desk" is running').waitFor();

  await page.getByLabel('From').selectOption('error');
  await entries.getByText('connection "desk" is running').waitFor({ state: 'detached' });
  await entries.getByText('unexpected close tag').waitFor();
  t.true(page.url().endsWith('level=error'));
  await page.getByLabel('From').selectOption('info');

  const restart = () =>
    page.evaluate(`fetch('/hub/connections/desk', {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"action":"restart"}',
    }).then((response) => response.status)`);
  await page.getByRole('searchbox').fill('desk');
  await entries.getByText('unexpected close tag').waitFor({ state: 'detached' });
  const before = await entries.count();
  t.is(await restart(), 200);
  await waitUntil(page, `document.querySelectorAll('.entry').length > ${before}`);

  await page.getByRole('button', { name: 'Pause' }).click();
  const held = await entries.count();
  t.is(await restart(), 200);
  await page.getByRole('button', { name: 'Resume' }).click();
  await waitUntil(page, `document.querySelectorAll('.entry').length > ${held}`);
});

test.serial('clients have names that people know; another one than this page is disconnected', async (t) => {
  const page = await open();
  await goTo(page, '#/clients');
  const own = page.locator('[data-client]', { hasText: 'this page' });
  await own.getByText('console, localhost, patchbay.v1').waitFor();
  await own.getByText('Chrome on Linux', { exact: true }).waitFor();
  t.is(await own.getByRole('button', { name: /^Disconnect/ }).count(), 0);
  await openRawClient(t, hub.port, '?name=door-tablet');
  await page.getByRole('button', { name: 'Disconnect door-tablet' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
  await page.locator('[data-client]', { hasText: 'door-tablet' }).waitFor({ state: 'detached' });
  await page.getByText('1 connected').waitFor();
});

test.serial('a client that does not read is listed first, with its backlog', async (t) => {
  const page = await open();
  await goTo(page, '#/clients');
  await page.getByText('1 connected').waitFor(); // the console itself
  const slow = await openRawClient(t, hub.port, '?filter=%5Edesk%2Ftext');
  slow.pause();
  await page.getByText('2 connected').waitFor();
  t.is(await page.locator('tbody tr').first().locator('.state').textContent(), ' live');

  const flood = interval(1).subscribe((count) => hub.write('desk/text', `${count} ${'x'.repeat(60_000)}`, writer));
  t.teardown(() => flood.unsubscribe());
  const first = page.locator('tbody tr').first();
  await first.getByText('stalled').waitFor();
  await page.getByText('2 connected, 1 slow').waitFor();
  await first.getByText('plain').waitFor();
  await first.getByText('1 filter').click();
  await first.getByText('/^desk/text/').waitFor();
  const cells = await first.locator('td').allTextContents();
  t.regex(cells[2]!, /^\d+ s$/);
  t.regex(cells[3]!, /^[\d.]+ [kM]B$/);
  flood.unsubscribe();
  slow.resume();
  await first.getByText('stalled').waitFor({ state: 'detached' });
  await firstValueFrom(
    interval(20).pipe(
      filter(() => slow.receivedBytes > 60_000),
      timeout(deadlineMs),
    ),
  );
});

test.serial('a hub with a store logs its own restart; the console hides no line and shows none twice', async (t) => {
  const page = await open();
  t.teardown(() => page.context().close()); // other files of specs go on in this process
  await hub.stop();
  const folder = await createFolder(t);
  const store = { type: 'store', folder: join(folder, 'data') };
  const flow = { connections: { ...connections, store } };
  const first = await startHubProcess(t, flow);
  await page.goto(`${first.url}hub/#/log`);
  await page.reload();
  const runs = page.locator('.entry', { hasText: 'patchbay' });
  await runs.first().waitFor();
  await eventually(() => readKeptLog({ folder }).some((message) => message.startsWith('patchbay ')));
  first.process.kill('SIGKILL');
  await first.ended();
  await startTestHub(t, flow);
  await page.locator('.restart', { hasText: 'the hub was restarted: it had not ended cleanly' }).waitFor();
  await runs.nth(1).waitFor();
  t.is(await page.getByText('The hub was restarted.').count(), 0);
  const shown = await page.locator('.log .message').allTextContents();
  await page.reload(); // now all of it comes from the hub
  await runs.nth(1).waitFor();
  t.is(await page.locator('.restart').count(), 1);
  const reported = await page.locator('.log .message').allTextContents();
  t.deepEqual(reported, shown);
});
