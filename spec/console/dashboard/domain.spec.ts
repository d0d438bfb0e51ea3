// A dashboard over parameters of another hub of the domain, with a real NATS server: a momentary button whose owner is away.

import test from 'ava';
import { openConsole, waitUntil } from '../../support/browser/console.ts';
import { browser } from '../../support/browser/own-browser.ts';
import { noneStale, wall } from '../../support/browser/wall.ts';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { api, startTestHub } from '../../support/hub.ts';
import { startNats } from '../../support/nats/servers.ts';
import { needs } from '../../support/programs.ts';

needs('nats');

const talk = { type: 'button', label: 'Talk', address: 'desk/mic', mode: 'momentary' };

test('a button that is released while its owner is away goes off when the owner returns; a refused button is not lit', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const house = (hub: string) => ({ type: 'nats', servers: nats.urls, domain: 'house', hub });
  const dashboards = await createFolder(t, { 'wall.json5': { columns: 1, widgets: [talk] } });
  const east = await startTestHub(t, { connections: { house: house('east'), api: { ...api, dashboards } } });
  const desk = { type: 'dummy', parameters: ['mic,B,false'] };
  const west = await startTestHub(t, { connections: { house: house('west'), desk } });
  await eventually(() => east.find('desk/mic')?.value === false);
  const page = await openConsole(t, browser, east.port, wall);
  await waitUntil(page, noneStale);
  await page.getByRole('button', { name: 'Talk' }).hover();
  await page.mouse.down();
  await eventually(() => west.find('desk/mic')!.value === true);

  await nats.servers[0]!.kill('SIGKILL');
  await page.locator('.widget.old').waitFor();
  await page.mouse.up();
  await page.getByText('may still be on: desk/mic: hub "west" is not reachable').waitFor();
  await page.mouse.down(); // it was on when it was last heard of
  await page.locator('.push:not(.held)').waitFor();
  await page.getByText('may still be on').waitFor();
  await page.mouse.up();
  t.is(west.find('desk/mic')!.value, true);

  await nats.servers[0]!.start();
  await eventually(() => west.find('desk/mic')!.value === false);
  await page.getByText('may still be on').waitFor({ state: 'detached' });
  await page.locator('.push[aria-pressed=false]').waitFor();
});
