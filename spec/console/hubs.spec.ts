// What people see of other hubs, with a real NATS server: the view of the hubs, and what is stale, in the list, on the page of a
// parameter and on a dashboard, where a control refuses and says why.

import { hostname } from 'node:os';
import test from 'ava';
import { expectAccessible } from '../support/browser/accessible.ts';
import { openConsole, phone } from '../support/browser/console.ts';
import { browser } from '../support/browser/own-browser.ts';
import { eventually } from '../support/deadline.ts';
import { createFolder } from '../support/folder.ts';
import { api, startTestHub } from '../support/hub.ts';
import { startNats } from '../support/nats/servers.ts';
import { needs } from '../support/programs.ts';

needs('nats');

const refusal = 'desk/mic: expected hub "west" to be there, nothing is heard of it';
const wall = {
  columns: 2,
  widgets: [
    { type: 'button', label: 'Mic', address: 'desk/mic', mode: 'toggle' },
    { type: 'lamp', label: 'Own', address: 'rack/light' },
    { type: 'fader', label: 'Level', address: 'desk/level' },
    { type: 'meter', label: 'Level', address: 'desk/level' },
  ],
};

test('hubs, their link and what they own are shown; what is stale is marked in words, and its controls say why they refuse', async (t) => {
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

  const hubs = await openConsole(t, browser, east.port, '#/hubs');
  const row = hubs.locator('[data-hub=west]');
  await row.getByText('fresh').waitFor();
  await row.getByRole('link', { name: 'desk' }).waitFor();
  await row.getByText(`on ${hostname()}`).waitFor();
  const panel = await openConsole(t, browser, east.port, '#/dashboards?name=wall');
  const mic = panel.getByRole('button', { name: 'Mic' });
  await mic.click();
  await eventually(() => east.find('desk/mic')?.value === true);

  await nats.servers[0]!.kill('SIGKILL');
  await row.getByText('stale', { exact: false }).waitFor();
  await hubs.getByText('down').waitFor();
  const marks = panel.locator('.widget.old > .stale-mark');
  await marks.nth(2).waitFor();
  t.is(await marks.count(), 3, 'all but what is of this hub');
  t.regex((await marks.first().textContent())!, /^stale since \d\d:\d\d:\d\d$/);
  await mic.click();
  await panel.getByRole('alert').getByText(refusal).waitFor();
  t.true(await panel.getByRole('slider').isDisabled());

  const list = await openConsole(t, browser, east.port, '#/parameters?address=desk/mic');
  await list.locator('[data-address="desk/mic"] .stale-mark').waitFor();
  await list.getByText('no news of it from hub west, which owns it').waitFor();
  await list.getByRole('switch').click();
  await list.getByText(refusal).waitFor();
  t.is(await list.locator('[data-address="rack/light"] .stale-mark').count(), 0);
  await list.getByRole('button', { name: 'Pin' }).click();
  await list.locator('.pin .stale-mark').waitFor();
  const flows = await openConsole(t, browser, east.port, '#/flows');
  await flows.locator('.box.parameter', { hasText: 'level' }).locator('.stale-mark').waitFor();
  t.is(await flows.locator('.stale-mark').count(), 1);
  for (const page of [hubs, panel, list, flows]) {
    await expectAccessible(t, page);
    await page.setViewportSize(phone);
    t.is(await page.evaluate('document.documentElement.scrollWidth'), phone.width, 'nothing is too wide');
  }

  await nats.servers[0]!.start();
  await row.getByText('fresh').waitFor();
  await panel.locator('.widget.old').first().waitFor({ state: 'detached' });
  await list.locator('.stale-mark, .stale-note').first().waitFor({ state: 'detached' });
  await mic.click();
  await eventually(() => east.find('desk/mic')?.value === false);
});
