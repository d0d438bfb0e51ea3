// What people see of other hubs, with a real NATS server: the view of the hubs, and what is stale, in the list, on the page of a
// parameter and on a dashboard, where a control refuses and says why.

import { hostname } from 'node:os';
import test from 'ava';
import { expectAccessible } from '../support/browser/accessible.ts';
import { desktop, goTo, openConsole, phone } from '../support/browser/console.ts';
import { cut } from '../support/browser/legible.ts';
import { browser } from '../support/browser/own-browser.ts';
import { eventually } from '../support/deadline.ts';
import { createFolder } from '../support/folder.ts';
import { api, startTestHub } from '../support/hub.ts';
import { startNats } from '../support/nats/servers.ts';
import { needs } from '../support/programs.ts';

needs('nats');

const refusal = 'desk/mic: hub "west" is not reachable';
const wall = {
  columns: 2,
  widgets: [
    { type: 'button', label: 'Mic', address: 'desk/mic', mode: 'toggle' },
    { type: 'lamp', label: 'Own', address: 'rack/light' },
    { type: 'fader', label: 'Level', address: 'desk/level' },
    { type: 'meter', label: 'Level', address: 'desk/level' },
  ],
};

test('hubs, their links and connections are shown; stale ones are marked in words, and their controls explain the refusal', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const house = (hub: string) => ({ type: 'nats', servers: nats.urls, domain: 'house', hub });
  const rack = { type: 'dummy', parameters: ['light,B,true', 'copy,F'] };
  const dashboards = await createFolder(t, { 'wall.json5': wall });
  const east = await startTestHub(t, {
    connections: { house: house('east'), api: { ...api, dashboards }, rack },
    rules: [{ name: 'copy', from: 'desk/level', to: 'rack/copy' }],
  });
  await startTestHub(t, {
    connections: { house: house('west'), desk: { type: 'dummy', parameters: ['mic,B,false', 'level,F,0.5'] } },
  });
  await eventually(() => east.find('desk/level')?.value === 0.5);

  const page = await openConsole(t, browser, east.port, '#/hubs');
  const expectLegible = async () => {
    await expectAccessible(t, page);
    await page.setViewportSize(phone);
    t.is(await page.evaluate('document.documentElement.scrollWidth'), phone.width, 'nothing is too wide');
    t.deepEqual(await page.evaluate(cut), []);
    await page.setViewportSize(desktop);
  };
  const server = nats.servers[0]!;

  const row = page.locator('[data-hub=west]');
  await row.getByText('fresh').waitFor();
  await row.getByRole('link', { name: 'desk' }).waitFor();
  await row.getByText(`on ${hostname()}`).waitFor();
  await server.kill('SIGKILL');
  await row.getByText('stale', { exact: false }).waitFor();
  await page.getByText('down').waitFor();
  await expectLegible();
  await server.start();
  await row.getByText('fresh').waitFor();

  await goTo(page, '#/dashboards?name=wall');
  const mic = page.getByRole('button', { name: 'Mic' });
  await mic.click();
  await eventually(() => east.find('desk/mic')?.value === true);
  await server.kill('SIGKILL');
  const marks = page.locator('.widget.old > .stale-mark');
  await marks.nth(2).waitFor();
  t.is(await marks.count(), 3, 'all but what is of this hub');
  t.regex((await marks.first().textContent())!, /^stale since \d\d:\d\d:\d\d$/);
  await mic.click();
  await page.getByRole('alert').getByText(refusal).waitFor();
  t.true(await page.getByRole('slider').isDisabled());
  await expectLegible();
  await server.start();
  await page.locator('.widget.old').first().waitFor({ state: 'detached' });
  await mic.click();
  await eventually(() => east.find('desk/mic')?.value === false);

  await goTo(page, '#/parameters?address=desk/mic');
  await page.getByRole('switch').getByText('false').waitFor();
  await server.kill('SIGKILL');
  await page.locator('[data-address="desk/mic"] .stale-mark').waitFor();
  await page.getByText('the hub west cannot be reached').waitFor();
  await page.getByRole('switch').click();
  await page.getByText(refusal).waitFor();
  t.is(await page.locator('[data-address="rack/light"] .stale-mark').count(), 0);
  await page.getByRole('button', { name: 'Pin' }).click();
  await page.locator('.pin .stale-mark').waitFor();
  await expectLegible();
  await goTo(page, '#/flows');
  await page.locator('.box.parameter', { hasText: 'level' }).locator('.stale-mark').waitFor();
  t.is(await page.locator('.stale-mark').count(), 1);
  await expectLegible();
  await goTo(page, '#/parameters?address=desk/mic');
  await page.locator('.pin .stale-mark').waitFor();
  await server.start();
  await page.locator('.stale-mark, .stale-note').first().waitFor({ state: 'detached' });
});
