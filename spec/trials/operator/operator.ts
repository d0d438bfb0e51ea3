// npm run trial -- operator: drives the tasks of an operator in Chromium, each from the start view, and counts the clicks.

import { messageOf } from '../../../lib/model/error.ts';
import { launchBrowser } from '../../support/browser/browser.ts';
import { defineTrial, notify } from '../trial.ts';
import { atStudio } from './studio.ts';
import { tasks } from './tasks.ts';

/** More clicks than this are too many for any of the tasks. */
const mostClicks = 4;

export const trial = defineTrial({
  about: 'drives the tasks of an operator in a browser, in at most four clicks each',
  options: { seconds: ['how long something may take to be seen', 10, 60] },
  parts: { all: tasks, short: Object.keys(tasks) },
  async run({ seconds }, { parts: chosen }) {
    const browser = await launchBrowser();
    let isHeld = chosen.length > 0;
    try {
      await atStudio(browser, seconds * 1000, async (studio) => {
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
            notify(`${name}: ${about} ${took}: holds`);
          } catch (error) {
            isHeld = false;
            notify(`${name}: **${messageOf(error)}**`);
          }
        }
      });
    } finally {
      await browser.close();
    }
    return isHeld;
  },
});
