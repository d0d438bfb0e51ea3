// History and Why while the hub starts anew: the views stay, and what could not be had is asked for again.

import { join } from 'node:path';
import test from 'ava';
import { openConsole, waitUntil } from '../../support/browser/console.ts';
import { browser } from '../../support/browser/own-browser.ts';
import { drawn } from '../../support/browser/plot.ts';
import { createFolder } from '../../support/folder.ts';
import { api, startTestHub, writer } from '../../support/hub.ts';
import { freePort } from '../../support/system/port.ts';

/** Of a day, some seconds would be less than a pixel. */
const lately = '#/history?address=desk/level&from=-1m';

test('failed requests are repeated after the hub returns, also for a past time, and no view breaks', async (t) => {
  const port = await freePort();
  const flow = {
    connections: {
      api: { ...api, port },
      desk: { type: 'dummy', parameters: ['level,F,0.5'] },
      store: { type: 'store', folder: join(await createFolder(t, {}), 'data') },
    },
  };
  const first = await startTestHub(t, flow);
  first.write('desk/level', 0.7, writer);
  const over = (minutes: number) =>
    `#/history?${new URLSearchParams({
      address: 'desk/level',
      from: new Date(Date.now() - minutes * 60_000).toISOString(),
      to: new Date().toISOString(),
    })}`;
  const following = await openConsole(t, browser, port, lately);
  await following.locator('.event', { hasText: '0.7' }).first().waitFor(); // the store has it, so who asks once gets it
  const past = await openConsole(t, browser, port, over(1));
  const why = await openConsole(t, browser, port, '#/why');
  await past.locator('.event', { hasText: '0.7' }).first().waitFor();
  await why.getByRole('combobox', { name: 'Parameter address' }).waitFor();

  await first.stop();
  await following.evaluate(`location.hash = '#/history'`);
  await following.evaluate(`location.hash = '${lately}'`);
  await past.evaluate(`location.hash = ${JSON.stringify(over(2))}`);
  for (const page of [following, past]) await page.getByText('the hub cannot be reached').first().waitFor();
  await why.getByRole('combobox', { name: 'Parameter address' }).pressSequentially('level');

  const second = await startTestHub(t, flow);
  second.write('desk/level', 0.9, writer);
  for (const page of [following, past]) {
    await page.locator('.event', { hasText: '0.7' }).first().waitFor();
    await waitUntil(page, async () => (await page.getByText('the hub cannot be reached').count()) === 0);
    await waitUntil(page, async () => (await drawn(page, '--accent')) > 0);
  }
  await following.locator('.event', { hasText: '0.9' }).first().waitFor();
  await why.getByRole('combobox', { name: 'Parameter address' }).fill('desk/lev');
  await why.locator('option[value="desk/level"]').waitFor({ state: 'attached' });
});
