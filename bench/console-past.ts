// node bench/console-past.ts --pictures <folder>: the past in the console, in Chromium. It answers "what happened to the lamp last night, and
// who did it" in four clicks on a store with a week of data, takes a picture after each, and measures how soon a month is drawn.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { startHub } from '../lib/hub.ts';
import { launchBrowser } from '../spec/support/browser/browser.ts';
import { drawnExpression } from '../spec/support/browser/plot.ts';
import { createLogRecorder } from '../spec/support/connection.ts';
import { portsOf } from '../spec/support/hub.ts';
import { prepareStore } from '../spec/support/past/prepare.ts';
import { summarize } from '../spec/support/statistics.ts';
import { createTemporaryFolder } from '../spec/support/temporary-folder.ts';
import { tell } from '../spec/trials/script.ts';

const rounds = 15;
const sizes = [
  [1440, 900, 'light'],
  [1280, 800, 'dark'],
  [768, 1024, 'light'],
  [390, 844, 'light'],
  [844, 390, 'light'],
] as const;

const { values } = parseArgs({ options: { pictures: { type: 'string' } } });
const { path: folder, remove } = await createTemporaryFolder('past');
const browser = await launchBrowser();
try {
  await withHub('week', 7, async (port) => {
    for (const [width, height, colorScheme] of sizes) {
      const page = await browser.newPage({ viewport: { width, height }, colorScheme });
      await askWhoDidIt(page, port, `${width}-${colorScheme}`);
      await page.close();
    }
  });
  await withHub('month', 30, async (port) => {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await measure(page, port);
    await page.close();
  });
} finally {
  await browser.close();
  await remove();
}

/** Runs a hub whose store knows of so many days, in which numbers changed every second. */
async function withHub(name: string, days: number, work: (port: number) => Promise<void>) {
  const log = createLogRecorder();
  const { flow, changes } = prepareStore({
    folder: join(folder, name),
    parameters: 7,
    days,
    everyMs: 1000,
    rawDays: Infinity,
    minuteDays: Infinity,
    port: 0,
    seed: 1,
    endMs: Date.now(),
  });
  const hub = await startHub({ paths: [flow], log });
  tell(`a ${name} of ${changes} changes`);
  try {
    await work(portsOf(log)[0]!);
  } finally {
    await hub.stop();
  }
}

async function askWhoDidIt(page: Page, port: number, name: string): Promise<void> {
  await page.goto(`http://127.0.0.1:${port}/hub/#/parameters`);
  const row = page.locator('[role=row][data-address="studio-1/lamp"]');
  await row.waitFor();
  let clicks = 0;
  const click = async (target: ReturnType<Page['locator']>, ready: string) => {
    await target.click();
    await page.locator(ready).first().waitFor();
    await page.waitForTimeout(500); // for the picture
    await keep(page, `${name}-click-${++clicks}`);
  };
  await click(row, '.detail canvas');
  await click(page.getByRole('complementary').getByRole('link', { name: 'History' }), '.event');
  // Hours where there is room for them; on a phone three at a time.
  await click(page.getByRole('button', { name: /, 03:00: [1-9]/ }).first(), '.event');
  await click(page.locator('.event', { hasText: '03:04:10' }), '.cause');
  const causes = await page.locator('.cause').allInnerTexts();
  tell(`${name}, after ${clicks} clicks: ${causes.map((cause) => cause.replace(/\s+/g, ' ')).join(' ← ')}`);
}

/** From the click on 30 d to the pixels of the whole month. What was drawn before fills a thousandth of it. */
async function measure(page: Page, port: number): Promise<void> {
  await page.goto(`http://127.0.0.1:${port}/hub/#/history?address=studio-1/level`);
  await page.locator('.event').first().waitFor();
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await page.getByRole('button', { name: '1 h', exact: true }).click();
    await page.waitForTimeout(700);
    times.push(
      await page.evaluate<number>(`new Promise((resolve) => {
        const button = [...document.querySelectorAll('.segments button')].find(({ textContent }) => textContent === '30 d');
        const start = performance.now();
        button.click();
        const isThere = () => button.getAttribute('aria-pressed') === 'true' && ${drawnExpression('--accent')} > 0.7;
        const look = () => (isThere() ? resolve(performance.now() - start) : requestAnimationFrame(look));
        requestAnimationFrame(look);
      })`),
    );
  }
  await keep(page, 'month');
  const { median, least, most } = summarize(times);
  const [at, from, to] = [median, least, most].map((ms) => `${ms.toFixed(0)} ms`);
  tell(`a month is drawn after ${at} (median of ${rounds}; ${from} to ${to})`);
}

async function keep(page: Page, name: string): Promise<void> {
  if (values.pictures === undefined) return;
  mkdirSync(values.pictures, { recursive: true });
  await page.screenshot({ path: join(values.pictures, `${name}.png`) });
}
