// Chromium, as Debian has it.

import { type Browser, chromium } from 'playwright-core';
import { chromiumPath, needs } from '../programs.ts';

needs('chromium');

/** Starts Chromium without a screen; `args` are further switches of its command line. */
export function launchBrowser(...args: readonly string[]): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox', '--disable-gpu', ...args] });
}
