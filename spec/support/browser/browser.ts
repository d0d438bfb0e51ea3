// Chromium without windows, as Debian has it.

import { type Browser, chromium } from 'playwright-core';
import { headlessPath, needs } from '../programs.ts';

needs('chromium-headless-shell');

/** Starts Chromium without a screen; `args` are further switches of its command line. */
export function launchBrowser(...args: readonly string[]): Promise<Browser> {
  return chromium.launch({ executablePath: headlessPath(), args: ['--no-sandbox', '--disable-gpu', ...args] });
}
