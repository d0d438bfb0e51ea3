// npm run trial -- editing: rebuilds recipes and rules of the cookbook in Chromium, by mouse and keyboard alone, on a running hub. The
// files must then pass their check and tests, and match those of the cookbook.

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { startHub } from '../../../lib/hub/index.ts';
import { messageOf } from '../../../lib/model/error.ts';
import { launchBrowser } from '../../support/browser/browser.ts';
import { desktop } from '../../support/browser/console.ts';
import { launchFirefox } from '../../support/browser/firefox.ts';
import { createLogRecorder } from '../../support/connection.ts';
import { inTemporaryFolder } from '../../support/folder.ts';
import { api, portsOf } from '../../support/hub.ts';
import { defineTrial, notify } from '../trial.ts';
import { Hand } from './hand.ts';
import { usePanel } from './panel.ts';
import { type Desk, rebuildRecipes } from './recipes.ts';
import { rebuildRules } from './rules.ts';
import { alarmAfterSilence, tallyThatStaysOn } from './tasks.ts';

interface Part {
  readonly about: string;
  /** Resolves to what it did. Errors: what does not hold. */
  run(desk: Desk, most: number): Promise<string>;
}

const parts: Readonly<Record<string, Part>> = {
  recipes: { about: 'recipes of the cookbook, with the wizard', run: rebuildRecipes },
  rules: { about: 'rules of the cookbook, with the rule sheet', run: rebuildRules },
  tally: { about: 'a tally of two microphones whose lamp stays on for two seconds', run: tallyThatStaysOn },
  silence: { about: 'an alarm after ten seconds of silence, which is then acknowledged', run: alarmAfterSilence },
  panel: { about: 'a dashboard whose button, lamp and fader are used', run: usePanel },
};

export const trial = defineTrial({
  about: 'rebuilds recipes and rules of the cookbook in a browser, using only the mouse and the keyboard',
  options: {
    most: ['the maximum number of recipes (of ten) and of rules to rebuild', 24, 1],
    seconds: ['the time limit for something to appear, in seconds', 10, 60],
    browser: ['the browser, chromium or firefox', 'chromium'],
  },
  parts: { all: parts, short: ['recipes', 'rules', 'tally'], shortCount: 1 },
  async run({ most, seconds, browser: name }, size) {
    if (name !== 'chromium' && name !== 'firefox')
      throw new Error(`--browser: expected chromium or firefox, got ${name}`);
    return inTemporaryFolder('browser', async (folder) =>
      tryParts(name === 'firefox' ? await launchFirefox(folder) : await launchBrowser(), size.parts, { most, seconds }),
    );
  },
});

async function tryParts(
  browser: Browser,
  chosen: readonly (readonly [name: string, part: Part])[],
  { most, seconds }: { readonly most: number; readonly seconds: number },
): Promise<boolean> {
  let isHeld = chosen.length > 0;
  try {
    for (const [name, part] of chosen) {
      try {
        notify(`${name}: ${await atDesk(browser, seconds * 1000, (desk) => part.run(desk, most))}: holds`);
      } catch (error) {
        isHeld = false;
        notify(`${name}: **${messageOf(error)}**`);
      }
    }
  } finally {
    await browser.close();
  }
  return isHeld;
}

/** Runs work at a hub with an empty folder and its console. */
async function atDesk<Result>(
  browser: Browser,
  deadlineMs: number,
  work: (desk: Desk) => Promise<Result>,
): Promise<Result> {
  return inTemporaryFolder('editing', async (folder) => {
    await writeFile(
      join(folder, 'hub.json5'),
      `{ connections: { api: ${JSON.stringify({ ...api, dashboards: 'dashboards' })} } }\n`,
    );
    await mkdir(join(folder, 'dashboards'));
    const log = createLogRecorder();
    const hub = await startHub({ paths: [folder], log });
    const context = await browser.newContext({ viewport: desktop });
    context.setDefaultTimeout(deadlineMs);
    try {
      const page = await context.newPage();
      const faults: Error[] = [];
      page.on('pageerror', (error) => faults.push(error));
      await page.goto(`http://127.0.0.1:${portsOf(log)[0]}/hub/#/connections`);
      const result = await work({
        hand: new Hand(page),
        folder,
        async put(name, text) {
          await writeFile(join(folder, name), text);
          await hub.reload();
        },
        async remove(name) {
          await rm(join(folder, name));
          await hub.reload();
        },
        value: (address) => hub.find(address)?.value,
        read: (name) => readFile(join(folder, name), 'utf8'),
      });
      if (faults.length > 0) throw faults[0]!;
      return result;
    } finally {
      await context.close();
      await hub.stop();
    }
  });
}
