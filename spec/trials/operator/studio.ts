// A studio with two days of history and several faults, the setting of the operator's tasks.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { type Hub, startHub } from '../../../lib/hub/index.ts';
import { desktop } from '../../support/browser/console.ts';
import { createLogRecorder } from '../../support/connection.ts';
import { inTemporaryFolder } from '../../support/folder.ts';
import { api, portsOf, writer } from '../../support/hub.ts';
import { prepareStore } from '../../support/past/prepare.ts';
import { Hand } from '../editing/hand.ts';

export interface Studio {
  readonly hand: Hand;
  readonly hub: Hub;
  readonly port: number;
  /** The browser of another user. */
  readonly browser: Browser;
  read(name: string): Promise<string>;
}

const minuteMs = 60_000;
const users = {
  anna: { password: 'anna', read: ['**'], write: ['**'], edit: ['**'], dashboards: ['**'], manage: true },
  reception: { read: ['desk/**'], dashboards: ['door'] },
};
const door = {
  title: 'Door',
  columns: 2,
  widgets: [
    { type: 'lamp', label: 'Red light', address: 'desk/red-light', tone: 'danger' },
    { type: 'button', label: 'Mic', address: 'desk/mic' },
  ],
};

/** Runs work at a page of the console where Anna has signed in, at its start view. */
export async function atStudio<Result>(
  browser: Browser,
  deadlineMs: number,
  work: (studio: Studio) => Promise<Result>,
): Promise<Result> {
  return inTemporaryFolder('operator', async (folder) => {
    const { flow } = prepareStore({
      ...{ folder, parameters: 7, days: 2, everyMs: minuteMs, rawDays: 2, minuteDays: 2, port: 0, seed: 1 },
      endMs: Date.now(),
    });
    const { connections, rules } = JSON.parse(await readFile(flow, 'utf8'));
    const desk = ['mic,B,false', 'red-light,B,false', 'level,F,0', 'silent,B,false', 'title,S,', 'door,B,false'];
    await writeFile(
      flow,
      JSON.stringify({
        connections: {
          ...connections,
          api: { ...api, users, dashboards: 'panels', title: 'Studio 1' },
          desk: { type: 'dummy', parameters: desk },
          alarm: { type: 'alarms', alarms: { silence: { when: 'desk/silent', priority: 1, text: 'Silence on air' } } },
        },
        rules: [...rules, { name: 'door light', from: 'desk/mic', to: 'desk/red-light' }],
      }),
    );
    await mkdir(join(folder, 'panels'));
    await writeFile(join(folder, 'panels/door.json5'), JSON.stringify(door));
    const log = createLogRecorder();
    const hub = await startHub({ paths: [flow], log });
    const context = await browser.newContext({ viewport: desktop });
    context.setDefaultTimeout(deadlineMs);
    try {
      const page = await context.newPage();
      const [port = 0] = portsOf(log);
      const faults: Error[] = [];
      page.on('pageerror', (error) => faults.push(error));
      await page.goto(`http://127.0.0.1:${port}/hub/`);
      await page.getByLabel('User').fill('anna');
      await page.getByLabel('Password').fill('anna');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { level: 1, name: 'Start' }).waitFor();
      hub.write('desk/mic', true, writer);
      const result = await work({
        ...{ hand: new Hand(page), hub, port, browser },
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
