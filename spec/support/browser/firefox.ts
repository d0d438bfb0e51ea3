// The Firefox of the machine without a screen, by WebDriver BiDi: pages of playwright, as in Chromium. It starts in about five seconds, too
// long for specs.

import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Browser, firefox } from 'playwright-core';
import { needs, pathOf } from '../programs.ts';

const relay = join(import.meta.dirname, 'firefox-relay.ts');
const startMs = 120_000;
const names = ['firefox-esr', 'firefox'];

/** Starts Firefox; `folder` is a temporary one, for the script that playwright starts. Errors: there is none. */
export async function launchFirefox(folder: string): Promise<Browser> {
  needs('firefox');
  const program = names.map(pathOf).find((path) => path !== undefined)!;
  const script = join(folder, 'firefox.sh');
  await writeFile(script, `#!/bin/sh\nexec '${process.execPath}' '${relay}' '${program}' "$@"\n`);
  await chmod(script, 0o700);
  return firefox.launch({ channel: 'moz-firefox', executablePath: script, timeout: startMs });
}
