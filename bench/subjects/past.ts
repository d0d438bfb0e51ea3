// A store with a past: how soon a hub answers what parameters were, over HTTP, and how soon the console has drawn a month.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { drawnExpression } from '../../spec/support/browser/plot.ts';
import { prepareStore } from '../../spec/support/past/prepare.ts';
import { programs } from '../../spec/support/programs.ts';
import { type ServerProcess, startHubOn } from '../../spec/support/system/task-process.ts';
import type { Options } from '../harness/options.ts';
import type { Case, Contender, Subject } from '../harness/subject.ts';
import { askPast, type Way } from '../load/ask-past.ts';

const ranges = { 'an hour': '-1h', 'a day': '-1d', 'a month': '-30d' };
const ways: readonly Way[] = ['one by one', 'at once'];
const studioParameters = 7;
const everyMs = 10_000;
const drawnMs = 60_000;
/** An expression: a function that chooses how far the plot reaches, and resolves to how many milliseconds it took until so much was drawn. */
const untilDrawn = `(reach, share) => new Promise((resolve, reject) => {
  const button = [...document.querySelectorAll('.segments button')].find(({ textContent }) => textContent === reach);
  const start = performance.now();
  button.click();
  const isThere = () => button.getAttribute('aria-pressed') === 'true' && ${drawnExpression('--accent')} > share;
  const look = () => (isThere() ? resolve(performance.now() - start) : requestAnimationFrame(look));
  requestAnimationFrame(look);
  setTimeout(() => reject(new Error('expected ' + reach + ' to be drawn within ${drawnMs} ms')), ${drawnMs});
})`;

export const past: Subject = {
  name: 'past',
  about: 'queries for past values in a store that has recorded parameters for days',
  measures: ['lib/connections/store', 'lib/console/history'],
  rounds: 5,
  async cases(options, folder) {
    const { pastLevels, pastDays } = options;
    const levels = await prepare(join(folder, 'levels'), studioParameters + pastLevels, Math.min(pastDays, 1));
    const cases = Object.entries(ranges).flatMap(([range, from]) =>
      ways.map((way) => {
        const measure = (port: number) => askPast(port, pastLevels, from, way);
        return caseOf(`${pastLevels} numbers, ${range}, ${way}`, options, levels, measure);
      }),
    );
    if (!programs['chromium-headless-shell'].isThere())
      return cases.map((item) => ({ ...item, notes: ['the console was left out: it needs Chromium'] }));
    const studio = await prepare(join(folder, 'studio'), studioParameters, pastDays);
    return [
      ...cases,
      caseOf(`${pastDays} days of a number that the console draws`, options, studio, (port) =>
        drawMonth(port, pastDays),
      ),
    ];
  },
};

/** Returns the path of the flow file. */
async function prepare(folder: string, parameters: number, days: number): Promise<string> {
  await mkdir(folder);
  const kept = { rawDays: Infinity, minuteDays: Infinity };
  return prepareStore({ folder, parameters, days, everyMs, ...kept, port: 0, seed: 1, endMs: Date.now() }).flow;
}

function caseOf(name: string, options: Options, flow: string, measure: (port: number) => Promise<number>): Case {
  const onHub = async (work: (hub: ServerProcess) => Promise<number>) => {
    const hub = await startHubOn(flow, options);
    try {
      return await work(hub);
    } finally {
      await hub.stop(true);
    }
  };
  const hub: Contender = {
    name: 'hub',
    role: 'hub',
    async measure() {
      return {
        ms: await onHub(async ({ port }) => {
          await measure(port); // the thread that answers is there from the first question on
          return measure(port);
        }),
      };
    },
  };
  return { name, metrics: [{ key: 'ms', title: 'milliseconds', digits: 1, better: 'less' }], contenders: [hub] };
}

/** From the click on 30 d to the pixels of the whole month. What was drawn before fills a thousandth of it. */
async function drawMonth(port: number, days: number): Promise<number> {
  const { launchBrowser } = await import('../../spec/support/browser/browser.ts');
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.setDefaultTimeout(drawnMs);
    await page.goto(`http://127.0.0.1:${port}/hub/#/history?address=studio-1/level`);
    await page.locator('.event').first().waitFor();
    await page.evaluate(`(${untilDrawn})('1 h', 0.7)`);
    return await page.evaluate<number>(`(${untilDrawn})('30 d', ${(0.7 * days) / 30})`);
  } finally {
    await browser.close();
  }
}
