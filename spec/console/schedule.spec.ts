// The week grid against a real hub: what is open and fires is drawn, a dragged bar and a changed form become the text of the flow file.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import type { Page } from 'playwright-core';
import { openConsole, phone, waitUntil } from '../support/browser/console.ts';
import { browser } from '../support/browser/own-browser.ts';
import { eventually } from '../support/deadline.ts';
import { api, startHubFrom } from '../support/hub.ts';
import { shared } from '../support/shared.ts';

const flow = `{
  connections: {
    api: ${JSON.stringify({ ...api, dashboards: 'dashboards' })},
    opening: {
      type: 'schedule',
      zone: 'UTC',
      entries: {
        // The office.
        office: { days: 'mon-fri', from: '06:00', to: '20:00' }, // until late
        night: { days: 'sun', from: '22:00', to: '04:00' },
        always: {},
        gong: { at: ['*:00'] },
      },
    },
  },
}
`;
const panel = {
  columns: 2,
  widgets: [
    { type: 'schedule', address: 'opening/always', size: [2, 1] },
    { type: 'schedule', address: 'opening/gong', next: 2, size: [2, 1] },
  ],
};

const start = shared(async (t) => {
  const hub = await startHubFrom(t, { 'flow.json5': flow, 'dashboards/door.json5': panel });
  const page = await openConsole(t, browser, hub.port, '#/schedule');
  return { hub, page, text: () => readFile(join(hub.folder, 'flow.json5'), 'utf8') };
});

const bars = (page: Page) => page.locator('.lane.chosen .time-bar').evaluateAll((all) => all.map(({ title }) => title));
const takeOver = async (page: Page) => {
  await page.getByRole('button', { name: 'Apply', exact: true }).click();
  await page.getByText(/^Saved/).waitFor();
};

test.serial('a week shows when entries are open and fire, with what comes next', async (t) => {
  const { page } = await start();
  await page.locator('[data-entry="opening/always"]').getByText('open', { exact: true }).waitFor();
  await page
    .locator('[data-entry="opening/gong"]')
    .getByText(/^fires \d\d:00 (today|tomorrow)$/)
    .waitFor();
  t.is(await page.locator('.fire-mark').count(), 7 * 24);
  t.is(await page.locator('.now-line').count(), 1);
  await page.locator('[data-entry="opening/office"]').click();
  await page.locator('.next-times li').nth(4).waitFor();
  t.deepEqual(await bars(page), new Array(5).fill('office: 06:00 to 20:00'));
  await page.getByRole('button', { name: 'Next week' }).click();
  await waitUntil(page, async () => (await page.locator('.now-line').count()) === 0);
  await page.getByRole('button', { name: 'This week' }).click();
  await page.locator('.now-line').waitFor();
});

test.serial('a bar that is dragged at its end is saved as text, with its comments', async (t) => {
  const { page, text } = await start();
  await page.getByLabel('Opens').waitFor();
  const bar = page.locator('.lane.chosen .time-bar').first();
  const box = (await bar.boundingBox())!;
  const track = (await page.locator('.day-track').first().boundingBox())!;
  await page.mouse.move(box.x + box.width - 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 2 + track.width / 12, box.y + box.height / 2, { steps: 6 });
  await page.mouse.up();
  t.is(await page.getByLabel('Closes').inputValue(), '22:00');
  t.deepEqual(await bars(page), new Array(5).fill('office: 06:00 to 22:00'));
  await page.getByRole('button', { name: 'Sat' }).click();
  t.is((await bars(page)).length, 6);
  await takeOver(page);
  t.is(
    await text(),
    flow.replace("days: 'mon-fri', from: '06:00', to: '20:00'", "days: 'mon-sat', from: '06:00', to: '22:00'"),
  );
  await waitUntil(page, async () => (await page.locator('.lane.chosen .time-bar').count()) === 6);
});

test.serial('an entry is added, excepted and removed by keys alone', async (t) => {
  const { hub, page, text } = await start();
  const before = await text();
  await page.getByRole('link', { name: '+ Entry' }).click();
  await page.getByLabel('Name').pressSequentially('lunch');
  await page.getByLabel('Opens').fill('12:00');
  await page.getByLabel('Closes').fill('13:00');
  await page.getByLabel('Except').fill('12-24..12-26, 2027-05-01');
  await page.getByLabel('Except').press('Enter');
  await page.getByRole('button', { name: 'Apply', exact: true }).click();
  await page.getByRole('heading', { level: 2, name: 'lunch' }).waitFor();
  t.regex(await text(), /lunch: \{ from: '12:00', to: '13:00', except: \['12-24\.\.12-26', '2027-05-01'\] \}/);
  await eventually(() => hub.find('opening/lunch') !== undefined, 'the new entry to run');
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('button', { name: 'Apply', exact: true }).click();
  await page.locator('.item').waitFor({ state: 'detached' });
  t.is(await text(), before);
});

test.serial('a wrong time is an error at once, and nothing is saved', async (t) => {
  const { page, text } = await start();
  const before = await text();
  await page.locator('[data-entry="opening/night"]').click();
  await page.getByLabel('Opens').fill('25:00');
  await page.getByLabel('Opens').press('Enter');
  await page.locator('.findings').getByText('expected a time such as "06:00"').first().waitFor();
  t.true(await page.getByRole('button', { name: 'Apply', exact: true }).isDisabled());
  await page.getByRole('button', { name: 'Discard' }).click();
  t.is(await page.getByLabel('Opens').inputValue(), '22:00');
  t.is(await text(), before);
});

test.serial('a widget says until when something is open, on a phone as well', async (t) => {
  const { hub } = await start();
  const page = await openConsole(t, browser, hub.port, '#/dashboards?name=door', { viewport: phone });
  const widgets = page.locator('.schedule-widget');
  await widgets.first().getByText('open', { exact: true }).waitFor();
  await widgets
    .nth(1)
    .getByText(/^fires/)
    .first()
    .waitFor();
  t.is(await widgets.nth(1).locator('li').count(), 2);
});
