// npm run trial -- operator: performs the tasks of an operator in Chromium and Firefox, each from the start view, and counts the clicks.

import '../../support/browser/daytime.ts';
import type { Browser } from 'playwright-core';
import { messageOf } from '../../../lib/model/error.ts';
import { launchBrowser } from '../../support/browser/browser.ts';
import { launchFirefox } from '../../support/browser/firefox.ts';
import { inTemporaryFolder } from '../../support/folder.ts';
import { defineTrial, notify } from '../trial.ts';
import { atStudio } from './studio.ts';
import { type Task, tasks } from './tasks.ts';

/** More clicks than this are too many for any of the tasks. */
const mostClicks = 4;

export const trial = defineTrial({
  about: 'performs the tasks of an operator in a browser, each in at most four clicks',
  options: {
    seconds: ['the time limit for something to appear, in seconds', 10, 60],
    browsers: ['1: Chromium; 2: Chromium and Firefox', 2, 1],
  },
  parts: { all: tasks, short: Object.keys(tasks) },
  run({ seconds, browsers }, { parts: chosen }) {
    return inTemporaryFolder('browsers', async (folder) => {
      const launch = { Chromium: () => launchBrowser(), Firefox: () => launchFirefox(folder) };
      let isHeld = chosen.length > 0;
      for (const [name, start] of Object.entries(launch).slice(0, browsers)) {
        const browser = await start();
        try {
          if (!(await driveAll(browser, name, chosen, seconds * 1000))) isHeld = false;
        } finally {
          await browser.close();
        }
      }
      return isHeld;
    });
  },
});

/** Drives tasks in a browser; returns whether all of them hold. */
async function driveAll(
  browser: Browser,
  browserName: string,
  chosen: readonly (readonly [string, Task])[],
  deadlineMs: number,
): Promise<boolean> {
  let isHeld = true;
  await atStudio(browser, deadlineMs, async (studio) => {
    const { hand, port } = studio;
    for (const [name, { about, run }] of chosen) {
      await hand.page.goto(`http://127.0.0.1:${port}/hub/#/start`);
      await hand.page.reload();
      await hand.page.getByRole('heading', { level: 1, name: 'Start' }).waitFor();
      hand.count();
      const startMs = performance.now();
      try {
        await run(studio);
        const { clicks, keys } = hand.count();
        const took = `${clicks} clicks, ${keys} keys, ${((performance.now() - startMs) / 1000).toFixed(1)} s`;
        if (clicks > mostClicks) throw new Error(`expected at most ${mostClicks} clicks, got ${took}`);
        notify(`${name}: ${about} ${browserName}, ${took}: holds`);
      } catch (error) {
        isHeld = false;
        notify(`${name}: ${browserName}: **${messageOf(error)}**`);
      }
    }
  });
  return isHeld;
}
