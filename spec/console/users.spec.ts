// Who uses the console, and what that may do: a user signs in, is offered what it may do alone, and signs out.

import test from 'ava';
import { browser } from '../support/browser/own-browser.ts';
import { api, startTestHub } from '../support/hub.ts';

test('a user signs in on the page, is offered what it may do, and signs out', async (t) => {
  const users = {
    ann: { password: 'geheim', read: ['desk/**'], dashboards: ['**'] },
    root: { password: 'x', manage: true, read: ['**'] },
  };
  const desk = { type: 'dummy', parameters: ['lamp,B,true'] };
  const hub = await startTestHub(t, { connections: { api: { ...api, users }, desk } });
  const context = await browser.newContext();
  t.teardown(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(50_000);
  await page.goto(`http://127.0.0.1:${hub.port}/hub/#/parameters`);
  await page.getByLabel('User').fill('ann');
  await page.getByLabel('Password').fill('wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('expected those of a user of this hub').waitFor();
  await page.getByLabel('Password').fill('geheim');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'ann' }).waitFor();
  t.regex(page.url(), /\/hub\/#\/parameters$/, 'it goes on where it was to go');
  t.deepEqual(await page.getByRole('navigation').getByRole('link').allTextContents(), [
    'Parameters',
    'Why',
    'History',
    'Snapshots',
    'Dashboards',
  ]);
  await page.getByRole('button', { name: 'ann' }).click();
  await page.getByLabel('Password').waitFor();
  t.regex(page.url(), /\/hub\/sign-in$/);
});
