// The connections view against a real hub: how each connection is doing and why, and what people can do with it.

import test from 'ava';
import { goTo, openConsole } from '../support/browser/console.ts';
import { browser } from '../support/browser/own-browser.ts';
import { api, startTestHub, statusOf } from '../support/hub.ts';
import { startPeer } from '../support/peer.ts';
import { shared } from '../support/shared.ts';

const connections = {
  api,
  desk: { type: 'dummy', description: 'Studio 1', parameters: ['lamp,B,false', 'level,F'] },
  onair: { type: 'xml-file-output', filename: 'onair.xml', template: '<status></lamp>' },
  spare: { type: 'dummy', enabled: false, parameters: ['lamp,B'] },
};

const open = shared(async (t) => {
  const hub = await startTestHub(t, { connections });
  return { hub, page: await openConsole(t, browser, hub.port) };
});

test.serial('a failed connection comes first, with its reason', async (t) => {
  const { hub, page } = await open();
  await goTo(page, '#/connections');
  const first = page.locator('tbody tr').first();
  await first.getByText('failed').waitFor();
  const { reason } = statusOf(hub, 'onair');
  t.regex(reason, /unexpected close tag/);
  t.is(await first.locator('.reason').textContent(), reason);
  t.is(await page.locator('[data-connection]').count(), 4);
  const desk = page.locator('[data-connection=desk]');
  for (const text of ['running', 'Studio 1', 'dummy']) await desk.getByText(text).waitFor();
  t.is(await desk.getByRole('link').textContent(), '2');
  await page.getByRole('button', { name: 'disabled' }).click();
  await page.locator('[data-connection=desk]').waitFor({ state: 'detached' });
  t.is(await page.locator('[data-connection]').count(), 1);
});

test.serial(
  'a connection is stopped after a confirmation, started, and restarted; a refusal of the hub is shown',
  async (t) => {
    const { hub, page } = await open();
    await goTo(page, '#/connections');
    const desk = page.locator('[data-connection=desk]');

    await desk.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    t.is(statusOf(hub, 'desk').state, 'running');
    await desk.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
    await desk.getByText('disabled').waitFor();
    await desk.getByText('stopped by').waitFor();
    t.is(statusOf(hub, 'desk').state, 'disabled');

    await desk.getByRole('button', { name: 'Start' }).click();
    await desk.getByText('running').waitFor();
    const { since } = statusOf(hub, 'desk');
    await desk.getByRole('button', { name: 'Restart' }).click();
    const answer = page.waitForResponse('**/hub/connections/desk');
    await page.getByRole('dialog').getByRole('button', { name: 'Restart' }).click();
    t.is((await answer).status(), 200);
    t.true(statusOf(hub, 'desk').since > since);

    const own = page.locator('[data-connection=api]');
    await own.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
    await own.getByRole('alert').getByText('expected a connection other than "api"').waitFor();
    t.is(statusOf(hub, 'api').state, 'running');
  },
);

test.serial('keys lead through the views; a broken link is shown, and its end', async (t) => {
  const { hub, page } = await open();
  t.teardown(() => page.context().close()); // other files of specs go on in this process
  await goTo(page, '#/connections');
  const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
  await heading('Connections');
  await page.keyboard.press('?');
  await page.getByRole('dialog').getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();
  await page.keyboard.press('Escape');
  for (const [key, name] of [
    ['p', 'Parameters'],
    ['l', 'Log'],
    ['s', 'Clients'],
    ['c', 'Connections'],
  ] as const) {
    await page.keyboard.press('g');
    await page.keyboard.press(key);
    await heading(name);
  }
  await page.keyboard.press('/');
  await page.keyboard.type('desk');
  await page.locator('[data-connection=spare]').waitFor({ state: 'detached' });
  t.true(page.url().endsWith('#/connections?search=desk'));
  await page.getByText('Patchbay 0.').waitFor();

  const banner = page.getByText('Disconnected from the hub');
  await banner.waitFor({ state: 'detached' });
  await hub.stop();
  await banner.waitFor();
});

test.serial('a view that is being left does not take back the navigation', async (t) => {
  const page = await openConsole(t, browser, (await startTestHub(t, { connections: { api } })).port, '#/flows?as=list');
  await page.getByRole('button', { name: 'Graph', exact: true }).waitFor();
  await page.evaluate(`
    location.hash = '#/connections';
    [...document.querySelectorAll('button')].find(({ textContent }) => textContent.trim() === 'Graph').click();`);
  await page.getByRole('heading', { level: 1, name: 'Connections' }).waitFor({ timeout: 5000 });
  t.is(new URL(page.url()).hash, '#/connections');
});

test.serial('the wire of a device is shown live, without secrets', async (t) => {
  const peer = await startPeer(t, { greeting: () => 'OK MPD 0.23\n', end: '\n', answer: () => 'OK\n' });
  const player = {
    type: 'device',
    tcp: `127.0.0.1:${peer.port}`,
    protocol: 'mpd',
    secrets: { password: 'secret-word' },
  };
  const hub = await startTestHub(t, { connections: { api, player } });
  const page = await openConsole(t, browser, hub.port);
  await goTo(page, '#/connections');
  await page.getByRole('button', { name: 'Wire of player' }).click();
  const wire = page.getByRole('region', { name: 'Wire of player' });
  await wire.getByText('>  password ***').waitFor();
  peer.send('hello {from} the <device>\n');
  await wire.getByText('<  hello {from} the <device>').waitFor();
  t.false((await wire.textContent())!.includes('secret-word'));
});
