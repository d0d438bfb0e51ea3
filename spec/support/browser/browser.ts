// Chromium without windows, as Debian has it.

import type { Browser } from 'playwright-core';
import { deadlineMs } from '../deadline.ts';
import { headlessPath, needs } from '../programs.ts';
import { chromium } from './chromium.ts';

needs('chromium-headless-shell');

/** Many files of specs share the processors: threads that compile and collect garbage beside a page gain nothing, and take a tenth more. */
const singleThreaded = '--js-flags=--single-threaded';
/** Each process of a Chromium reads its libraries and data anew, and talks to the others: drawing and network are in the first one. */
const fewProcesses = ['--in-process-gpu', '--enable-features=NetworkServiceInProcess2'];
const withoutGraphics = ['--disable-gpu', '--disable-software-rasterizer'];

/** Starts Chromium without a screen; `args` are further switches of its command line. Its pages wait as long as all specs do. */
export async function launchBrowser(...args: readonly string[]): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: headlessPath(),
    args: ['--no-sandbox', singleThreaded, ...fewProcesses, ...withoutGraphics, ...args],
  });
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(deadlineMs);
    return context;
  };
  return browser;
}
