// The past in the console, of a store that was prepared: who did what last night, plots that reach back, and what the page sees now.

import '../support/browser/daytime.ts';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { fieldText } from '../../lib/console/history/time/clock-text.ts';
import { dayMs, minuteMs } from '../../lib/console/history/time/timeframe.ts';
import { type Hub, startHub } from '../../lib/hub/index.ts';
import { expectAccessible } from '../support/browser/accessible.ts';
import { desktop, goTo, openConsole, phone, waitUntil } from '../support/browser/console.ts';
import { pinch } from '../support/browser/finger.ts';
import { browser } from '../support/browser/own-browser.ts';
import { drawn } from '../support/browser/plot.ts';
import { createLogRecorder } from '../support/connection.ts';
import { api, portsOf, startTestHub, writer } from '../support/hub.ts';
import { prepareStore } from '../support/past/prepare.ts';
import { allTests, shared } from '../support/shared.ts';

const wall = { columns: 1, widgets: [{ type: 'plot', addresses: ['studio-1/level'], seconds: 3600 }] };

/** A hub whose store knows of two days: numbers changed every minute. */
let port: number;
let hub: Hub;
let folder: string;

const open = shared((t) => openConsole(t, browser, port));
const openAt = async (hash: string) => {
  const page = await open();
  await page.setViewportSize(desktop);
  await goTo(page, hash);
  return page;
};

test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'patchbay-'));
  const { flow } = prepareStore({
    folder,
    parameters: 7,
    days: 2,
    everyMs: minuteMs,
    rawDays: 2,
    minuteDays: 2,
    port: 0,
    seed: 1,
    endMs: Date.now(),
  });
  const { connections, ...others } = JSON.parse(await readFile(flow, 'utf8'));
  connections.api.dashboards = 'dashboards';
  await writeFile(flow, JSON.stringify({ connections, ...others }));
  await mkdir(join(folder, 'dashboards'));
  await writeFile(join(folder, 'dashboards/wall.json5'), JSON.stringify(wall));
  const log = createLogRecorder();
  hub = await startHub({ paths: [flow], log });
  port = portsOf(log)[0]!;
});
allTests.teardown(async () => {
  await hub?.stop();
  await rm(folder, { recursive: true });
});

test.serial('the events of the lamp last night, and their authors: four clicks', async (t) => {
  const page = await openAt('#/parameters');
  await page.locator('[role=row][data-address="studio-1/lamp"]').click();
  await page.getByRole('complementary').getByRole('link', { name: 'History' }).click();
  await page
    .getByRole('button', { name: /, 03:00: [1-9]/ })
    .first()
    .click();
  const events = page.locator('.event');
  await waitUntil(page, async () => (await events.count()) > 0 && (await events.count()) <= 2);
  await events.last().click();

  t.regex(
    (await events.allInnerTexts()).at(-1)!,
    /03:0[47]:10\.000\s+(true was false|false was true)\s+client api 10\.0\.0\.66\s+through rule red light/,
  );
  const causes = await page.locator('.cause').allInnerTexts();
  t.is(causes.length, 2);
  t.regex(causes[0]!, /studio-1\/lamp = (true|false).*by rule red light/s);
  t.regex(
    causes[1]!,
    /studio-1\/mic = (true|false).*by client api 10\.0\.0\.66.*This change came from outside the hub\./s,
  );
  await expectAccessible(t, page);
  await page.goBack();
  await waitUntil(page, async () => (await events.count()) > 2);

  await page.setViewportSize(phone);
  await page.getByRole('button', { name: 'Last night' }).click();
  await waitUntil(page, async () => (await events.count()) > 0);
  t.true((await page.evaluate<number>('document.documentElement.scrollWidth')) <= phone.width);
  await expectAccessible(t, page);
});

test.serial(
  'a plot reaches back and continues live, is moved and zoomed, and is compared with yesterday',
  async (t) => {
    const page = await openAt('#/parameters?address=studio-1/level');
    const asked: URLSearchParams[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname.startsWith('/hub/history/')) asked.push(searchParams);
    });
    const spanOf = (query: URLSearchParams | undefined) =>
      (Number(query?.get('to') ?? Date.now()) - Number(query?.get('from'))) / minuteMs;
    await waitUntil(page, async () => (await drawn(page, '--accent')) > 0.7);

    hub.write('studio-1/level', -5, writer);
    await page.locator('output.big', { hasText: '-5' }).waitFor();
    await waitUntil(page, async () => (await drawn(page, '--accent', 0.97)) > 0.9);
    await page.getByRole('button', { name: '24 h' }).click();
    await waitUntil(page, () => Math.round(spanOf(asked.at(-1))) === 24 * 60);
    await page.getByRole('complementary').getByRole('link', { name: 'History' }).click();
    await page.getByRole('button', { name: '24 h', pressed: true }).waitFor();
    await waitUntil(page, async () => (await drawn(page, '--accent')) > 0.7);
    const { width = 0, x = 0, y = 0 } = (await page.locator('canvas').boundingBox())!;
    t.true(Math.abs(Number(asked.at(-1)!.get('points')) - width) < 100, `${asked.at(-1)} on ${width} px`);

    t.is(await drawn(page, '--warn'), 0);
    await page.getByLabel('Compare with an earlier time').selectOption('the day before');
    await page.getByRole('list', { name: 'Legend' }).getByText('the day before').waitFor();
    await waitUntil(page, async () => (await drawn(page, '--warn')) > 0.3);

    const plot = page.getByRole('application');
    await plot.focus();
    await page.keyboard.press('+');
    await waitUntil(page, () => Math.round(spanOf(asked.at(-1))) === 16 * 60);
    await page.mouse.move(x + width / 2, y + 50);
    await page.mouse.down();
    await page.mouse.move(x + width / 2 + 100, y + 50, { steps: 4 });
    await page.mouse.up();
    await waitUntil(page, `new URLSearchParams(location.hash).has('to')`);
    await page.mouse.wheel(0, -400);
    await waitUntil(page, () => spanOf(asked.at(-1)) < 10 * 60);
    await plot.dblclick();
    await page.getByRole('button', { name: '24 h', pressed: true }).waitFor();
    await pinch(page, { x: x + width / 2, y: y + 50 }, 100, 300);
    await waitUntil(page, () => Math.abs(spanOf(asked.at(-1)) - 8 * 60) < 60);
    await plot.dblclick();
    await page.getByRole('button', { name: '24 h', pressed: true }).waitFor();

    const [from, to] = [page.getByRole('textbox', { name: 'From' }), page.getByRole('textbox', { name: 'To' })];
    const day = fieldText(Date.now() - dayMs).slice(0, 10);
    await from.selectText();
    const before = await to.inputValue();
    await waitUntil(page, async () => (await to.inputValue()) !== before);
    await page.keyboard.type(`${day} 04:50`);
    t.is(await from.inputValue(), `${day} 04:50`, 'the time went on, and what was selected stayed so');
    await page.keyboard.press('Tab');
    await page.keyboard.type(`${day} 5:10`);
    await page.keyboard.press('Enter');
    await waitUntil(page, async () => (await to.inputValue()) === `${day} 05:10:00`);
    await waitUntil(page, async () => (await drawn(page, '--accent', 0.05, 0.45)) > 0.9);
    t.is(await drawn(page, '--accent', 0.52, 0.58), 0, 'while the hub was down nothing is drawn');

    const texts = JSON.stringify({ From: `${day} 04:40`, To: `${day} 05:20` });
    await page.evaluate(`
    for (const [label, text] of Object.entries(${texts})) { // within one task, as on a page that is busy
      const field = document.querySelector('input[aria-label=' + label + ']');
      field.value = text;
      field.dispatchEvent(new Event('input', { bubbles: true }));
      field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    }`);
    await waitUntil(page, async () => (await to.inputValue()) === `${day} 05:20:00`);
    t.is(await from.inputValue(), `${day} 04:40:00`);
  },
);

test.serial(
  'a plot that is moved by many small steps goes all the way, and the address of the page has its final position',
  async (t) => {
    const page = await openAt('#/history?address=studio-1/level');
    await waitUntil(page, async () => (await drawn(page, '--accent')) > 0.7);
    const { width } = (await page.locator('canvas').boundingBox())!;
    const [steps, stepPx] = [400, 2];
    let written = 0;
    page.on('framenavigated', () => written++);
    await page.evaluate(`
    const turn = { deltaY: -${stepPx}, shiftKey: true, bubbles: true, cancelable: true };
    for (let step = 0; step < ${steps}; step++)
      document.querySelector('.time-plot').dispatchEvent(new WheelEvent('wheel', turn));`);
    const expectedMs = ((steps * stepPx) / (width - 68)) * dayMs; // without labels and margin
    const isThere = (to: string) => Math.abs((Date.now() - Date.parse(to)) / expectedMs - 1) < 0.03;
    await waitUntil(page, async () =>
      isThere(await page.evaluate(`new URLSearchParams(location.hash).get('to') ?? ''`)),
    );
    t.true(isThere(await page.getByRole('textbox', { name: 'To' }).inputValue()));
    t.true(written < 10, `written ${written} times; outside of tests a browser takes 200 in ten seconds`);
  },
);

test.serial('a dashboard shows the values from before it was opened', async (t) => {
  const page = await openAt('#/dashboards?name=wall');
  await waitUntil(page, async () => (await drawn(page, '--accent', 0.1, 0.9)) > 0.7);
  t.pass();
});

test('without a store the plot begins now, and views explain how to add one', async (t) => {
  const plain = await startTestHub(t, { connections: { api, desk: { type: 'dummy', parameters: ['level,F,1'] } } });
  const page = await openConsole(t, browser, plain.port, '#/parameters?address=desk/level');
  await page.getByText('This hub has no store: the plot starts now.').waitFor();
  t.true(await page.getByRole('button', { name: '24 h' }).isDisabled());
  await page.getByRole('button', { name: '1 min', exact: true }).click();
  await waitUntil(page, async () => (await drawn(page, '--accent', 0.97)) > 0);
  for (const view of ['history?address=desk/level', 'audit', 'snapshots']) {
    await page.evaluate(`location.hash = '#/${view}'`);
    await page.getByText("store: { type: 'store', folder: './data' }").waitFor();
  }
});
