// The views of the audit and of the snapshots against a real hub with a store.

import test from 'ava';
import { expectAccessible } from '../support/browser/accessible.ts';
import { goTo, openConsole, waitUntil } from '../support/browser/console.ts';
import { browser } from '../support/browser/own-browser.ts';
import { ask } from '../support/http.ts';
import { api, startTestHub, writer } from '../support/hub.ts';
import { shared } from '../support/shared.ts';

const connections = {
  api,
  store: { type: 'store', folder: './data', snapshots: { studio: { include: ['desk/**'] } } },
  desk: { type: 'dummy', parameters: ['lamp,B,false', 'level,F,0', 'title,S,Morning', 'bell,T'] },
};

const open = shared(async (t) => {
  const hub = await startTestHub(t, { connections });
  return { hub, page: await openConsole(t, browser, hub.port) };
});

test.serial(
  'the audit shows actions and authors live, filters by text, address and kind, pages, and links to the history',
  async (t) => {
    const { hub, page } = await open();
    const set = (address: string, value: string) => ask(t, hub.port, `GET /update?parameter=${address}&value=${value}`);
    await set('desk/lamp', 'true');
    await goTo(page, '#/audit');
    const rows = page.locator('[data-entry]');
    await rows.filter({ hasText: 'desk/lamp' }).getByText('true').waitFor();
    await set('desk/bell', 'true');
    await rows.first().getByText('fire').waitFor();
    t.regex((await rows.first().allInnerTexts())[0]!, /api 127\.0\.0\.1\s+fire\s+desk\/bell/);

    for (let level = 1; level <= 120; level++) hub.write('desk/level', level, writer);
    await rows.first().getByText('120').waitFor();
    await page.getByLabel('Address').fill('desk/le*');
    await waitUntil(page, async () => (await rows.filter({ hasText: 'desk/bell' }).count()) === 0);
    await page.getByRole('button', { name: 'Show more' }).click();
    await waitUntil(page, async () => (await rows.count()) === 120);
    await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' });
    await page.getByLabel('Address').fill('');
    await page.getByLabel('Kind').selectOption('fire');
    await waitUntil(page, async () => (await rows.count()) === 1);
    await page.getByLabel('Kind').selectOption('');
    await page.getByRole('searchbox', { name: 'Search the audit' }).fill('lamp');
    await waitUntil(page, async () => (await rows.count()) === 1);
    await page.getByRole('textbox', { name: 'To' }).fill('2001-01-01 00:00');
    await page.keyboard.press('Enter');
    await page.getByText('No entry matches.').waitFor();
    await page.getByRole('textbox', { name: 'To' }).fill('');
    await page.keyboard.press('Enter');
    await expectAccessible(t, page);
    await rows.getByRole('link', { name: 'desk/lamp' }).click();
    await page.locator('.event', { hasText: 'api 127.0.0.1' }).waitFor();
  },
);

test.serial('a snapshot is saved, compared value by value, recalled after a confirmation, and deleted', async (t) => {
  const { hub, page } = await open();
  const set = (address: string, value: string) => ask(t, hub.port, `GET /update?parameter=${address}&value=${value}`);
  await set('desk/lamp', 'false');
  await goTo(page, '#/snapshots');
  const name = page.getByLabel('Name of a new snapshot of studio');
  t.true(await page.getByRole('button', { name: 'Save' }).isDisabled(), 'without a name');
  await name.fill('evening');
  await name.press('Enter');
  await page.getByText('current values').waitFor();
  t.true(await page.getByRole('button', { name: 'Recall evening' }).isDisabled(), 'there is nothing to recall');

  await set('desk/lamp', 'true');
  await set('desk/title', 'News');
  await page.getByText('current values').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Compare evening' }).click();
  await page.getByText('2 of 3 differ.').waitFor();
  const rows = page.locator('.comparison tbody tr');
  t.deepEqual(await rows.allInnerTexts(), ['desk/lamp\tfalse\ttrue', 'desk/title\tMorning\tNews']);
  await page.getByLabel('show all').check();
  await waitUntil(page, async () => (await rows.count()) === 3);
  await expectAccessible(t, page);

  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Recall evening' }).click();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  t.is(hub.find('desk/title')!.value, 'News');
  await page.getByRole('button', { name: 'Recall evening' }).click();
  await dialog.getByRole('button', { name: 'Recall' }).click();
  await page.getByText('0 of 3 differ.').waitFor();
  t.is(hub.find('desk/title')!.value, 'Morning');

  await name.fill('bad/name');
  await name.press('Enter');
  await page.getByRole('alert').getByText('bad/name').waitFor();
  await name.fill('evening');
  await name.press('Enter');
  await dialog.getByText('Replace evening?').waitFor();
  await dialog.getByRole('button', { name: 'Replace' }).click();
  await page.getByRole('button', { name: 'Forget evening' }).click();
  await dialog.getByRole('button', { name: 'Forget' }).click();
  await page.getByText('No snapshots yet.').waitFor();
});
