// The console while the hub is busy: 20,000 changes a second and the parameters in sight.

import { readFile } from 'node:fs/promises';
import test from 'ava';
import type { Page } from 'playwright-core';
import { connect } from '../../lib/client/index.ts';
import { openConsole, waitUntil } from '../support/browser/console.ts';
import { browser } from '../support/browser/own-browser.ts';
import { eventually, within } from '../support/deadline.ts';
import { api } from '../support/hub.ts';
import { startHubProcess } from '../support/system/hub-process.ts';
import { bestOf, slowness, timeOf } from '../support/system/machine.ts';

const parameters = 100_000;
const changesPerSecond = 20_000;
const batchMs = 20;
/** How many fit into a message of the protocol. */
const maxBatch = 1500;
const maxInputMs = 100;
const maxMegabytes = 200;
/** How much a page that stands still may ask and hear. For more, the hub's other clients would have to wait. */
const maxRequestsPerSecond = 1.5;
const maxFramesPerSecond = 2;
/** Between frames of values that are drawn calmly there is more time. */
const calmPauseMs = 600;

test('with 20,000 changes a second the page answers input within 100 ms, stays under 200 MB, and asks little of the hub', async (t) => {
  const lines = Array.from({ length: parameters }, (_, index) => `meter-${index},F,0`);
  const hub = await startHubProcess(t, { connections: { api, rack: { type: 'dummy', parameters: lines } } });
  const client = connect(hub.url);
  t.teardown(() => client.close());
  await client.whenLive();
  let written = 0;
  let reportedMs = performance.now();
  const flood = setInterval(() => {
    const due = Math.min(maxBatch, Math.round((changesPerSecond * (performance.now() - reportedMs)) / 1000));
    reportedMs = performance.now();
    const values = Array.from(
      { length: due },
      (_, place) => [`rack/meter-${(written + place) % 1000}`, written] as const,
    );
    written += due;
    client.batch(values).catch(() => {});
  }, batchMs);
  t.teardown(() => clearInterval(flood));

  const page = await openConsole(t, browser, hub.port, '#/parameters');
  await page.getByText('100,000 of 100,000').waitFor();
  await page.evaluate(`
    globalThis.slowest = 0;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) slowest = Math.max(slowest, duration);
    }).observe({ type: 'event', durationThreshold: 16 });`);
  const start = { written, ms: performance.now() };
  const best = await bestOf(maxInputMs, async () => {
    await page.evaluate('slowest = 0');
    await useAll(page);
    return ((await page.evaluate('slowest')) as number) / slowness();
  });
  const perSecond = ((written - start.written) * 1000) / (performance.now() - start.ms);
  const megabytes = await within(heldMegabytes(page), 'the memory of the page');
  const { requests, frames } = await trafficOf(page);
  t.log(`${requests.toFixed(1)} requests/s, ${frames.toFixed(1)} frames/s from the hub`);
  t.log(`${Math.round(perSecond)} changes/s, slowest input ${best} ms, ${Math.round(megabytes)} MB`);
  t.true(perSecond > changesPerSecond * 0.6, `only ${perSecond} changes a second were made`);
  t.true(best <= maxInputMs, `${best} ms`);
  t.true(megabytes < maxMegabytes, `${megabytes} MB`);
  t.true(requests <= maxRequestsPerSecond, `${requests} requests a second`);
  t.true(frames > 0.7 && frames <= maxFramesPerSecond, `${frames} frames a second`);
});

/** Counts the requests of a page and the frames that come to its socket, per second, once what moves there is drawn calmly. */
async function trafficOf(page: Page): Promise<{ requests: number; frames: number }> {
  const session = await page.context().newCDPSession(page);
  let requests = 0;
  let frames = 0;
  let cameMs = performance.now();
  let pauseMs = 0;
  session.on('Network.requestWillBeSent', () => requests++);
  session.on('Network.webSocketFrameReceived', () => {
    frames++;
    pauseMs = performance.now() - cameMs;
    cameMs = performance.now();
  });
  await session.send('Network.enable');
  await eventually(() => pauseMs > calmPauseMs, 'values that are drawn calmly');
  requests = 0;
  frames = 0;
  const seconds = (await timeOf(() => page.waitForTimeout(8000))) / 1000;
  await session.detach();
  return { requests: requests / seconds, frames: frames / seconds };
}

/** Searches, leafs through the list, and sees a value change. */
async function useAll(page: Page): Promise<void> {
  const search = page.getByRole('searchbox');
  for (const text of ['meter-9', 'rack 77', 'meter-500']) {
    await search.fill('');
    await search.pressSequentially(text, { delay: 40 });
    await page.locator('[role=row][data-address]').first().waitFor();
  }
  await search.fill('');
  const grid = page.getByRole('grid');
  for (let press = 0; press < 40; press++) await grid.press('PageDown', { delay: 20 });
  await grid.press('Home');
  const live = page.locator('[data-address="rack/meter-3"] .value');
  for (let seen = 0; seen < 3; seen++) {
    const text = JSON.stringify(await live.textContent());
    await waitUntil(page, `document.querySelector('[data-address="rack/meter-3"] .value')?.textContent !== ${text}`);
  }
}

/** The memory that the page holds. A browser that gets no processor has more for a while, which it has not come to collect. */
function heldMegabytes(page: Page): Promise<number> {
  return bestOf(maxMegabytes, async () => {
    await page.requestGC();
    return privateMegabytes();
  });
}

/** Returns the memory that the largest page of the browser has for itself. */
async function privateMegabytes(): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const sizes = await Promise.all(
    processInfo
      .filter(({ type }) => type === 'renderer')
      .map(async ({ id }) => {
        const text = await readFile(`/proc/${id}/smaps_rollup`, 'utf8');
        const kilobytes = [...text.matchAll(/^Private_\w+: +(\d+) kB$/gm)].map(([, size]) => Number(size));
        return kilobytes.reduce((sum, size) => sum + size, 0) / 1000;
      }),
  );
  return Math.max(...sizes);
}
