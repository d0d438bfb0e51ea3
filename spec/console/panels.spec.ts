// Five panels as people make them, the files in panels/: a door, the tablet on a desk, an engineer's screen with twelve meters, a phone, a
// sign in a corridor. On every size of screen, light and dark, in an open hub and for a user who may set little, nothing is cut off,
// covered, overlapping, small, or pale, also while it blinks. With SCREENSHOTS=<folder> the spec keeps a picture of each.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { openConsole, signIn } from '../support/browser/console.ts';
import { cut, look, overlapping, pale } from '../support/browser/legible.ts';
import { browser } from '../support/browser/own-browser.ts';
import { eventually } from '../support/deadline.ts';
import { api, startHubFrom, writer } from '../support/hub.ts';
import { sampled } from '../support/random.ts';

const { SCREENSHOTS: picturesFolder } = process.env;
const folder = join(import.meta.dirname, 'panels');
const panels = ['door', 'desk', 'engineering', 'phone', 'corridor'] as const;
type Screen = readonly [width: number, height: number, isForFingers?: boolean];
const screens: readonly Screen[] = [
  [3840, 2160],
  [1920, 1080],
  [1280, 800],
  [1024, 768, true],
  [768, 1024, true],
  [667, 375, true],
  [390, 844, true],
  [320, 568, true],
];
const users = {
  presenter: { password: 'on air', read: ['**'], dashboards: ['**'], write: ['studio/mic-open', 'studio/guest'] },
};
/** The moments of both halves of a blinking lamp. */
const halvesMs = [100, 600];

for (const [kind, settings] of [
  ['in an open hub', {}],
  ['for a user who may set little', { users }],
] as const)
  test.serial(`five panels are legible at every size, light and dark, ${kind}`, async (t) => {
    const port = await startStudio(t, settings);
    const isSeen = sampled(t, 4);
    const faults: string[] = [];
    for (const isForFingers of [false, true]) {
      const page = await openConsole(t, browser, port, '#/dashboards', {
        hasTouch: isForFingers,
        isMobile: isForFingers,
      });
      if ('users' in settings) await signIn(page, 'presenter', 'on air');
      for (const [index, panel] of panels.entries())
        for (const [at, screen] of screens.entries()) {
          if (isForFingers !== (screen[2] ?? false)) continue;
          if (picturesFolder === undefined && !isSeen(index + at)) continue;
          faults.push(...(await faultsOf(page, panel, screen, 'users' in settings ? 'user' : 'open')));
        }
    }
    t.deepEqual(faults, []);
  });

/** Starts a hub with the panels, in which an alarm waits, the microphone is open, and values have changed. Returns its port. */
async function startStudio(t: ExecutionContext, settings: object): Promise<number> {
  const files: Record<string, unknown> = {
    'api.json5': { connections: { api: { ...api, title: 'Studio 1', dashboards: 'dashboards', ...settings } } },
  };
  for (const name of await readdir(folder)) {
    const text = await readFile(join(folder, name), 'utf8');
    files[name === 'house.json5' ? name : `dashboards/${name}`] = text;
  }
  const hub = await startHubFrom(t, files);
  for (const isOpen of [true, false]) hub.write('studio/door-open', isOpen, writer);
  await eventually(() => hub.find('alarm/silence/state')?.value === 'unacknowledged');
  return hub.port;
}

/** Returns what is wrong with a panel on a screen, light and dark. */
async function faultsOf(
  page: Page,
  panel: string,
  [width, height, isForFingers = false]: Screen,
  kind: string,
): Promise<string[]> {
  const faults: string[] = [];
  await page.setViewportSize({ width, height });
  await page.evaluate("location.hash = '#/dashboards'");
  await page.locator('.panels a').first().waitFor();
  await page.evaluate(`location.hash = '#/dashboards?name=${panel}'`);
  await page.locator('.widget .lit >> text=ON AIR').waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    const what = `${panel} at ${width} × ${height}, ${colorScheme}, ${kind}`;
    await page.emulateMedia({ colorScheme });
    if (picturesFolder)
      await page.screenshot({ path: join(picturesFolder, `${panel}-${width}-${colorScheme}-${kind}.png`) });
    for (const expression of [look(isForFingers), cut, overlapping, ...halvesMs.map(pale)])
      for (const fault of await read<string[]>(page, expression)) faults.push(`${what}: ${fault}`);
  }
  return faults;
}

/** Reads something from a page once it is drawn and its link is up. */
function read<T>(page: Page, expression: string): Promise<T> {
  return page.evaluate<T>(`new Promise((resolve) => {
    let frames = 0;
    const look = () => {
      frames = document.querySelector('.banner') ? 0 : frames + 1;
      if (frames > 2) resolve(${expression});
      else requestAnimationFrame(look);
    };
    look();
  })`);
}
