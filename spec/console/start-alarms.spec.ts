// The start page and the alarms against a real hub: what is wrong is seen, counted, acknowledged and shelved.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import type { Page } from 'playwright-core';
import { openConsole, phone, waitUntil } from '../support/browser/console.ts';
import { browser } from '../support/browser/own-browser.ts';
import { api, startHubFrom, startTestHub, writer } from '../support/hub.ts';
import { shared } from '../support/shared.ts';

const start = shared(async (t) => {
  const hub = await startTestHub(t, {
    connections: {
      api: { ...api, title: 'Studio 1' },
      desk: { type: 'dummy', parameters: ['silent,B,false', 'hot,B,false'] },
      onair: { type: 'xml-file-output', filename: 'onair.xml', template: '<status></lamp>' },
      alarm: {
        type: 'alarms',
        alarms: {
          silence: { when: 'desk/silent', priority: 1, text: 'Silence on air' },
          hot: { when: 'desk/hot', priority: 3, text: 'Rack 3 is hot' },
        },
      },
    },
    rules: [{ name: 'copy', from: 'desk/hot', to: 'desk/silent', enabled: false }],
  });
  return { hub, page: await openConsole(t, browser, hub.port) };
});

const troubles = (page: Page) => page.locator('[data-trouble]').allTextContents();
const icon = (page: Page) => page.evaluate<string>(`document.querySelector('link[rel=icon]').href`);
const isTitled = (page: Page, title: string) => waitUntil(page, `document.title === ${JSON.stringify(title)}`);

test.serial('the console starts with what is wrong, and counts it in navigation, title and icon', async (t) => {
  const { hub, page } = await start();
  await page.getByRole('heading', { level: 1, name: 'Start' }).waitFor();
  await page.locator('[data-trouble=onair]').getByText('unexpected close tag').waitFor();
  await isTitled(page, '(1) Start · Studio 1');
  t.is((await troubles(page)).length, 1);
  const alert = await icon(page);
  t.regex(alert, /icon-alert/);

  hub.write('desk/silent', true, writer);
  hub.control('desk', 'stop', writer);
  await page.locator('[data-trouble=desk]').getByText('stopped', { exact: true }).waitFor();
  await page.locator('[data-trouble="alarm/silence"]').getByText('unacknowledged').waitFor();
  await page.getByRole('link', { name: 'Alarms 1' }).waitFor();
  await page.getByRole('link', { name: 'Connections 2' }).waitFor();
  await isTitled(page, '(3) Start · Studio 1');
  await page.locator('[data-trouble="alarm/silence"]').getByRole('link', { name: 'Silence on air' }).click();
  await page.getByRole('heading', { level: 1, name: 'Alarms' }).waitFor();
  hub.control('desk', 'start', writer);
});

test.serial('an alarm is acknowledged and shelved by keys, and screen readers hear how many wait', async (t) => {
  const { hub, page } = await start();
  hub.write('desk/silent', true, writer);
  hub.write('desk/hot', true, writer);
  await page.evaluate("location.hash = '#/alarms'");
  const rows = page.locator('[data-alarm]');
  await rows.nth(1).waitFor();
  t.deepEqual(await rows.locator('strong').allTextContents(), ['Silence on air', 'Rack 3 is hot']);
  const status = page.locator('.for-readers');
  await status.getByText('2 unacknowledged alarms; most urgent: Silence on air').waitFor();

  await page.getByRole('button', { name: 'Acknowledge: Silence on air' }).focus();
  await page.keyboard.press('Enter');
  await waitUntil(page, () => hub.find('alarm/silence/state')?.value === 'acknowledged');
  await rows.first().getByText('Rack 3 is hot').waitFor();
  await status.getByText('1 unacknowledged alarm; most urgent: Rack 3 is hot').waitFor();
  const focused = () => page.evaluate<string>('document.activeElement.ariaLabel ?? document.activeElement.className');
  await waitUntil(page, async () => (await focused()) === 'Acknowledge: Rack 3 is hot');

  await page.getByRole('button', { name: 'Shelve for an hour: Rack 3 is hot' }).click();
  await waitUntil(page, () => hub.find('alarm/hot/shelved')?.value === true);
  const shelved = page.locator('[data-alarm="alarm/hot"]');
  await shelved.getByText(/until .*\d\d:\d\d/).waitFor();
  await status.getByText('No unacknowledged alarms').waitFor();
  t.is(hub.find('alarm/all/unacknowledged')?.value, 0);
  await page.getByRole('button', { name: 'Unshelve: Rack 3 is hot' }).click();
  await waitUntil(page, () => hub.find('alarm/hot/shelved')?.value === false);

  hub.write('desk/silent', false, writer);
  await page.locator('[data-alarm="alarm/silence"]').waitFor({ state: 'detached' });
  await page.getByLabel('show normal alarms').check();
  await page.locator('[data-alarm="alarm/silence"]').getByText('normal').waitFor();
  await page.getByRole('searchbox').fill('rack');
  await page.locator('[data-alarm="alarm/silence"]').waitFor({ state: 'detached' });
  t.is(await rows.count(), 1);
});

test.serial('a phone has five named places, and the other views behind "More"', async (t) => {
  const { page } = await start();
  await page.setViewportSize(phone);
  const links = page.locator('nav > a');
  await page.getByRole('button', { name: 'More' }).waitFor();
  t.deepEqual(
    (await links.allTextContents()).map((text) => text.replace(/ \d+$/, '')),
    ['Start', 'Alarms', 'Parameters', 'History', 'Dashboards'],
  );
  for (const link of await links.all())
    t.true((await link.locator('span').boundingBox())!.width > 20, 'its name is visible');
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('dialog').getByRole('link', { name: 'Log' }).click();
  await page.getByRole('heading', { level: 1, name: 'Log' }).waitFor();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  t.is(await page.getByRole('button', { name: 'More' }).getAttribute('aria-current'), 'page');
});

test.serial('an alarm is edited, added and removed in the flow file', async (t) => {
  const written = `{
  connections: {
    api: ${JSON.stringify(api)},
    desk: { type: 'dummy', parameters: ['silent,B,false', 'hot,B,false'] },
    alarm: {
      type: 'alarms',
      alarms: {
        silence: { when: 'desk/silent', priority: 1, text: 'Silence on air' }, // before noon
      },
    },
  },
}
`;
  const hub = await startHubFrom(t, { 'flow.json5': written });
  const text = () => readFile(join(hub.folder, 'flow.json5'), 'utf8');
  const page = await openConsole(t, browser, hub.port, '#/alarms?all=true');
  await page.getByRole('link', { name: 'Edit: Silence on air' }).click();
  await page.getByLabel('for at least').fill('10s');
  await page.getByLabel('Priority').selectOption('2');
  await page.getByRole('button', { name: 'Apply', exact: true }).click();
  await page.getByText(/^Saved/).waitFor();
  const edited = written.replace(
    "priority: 1, text: 'Silence on air'",
    "priority: 2, text: 'Silence on air', delay: '10s'",
  );
  t.is(await text(), edited);

  await page.getByRole('link', { name: '+ Alarm' }).click();
  await page.getByLabel('Name').fill('hot');
  await page.getByLabel('Raised when').fill('desk/hot');
  await page.getByLabel('Text').fill('Rack 3 is hot');
  await page.getByLabel('Text').press('Enter');
  await page.getByRole('button', { name: 'Apply', exact: true }).click();
  await page.locator('[data-alarm="alarm/hot"]').waitFor();
  await page.getByRole('heading', { level: 2, name: 'hot' }).waitFor();
  t.regex(await text(), /hot: \{ when: 'desk\/hot', text: 'Rack 3 is hot' \}/);
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('button', { name: 'Apply', exact: true }).click();
  await page.locator('.item').waitFor({ state: 'detached' });
  t.is(await text(), edited);
});

test.serial(
  'flow files that could not be loaded are a problem, with the first error, until they are loaded',
  async (t) => {
    const right = `{ connections: { api: ${JSON.stringify(api)}, desk: { type: 'dummy', parameters: ['a,B', 'b,B'] } },
    rules: [{ name: 'copy', from: 'desk/a', to: 'desk/b' }] }`;
    const hub = await startHubFrom(t, { 'flow.json5': right });
    const page = await openConsole(t, browser, hub.port);
    await page.getByText('No problems.').waitFor();
    await writeFile(join(hub.folder, 'flow.json5'), right.replace('desk/b', 'desk/bb').replace('desk/a', 'desk/aa'));
    await t.throwsAsync(hub.reload(writer));
    const trouble = page.locator('[data-trouble="flow files"]');
    await trouble
      .getByText(/previous configuration remains active\. .*rules\[0\].*unknown parameter .* and 1 more error$/)
      .waitFor();
    await trouble.getByRole('link', { name: 'flow files' }).click();
    await page.getByText('2 errors').waitFor();
    await writeFile(join(hub.folder, 'flow.json5'), right);
    await hub.reload(writer);
    await page.getByRole('link', { name: 'Start' }).click();
    await page.getByText('No problems.').waitFor();
    t.is((await troubles(page)).length, 0);
  },
);
