// `npm run screenshots`: the pictures of the README, of the console and the dashboard of flows/demo.json5, in Chromium. Run it
// after each change of the look, and look at what it has made.

import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { type Hub, startHub } from '../lib/hub/index.ts';
import { launchBrowser } from './support/browser/browser.ts';
import { createLogRecorder } from './support/connection.ts';
import { portsOf } from './support/hub.ts';
import { root } from './support/repository/readme.ts';

const screenshots = join(root, 'lib/console/screenshots');
const origin = { kind: 'client', name: '127.0.0.1' } as const;

await takeAll();

async function takeAll(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-'));
  const log = createLogRecorder();
  const data = join(root, 'flows/data');
  cpSync(join(root, 'flows'), join(folder, 'flows'), { recursive: true, filter: (path) => path !== data });
  process.chdir(folder); // the console shows paths from here
  const demo = 'flows/demo.json5';
  writeFileSync(demo, readFileSync(demo, 'utf8').replace('port: 17011', "port: 0, bindIp: '127.0.0.1'"));
  const hub = await startHub({ paths: [demo], log });
  const browser = await launchBrowser(`--host-resolver-rules=MAP localhost:17011 127.0.0.1:${portsOf(log)[0]}`);
  try {
    mkdirSync(screenshots, { recursive: true });
    const url = 'http://localhost:17011/hub/';
    await takeSequence(browser, url);
    await takeDashboard(hub, browser, `${url}#/dashboards?name=studio&bare=1`);
    await takeFlows(hub, browser, `${url}#/flows`);
  } finally {
    await browser.close();
    await hub.stop();
    rmSync(folder, { recursive: true });
  }
}

/** What the README begins with: a button, the light that it switches on, and why the light is on. */
async function takeSequence(browser: Browser, url: string): Promise<void> {
  const viewport = { width: 960, height: 540 };
  const page = await browser.newPage({ viewport, colorScheme: 'dark', reducedMotion: 'reduce' });
  const shot = (name: string) => page.screenshot({ path: join(screenshots, `${name}.png`) });
  await page.goto(`${url}#/dashboards?name=studio&bare=1`);
  const button = page.getByRole('button', { name: 'Mic', exact: true });
  await button.hover();
  await shot('1-press');
  await button.click();
  await page.locator('.widget.lamp', { hasText: 'ON AIR' }).locator('[data-state=on]').waitFor();
  await page.mouse.move(0, 0);
  await pause(500);
  await shot('2-on-air');
  await page.goto(`${url}#/why?address=desk/red-light`);
  await page.getByText('desk/mic-open').first().waitFor();
  await pause(500);
  await shot('3-why');
  await page.close();
}

/** The dashboard on air, with a fader that has been moved for a minute. */
async function takeDashboard(hub: Hub, browser: Browser, url: string): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 960, height: 540 }, colorScheme: 'dark' });
  await page.goto(url);
  await page.getByText('ON AIR').first().waitFor();
  for (let step = 0; step <= 620; step++) {
    if (step % 300 === 60) hub.write('desk/doorbell', true, origin);
    if (step % 150 === 0) hub.write('desk/mic-open', step % 300 === 0, origin);
    hub.write('desk/level', Math.round(45 + 30 * Math.sin(step / 20)) / 100, origin);
    await pause(100);
  }
  await page.screenshot({ path: join(screenshots, 'dashboard.png') });
  await page.close();
}

/** The rules of the demo, drawn, with one of them chosen. */
async function takeFlows(hub: Hub, browser: Browser, url: string): Promise<void> {
  const page = await browser.newPage({
    viewport: { width: 1200, height: 720 },
    colorScheme: 'light',
    reducedMotion: 'reduce',
  });
  await page.goto(url);
  await page.getByText('red light').first().click();
  hub.write('desk/mic-open', false, origin);
  await pause(3000);
  hub.write('desk/mic-open', true, origin);
  await pause(1200);
  await page.screenshot({ path: join(screenshots, 'console.png') });
  await page.close();
}
