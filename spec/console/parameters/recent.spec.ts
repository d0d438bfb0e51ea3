// The parameters that changed last: by whom, to which value, and in which order.

import test from 'ava';
import { expectAccessible } from '../../support/browser/accessible.ts';
import { openConsole, phone, waitUntil } from '../../support/browser/console.ts';
import { browser } from '../../support/browser/own-browser.ts';
import { api, startTestHub } from '../../support/hub.ts';

const by = (name: string) => ({ kind: 'client', name }) as const;

test('recent changes are filtered by time, author, value and text, and sorted', async (t) => {
  const hub = await startTestHub(t, {
    connections: { api, desk: { type: 'dummy', parameters: ['a,I,0', 'b10,I,0', 'b9,I,0', 'title,S,x'] } },
  });
  hub.write('desk/b10', 7, by('anna'));
  hub.write('desk/a', 30, by('bert'));
  hub.write('desk/b9', 200, by('anna'));
  hub.write('desk/title', 'News at 7', by('bert'));
  const page = await openConsole(t, browser, hub.port, '#/parameters?as=recent');
  const shown = () =>
    page
      .locator('[data-recent]')
      .evaluateAll((all: { dataset: { recent?: string } }[]) => all.map((one) => one.dataset.recent));
  const expectShown = async (...wanted: string[]) => {
    await waitUntil(page, async () => `${await shown()}` === `${wanted.map((id) => `desk/${id}`)}`);
    t.pass();
  };
  page.setDefaultTimeout(20_000);
  await page.locator('[data-recent="desk/a"]').waitFor();
  await page.getByLabel('Sort by').selectOption('name');
  await expectShown('a', 'b9', 'b10', 'title');
  await page.getByLabel('Author').selectOption('anna');
  await expectShown('b9', 'b10');
  await page.getByLabel('Sort by').selectOption('value');
  await expectShown('b10', 'b9');
  await page.getByLabel('Author').selectOption('anyone');
  await expectShown('b10', 'a', 'b9', 'title');
  await page.getByRole('searchbox', { name: 'Value' }).fill('7');
  await expectShown('b10', 'title');
  const head = page.getByRole('columnheader', { name: 'Value' });
  t.is(await head.getAttribute('aria-sort'), 'ascending');
  await head.getByRole('button').click();
  await expectShown('title', 'b10');
  t.is(await head.getAttribute('aria-sort'), 'descending');
  await expectAccessible(t, page);
  await page.setViewportSize(phone);
  t.false(await page.evaluate('document.documentElement.scrollWidth > innerWidth'));
  await page.reload();
  await expectShown('title', 'b10');
});

test('the titles of the columns sort the list, by keys as well, and the URL holds the order', async (t) => {
  const hub = await startTestHub(t, {
    connections: { api, desk: { type: 'dummy', parameters: ['a,S,x', 'b10,I,0', 'b9,I,0', 'c,B,true'] } },
  });
  const page = await openConsole(t, browser, hub.port, '#/parameters?search=desk');
  const expectRows = (...wanted: string[]) =>
    waitUntil(
      page,
      `[...document.querySelectorAll('[role=row][data-address]')].map((row) => row.dataset.address).join() === '${wanted.map((id) => `desk/${id}`)}'`,
    );
  await expectRows('a', 'b9', 'b10', 'c');
  const sortBy = (name: string) => page.getByRole('columnheader', { name }).getByRole('button');
  await sortBy('Type').click();
  await expectRows('c', 'b9', 'b10', 'a');
  await sortBy('Type').press('Enter');
  await expectRows('a', 'b9', 'b10', 'c');
  t.true(page.url().includes('sort=-type'));
  await page.reload();
  await expectRows('a', 'b9', 'b10', 'c');
  t.is(await page.getByRole('columnheader', { name: 'Type' }).getAttribute('aria-sort'), 'descending');
  await sortBy('Address').click();
  await sortBy('Address').click();
  await expectRows('c', 'b10', 'b9', 'a');
  await expectAccessible(t, page);
});
