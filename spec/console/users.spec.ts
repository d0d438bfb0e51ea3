// Who uses the console, and what that may do: users sign in, are offered what they may do alone, and sign out. Those who may manage
// the hub see users and devices, and revoke these. With SCREENSHOTS=<folder> the spec keeps pictures for people to look at.

import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Page, Response } from 'playwright-core';
import { openConsole, signIn } from '../support/browser/console.ts';
import { browser } from '../support/browser/own-browser.ts';
import { ask } from '../support/http.ts';
import { api, startHubFrom, startTestHub, writer } from '../support/hub.ts';
import { shared } from '../support/shared.ts';
import { openNetwork } from '../support/system/network.ts';
import { freePort } from '../support/system/port.ts';

const users = {
  ann: { password: 'geheim', read: ['desk/**', 'store/**'], dashboards: ['**'] },
  olaf: {
    ...{ password: 'olaf', read: ['**'], write: ['desk/level', 'desk/mic', 'store/studio/recall'] },
    dashboards: ['wall'],
  },
  root: { password: 'root', manage: true, read: ['**'], write: ['**'] },
};
const filesAt = (port: number) => ({
  'flow.json5': {
    connections: {
      api: { ...api, port, users, dashboards: 'dashboards' },
      desk: { type: 'dummy', parameters: ['mic,B,true', 'lamp,B,true', 'level,F,0.5', 'gain,F,0.5', 'title,S,x'] },
      store: { type: 'store', folder: './data', snapshots: { studio: { include: ['desk/**'] } } },
    },
    rules: [{ name: 'lamp follows', from: 'desk/mic', to: 'desk/lamp' }],
  },
  'dashboards/wall.json5': {
    columns: 2,
    widgets: [
      { type: 'button', label: 'Mic', address: 'desk/mic' },
      { type: 'button', label: 'Lamp', address: 'desk/lamp' },
      { type: 'fader', label: 'Level', address: 'desk/level' },
      { type: 'fader', label: 'Gain', address: 'desk/gain' },
    ],
  },
});

const start = shared(async (t) => {
  const hub = await startHubFrom(t, filesAt(await freePort()));
  hub.write('desk/mic', false, writer);
  hub.write('store/studio/save', 'evening', writer);
  hub.write('desk/title', 'differs', writer);
  return hub;
});
/** A browser in which one user after another signs in. */
const open = shared(async (t) => openConsole(t, browser, (await start()).port));
/** The same, signed in as who may manage. */
const openAsRoot = shared(async () => {
  const page = await open();
  await signIn(page, 'root', 'root');
  return page;
});
/** Another browser, with a network between it and the hub. */
const openElsewhere = shared(async (t) => {
  const network = await openNetwork(t, (await start()).port);
  return { network, page: await openConsole(t, browser, network.port, '#/parameters') };
});

const forAll = ['Start', 'Alarms', 'Schedule', 'Parameters', 'Why', 'History', 'Snapshots', 'Dashboards'];
const forManagers = ['Connections', 'Flows', 'Audit', 'Log', 'Hubs', 'Clients', 'Users'];

/** What everybody may look at, and what has to be there first. */
const sights: [hash: string, ready: string][] = [
  ['#/parameters?address=desk/level', '.detail canvas'],
  ['#/why?address=desk/lamp', '.cause'],
  ['#/history?address=desk/lamp', '.event'],
  ['#/snapshots?selection=studio&name=evening', '.comparison p'],
  ['#/dashboards', '.panels a'],
  ['#/dashboards?name=wall', '.rail'],
];

/** With what users set something, as far as it is of use. */
const controls = ':is(.editor, .snapshots form, .saved, .widget) :is(button, input):not(:disabled)';
const nameOf = '(one) => (one.ariaLabel || one.textContent).trim()';

async function show(page: Page, hash: string, ready: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  await page.locator(ready).first().waitFor();
  await page.locator('.banner').waitFor({ state: 'detached' });
  const { SCREENSHOTS: folder } = process.env;
  const who = await page.locator('header button').first().textContent();
  if (folder) await page.screenshot({ path: join(folder, `${who}${hash.replace(/\W+/g, '-')}.png`) });
}

/** What the hub refuses a page from now on, until the test ends. */
function refusalsOf(t: ExecutionContext, page: Page): string[] {
  const refusals: string[] = [];
  const hear = (answer: Response) => answer.status() >= 400 && refusals.push(`${answer.status()} ${answer.url()}`);
  page.on('response', hear);
  t.teardown(() => page.off('response', hear));
  return refusals;
}

const offered: [user: keyof typeof users, controls: readonly string[], whyNot: readonly string[]][] = [
  ['ann', ['Compare evening'], ['You only have permission to view snapshots.', ...Array(4).fill('read-only')]],
  [
    'olaf',
    [
      'Decrease by 0.1',
      'Value of desk/level',
      'Increase by 0.1',
      'Set',
      'Compare evening',
      'Recall evening',
      'Mic',
      'Level',
    ],
    ['You do not have permission to save snapshots.', 'read-only', 'read-only'],
  ],
];
for (const [user, expected, whyNot] of offered)
  test.serial(`${user} signs in, is only offered permitted actions, and signs out`, async (t) => {
    const page = await open();
    await page.goto(`http://127.0.0.1:${(await start()).port}/hub/#/parameters`);
    await page.getByLabel('User').fill(user);
    await page.getByLabel('Password').fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('incorrect username or password').waitFor();
    const refusals = refusalsOf(t, page);
    await signIn(page, user, users[user].password);
    t.regex(page.url(), /\/hub\/#\/parameters$/, 'it goes on where it was to go');
    t.deepEqual(await page.getByRole('navigation').getByRole('link').allTextContents(), forAll);
    const found: string[] = [];
    const said: string[] = [];
    for (const [hash, ready] of sights) {
      await show(page, hash, ready);
      found.push(...(await page.evaluate<string[]>(`[...document.querySelectorAll('${controls}')].map(${nameOf})`)));
      said.push(...(await page.locator('.save small, .widget .word').allTextContents()));
      if (hash.startsWith('#/parameters'))
        t.is(await page.getByText('Read-only: you are not allowed to set it.').count(), user === 'ann' ? 1 : 0);
    }
    t.deepEqual(found, expected);
    t.deepEqual(said, whyNot);
    for (const title of forManagers) {
      await show(page, `#/${title.toLowerCase()}`, `h1 >> text=${title}`);
      await page.getByText('This view requires permission to manage the hub.').waitFor();
    }
    t.deepEqual(refusals, []);
    await page.getByTitle(`Sign out ${user}`).click();
    await page.getByLabel('Password').waitFor();
    t.regex(page.url(), /\/hub\/sign-in#\/users$/);
  });

test.serial('a manager sees users and devices; a revoked browser is sent to the sign-in page', async (t) => {
  const page = await openAsRoot();
  const { page: other } = await openElsewhere();
  await signIn(other, 'ann', 'geheim');
  const refusals = refusalsOf(t, page);
  const links = await page.getByRole('navigation').getByRole('link').allTextContents();
  t.deepEqual(links.sort(), [...forAll, ...forManagers].sort());
  await show(page, '#/users', '[data-device]');
  t.regex(
    (await page.locator('[data-user=olaf]').textContent()) ?? '',
    /desk\/level, desk\/mic, store\/studio\/recall/,
  );
  const row = page.locator('[data-device]', { hasText: 'ann' });
  await row.getByRole('button', { name: 'Revoke Chrome on Linux' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await row.waitFor({ state: 'detached' });
  await other.getByLabel('Password').waitFor();
  t.regex(other.url(), /\/hub\/sign-in/);
  t.is(await page.locator('[data-device]').count(), 1);
  t.deepEqual(refusals, []);
});

test.serial('a manager sees unopened kiosk links, and revokes them', async (t) => {
  const hub = await start();
  const headers = { authorization: `Basic ${btoa('root:root')}`, 'content-type': 'application/json' };
  const invite = async (device: string, dashboard?: string) => {
    const body = JSON.stringify({ action: 'invite', user: 'olaf', device, dashboard });
    t.is((await ask(t, hub.port, 'POST /hub/users', { headers, body })).status, 200);
  };
  await invite('Reception', 'wall');
  await invite('Reception');
  await invite('Door');
  const page = await openAsRoot();
  const refusals = refusalsOf(t, page);
  await show(page, '#/users', '[data-link]');
  await page.getByText('3 users, 1 device, 3 unopened links').waitFor();
  const rows = page.locator('[data-link=Reception]');
  t.deepEqual(await rows.first().locator('td').allTextContents(), ['Reception', 'olaf', 'wall', '23 h', 'Revoke']);
  await rows.first().getByRole('button', { name: 'Revoke the link for Reception' }).click();
  await page.getByRole('dialog').getByText('All unopened links with this name').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('3 users, 1 device, 1 unopened link').waitFor();
  t.deepEqual(await page.locator('[data-link] strong').allTextContents(), ['Door']);
  t.deepEqual(refusals, []);
});

test.serial('an incomplete sign-out is reported by the page', async (t) => {
  const { network, page } = await openElsewhere();
  await signIn(page, 'ann', 'geheim');
  network.freeze();
  await page.getByTitle('Sign out ann').click();
  await page.getByRole('alert').getByText('You are still signed in: the hub cannot be reached').waitFor();
  network.cut();
  network.thaw();
  await page.reload();
  await page.getByTitle('Sign out ann').click();
  await page.getByLabel('Password').waitFor();
  t.regex(page.url(), /\/hub\/sign-in/);
});

test.serial('a user signed out by a restart of the hub gets to the sign-in page', async (t) => {
  const hub = await start();
  const page = await openAsRoot();
  await show(page, '#/parameters', '[data-address="desk/lamp"]');
  const unanswered = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/hub/me'));
  await hub.stop();
  await unanswered;
  await startTestHub(t, { connections: { api: { ...api, port: hub.port, users } } });
  await page.getByLabel('Password').waitFor();
  t.regex(page.url(), /\/hub\/sign-in#\/parameters$/);
});
