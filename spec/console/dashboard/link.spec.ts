// Dashboards whose link to the hub breaks: every widget says so, and goes on by itself when the link is back.

import test, { type ExecutionContext } from 'ava';
import { openConsole, waitUntil } from '../../support/browser/console.ts';
import { browser } from '../../support/browser/own-browser.ts';
import { allStale, desk, noneStale, overlays, startWall, wall, widgetsOfAllKinds } from '../../support/browser/wall.ts';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { api } from '../../support/hub.ts';
import { shared } from '../../support/shared.ts';
import { startHubProcess } from '../../support/system/hub-process.ts';
import { bestOf, idleTimeOf } from '../../support/system/machine.ts';
import { openNetwork } from '../../support/system/network.ts';
import { freePort } from '../../support/system/port.ts';

/** A page says this soon that its values may be old. */
const limitMs = 3000;
const talk = { type: 'button', label: 'Talk', address: 'desk/mic', mode: 'momentary' };

test('a hub that hangs or stops makes every widget stale within three seconds; when it returns, all are live without a reload', async (t) => {
  const folder = await createFolder(t, { 'wall.json5': { columns: 4, widgets: widgetsOfAllKinds } });
  const port = await freePort();
  const flow = { connections: { api: { ...api, port, dashboards: folder }, desk } };
  const first = await startHubProcess(t, flow);
  const page = await openConsole(t, browser, port, wall);
  await waitUntil(page, noneStale);
  await page.evaluate('globalThis.mark = 1');

  const hung = await bestOf(limitMs, async () => {
    process.kill(first.pid, 'SIGSTOP');
    const tookMs = await idleTimeOf(() => waitUntil(page, allStale));
    t.is(await page.evaluate<number>(`(${overlays}).length`), widgetsOfAllKinds.length);
    t.true(await page.getByRole('button', { name: 'Mic' }).isDisabled());
    process.kill(first.pid, 'SIGCONT');
    await waitUntil(page, noneStale);
    return tookMs;
  });
  t.true(hung < limitMs, `a hub that hangs: ${Math.round(hung)} ms`);

  first.process.kill('SIGTERM');
  const stopped = await idleTimeOf(() => waitUntil(page, allStale));
  t.true(stopped < limitMs, `a hub that stops: ${Math.round(stopped)} ms`);
  await page.getByText('Disconnected from the hub').first().waitFor();
  await first.ended();

  const second = await startHubProcess(t, flow);
  await waitUntil(page, noneStale);
  await second.get('/update?parameter=desk/text&value=again');
  await page.locator('.widget.value').getByText('again').waitFor();
  t.is(await page.evaluate('mark'), 1);
});

const open = shared(async (t) => {
  const hub = await startWall(t, [talk]);
  const network = await openNetwork(t, hub.port);
  return { hub, network, page: await openConsole(t, browser, network.port, wall) };
});

/** A page with a momentary button that is held by mouse, and the network between it and its hub. */
async function holdTalk(t: ExecutionContext) {
  const { hub, network, page } = await open();
  const isOn = async (expected: boolean) => {
    await eventually(() => hub.find('desk/mic')!.value === expected);
    t.pass();
  };
  const hold = async () => {
    await waitUntil(page, noneStale);
    await page.getByRole('button', { name: 'Talk' }).hover();
    await page.mouse.down();
    await isOn(true);
  };
  await page.evaluate(`location.hash = '${wall}'`);
  await hold();
  return { network, page, isOn, hold };
}

test.serial('a momentary button that is released while the link is down is off when the link is back', async (t) => {
  const { network, page, isOn } = await holdTalk(t);
  await page.locator('.push.lit').waitFor();
  network.freeze();
  await waitUntil(page, allStale);
  await page.mouse.up();
  network.thaw();
  await waitUntil(page, noneStale);
  await page.locator('.push[aria-pressed=false]').waitFor();
  await isOn(false);
});

test.serial(
  'a momentary button that is released before the page notices a dead link is off when the link is back',
  async (t) => {
    const { network, page, isOn } = await holdTalk(t);
    network.freeze();
    await page.mouse.up();
    await waitUntil(page, allStale);
    network.cut(); // what was on its way is lost
    network.thaw();
    await waitUntil(page, noneStale);
    await isOn(false);
  },
);

test.serial('it is off even if its dashboard was left meanwhile', async (t) => {
  const { network, page, isOn } = await holdTalk(t);
  network.freeze();
  await page.evaluate(`location.hash = '#/parameters'`);
  await page.getByText('Disconnected from the hub').waitFor();
  network.cut();
  network.thaw();
  await isOn(false);
  await page.mouse.up();
});

test.serial('it goes off when it is released with another button of the mouse held', async (t) => {
  const { page, isOn } = await holdTalk(t);
  await page.mouse.down({ button: 'right' });
  await page.mouse.up({ button: 'left' });
  await isOn(false);
  await page.mouse.up({ button: 'right' });
});

test.serial('it goes off when its page is closed or reloaded; with a dead link, when the page is back', async (t) => {
  const { network, page, isOn, hold } = await holdTalk(t);
  const reloaded = page.reload();
  await isOn(false);
  await reloaded;
  await page.mouse.up();
  await hold();
  network.freeze();
  const again = page.reload();
  await page.waitForRequest(/\/hub\/$/);
  network.cut();
  network.thaw();
  await again.catch(() => page.reload());
  await isOn(false);
  await page.mouse.up();
  await hold();
  await page.close();
  await isOn(false);
});
