// Chromium for the tests of a process: whoever imports it has one, from before the first test until after the last.

import test from 'ava';
import type { Browser } from 'playwright-core';
import { launchBrowser } from './browser.ts';

export let browser: Browser;

test.before(async () => {
  browser = await launchBrowser();
});
test.after.always(() => browser?.close());
