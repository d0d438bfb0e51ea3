// Chromium for the tests of a process: whoever imports it has one, from before the first test until after the last.

import assert from 'node:assert/strict';
import test, { type ExecutionContext } from 'ava';
import type { Browser } from 'playwright-core';
import { launchBrowser } from './browser.ts';

export let browser: Browser;

test.before(async () => {
  browser = await launchBrowser();
});

const closings: (() => unknown)[] = [];
test.after.always(async () => {
  try {
    for (const close of closings.reverse()) await close();
  } finally {
    await browser?.close();
  }
});

/** Stands for all tests of the process where one of them would open something for itself: it is closed before the browser is. */
export const forAll = {
  is: assert.equal,
  teardown: (close: () => unknown) => void closings.push(close),
} as unknown as ExecutionContext;
