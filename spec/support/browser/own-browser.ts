// Chromium for the tests of a process: whoever imports it has one, from before the first test until after the last.

import test from 'ava';
import type { Browser } from 'playwright-core';
import { endShared } from '../shared.ts';
import { launchBrowser } from './browser.ts';

export let browser: Browser;

test.before(async () => {
  browser = await launchBrowser();
});
test.after.always(async () => {
  try {
    await endShared();
  } finally {
    await browser?.close();
  }
});
