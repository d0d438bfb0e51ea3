// How the views look, light on a desk and dark on a phone: none fails, none is wider than the page, and axe finds nothing serious.
// With SCREENSHOTS=<folder> the spec keeps pictures for people to look at, also dark on a desk and light on a phone.

import { join } from 'node:path';
import test from 'ava';
import type axe from 'axe-core';
import type { Page } from 'playwright-core';
import { axeOptions, putAxe } from '../support/browser/accessible.ts';
import { desktop, openConsole, phone, signIn } from '../support/browser/console.ts';
import { browser } from '../support/browser/own-browser.ts';
import { api, startHubFrom, writer } from '../support/hub.ts';
import { shared } from '../support/shared.ts';

const { SCREENSHOTS: picturesFolder } = process.env;

const users = {
  root: { password: 'root', read: ['**'], write: ['**'], manage: true, edit: ['**'] },
  desk: {
    token: 'desk',
    read: ['desk/**', 'store/**'],
    write: ['desk/mic*', 'store/studio/recall'],
    deny: ['desk/go'],
  },
};
const flow = {
  connections: {
    api: { ...api, dashboards: 'dashboards', users },
    desk: {
      type: 'dummy',
      description: 'Studio 1 desk',
      parameters: ['mic-open,B,true', 'lamp,B,true', 'level,F,0.5', 'take,I,3', 'go,T', 'title,S,Morning show'],
    },
    rack: {
      type: 'dummy',
      parameters: Array.from({ length: 300 }, (_, index) => `unit-${index % 10}/meter-${index},F,0`),
    },
    onair: { type: 'xml-file-output', description: 'on-air page', filename: 'onair.xml', template: '<a></b>' },
    store: { type: 'store', folder: './data', snapshots: { studio: { include: ['desk/**'] } } },
    opening: {
      type: 'schedule',
      zone: 'UTC',
      entries: { office: { days: 'mon-fri', from: '06:00', to: '22:00' }, gong: { at: '*:00' } },
    },
    spare: { type: 'dummy', enabled: false, parameters: ['lamp,B'] },
    clock: { type: 'timer', timers: [1000], pulses: [{ interval: 500 }] },
  },
  rules: [{ name: 'lamp follows the microphone', from: 'desk/mic-open', to: 'desk/lamp' }],
};

const wall = {
  columns: 4,
  widgets: [
    { type: 'label', label: 'Studio 1' },
    { type: 'lamp', label: 'On air', address: 'desk/lamp', tone: 'danger' },
    { type: 'button', label: 'Mic', address: 'desk/mic-open', tone: 'ok' },
    { type: 'button', label: 'Go', address: 'desk/go', mode: 'fire' },
    { type: 'value', label: 'Level', address: 'desk/level', zones: [{ from: 0.4, tone: 'warning' }] },
    { type: 'fader', label: 'Level', address: 'desk/level', size: [1, 2] },
    { type: 'meter', label: 'Level', address: 'desk/level' },
    { type: 'plot', label: 'Level', addresses: ['desk/level'] },
    { type: 'group', label: 'Gone', widgets: [{ type: 'lamp', address: 'desk/gone' }] },
  ],
};

/** The pages to look at, and what has to be there first. */
const sights: [name: string, hash: string, ready: string][] = [
  ['start', '#/start', '.start .panel'],
  ['alarms', '#/alarms', 'h1'],
  ['schedule', '#/schedule?entry=opening/office', '.next-times li'],
  ['rights', '#/users?as=matrix', '[data-rights]'],
  ['connections', '#/connections', '[data-connection=spare]'],
  ['parameters', '#/parameters', '[data-address="desk/level"] .value >> text=0.5'],
  ['tree', '#/parameters?as=tree&search=desk', '[data-address="desk/level"] .value >> text=0.5'],
  ['parameter', '#/parameters?search=desk&address=desk/level', '.detail canvas'],
  ['log', '#/log', '.entry'],
  ['clients', '#/clients', '[data-client]'],
  ['users', '#/users', '[data-device]'],
  ['flows', '#/flows?as=graph', '.box output >> text=true'],
  ['rule', '#/flows?as=list&rule=lamp follows the microphone', '.runs ol'],
  ['why', '#/why?address=desk/lamp', '.cause'],
  ['history', '#/history?address=desk/take', '.event'],
  ['audit', '#/audit', '[data-entry]'],
  ['snapshots', '#/snapshots?selection=studio&name=evening', '.comparison'],
  ['dashboards', '#/dashboards', '.panels a'],
  ['studio', '#/studio?name=wall', '.spot .widget output >> text=0.5'],
  ['dashboard', '#/dashboards?name=wall', '.widget output >> text=0.5'],
];

const looks = [
  [desktop, 'light'],
  [phone, 'dark'],
  [desktop, 'dark'],
  [phone, 'light'],
] as const;

const open = shared(async (t) => {
  const hub = await startHubFrom(t, { 'flow.json5': flow, 'dashboards/wall.json5': wall });
  hub.write('desk/take', 4, writer);
  hub.write('store/studio/save', 'evening', writer);
  const page = await openConsole(t, browser, hub.port, '', { colorScheme: 'light' });
  await signIn(page, 'root', 'root');
  await putAxe(page);
  return page;
});

const chosenLooks = picturesFolder ? looks : looks.slice(0, 2);
test.serial(
  `every view at ${chosenLooks.map(([{ width }, scheme]) => `${width}, ${scheme}`).join(', and at ')}`,
  async (t) => {
    const page = await open();
    const looksInTurn = [...chosenLooks];
    for (const [name, hash, ready] of sights) {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
      for (const [viewport, colorScheme] of looksInTurn) {
        await putOn(page, viewport, colorScheme);
        await page.locator(ready).first().waitFor();
        const { faults, width, gapPx } = await findings(page);
        t.deepEqual(faults, [], name);
        t.is(width, viewport.width, `${name} is too wide`);
        t.true(gapPx < 2, `${name}: the rows do not begin below their head`);
        await keepPicture(page, `${name}-${viewport.width}-${colorScheme}`);
      }
      looksInTurn.reverse(); // the next view begins as this one ended
    }
    await page.evaluate("location.hash = '#/connections'");
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    for (const [viewport, colorScheme] of looksInTurn) {
      await putOn(page, viewport, colorScheme);
      t.deepEqual((await findings(page)).faults, [], 'help');
    }
    await page.keyboard.press('Escape');
  },
);

/** Has the page a size and colours. */
async function putOn(page: Page, viewport: typeof desktop, colorScheme: 'light' | 'dark'): Promise<void> {
  await Promise.all([page.setViewportSize(viewport), page.emulateMedia({ colorScheme })]);
}

/**
 * Returns what axe finds serious or critical, how wide the page is, and how many pixels are between the head of the list of
 * parameters and its rows, 0 without such a list. It looks once the page is drawn and its link is up.
 */
async function findings(page: Page): Promise<{ faults: string[]; width: number; gapPx: number }> {
  const { wasStale, violations, width, gapPx } = (await page.evaluate(`(async () => {
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    let wasStale = false;
    const look = () => (wasStale ||= document.querySelector('.banner') !== null);
    const observer = new MutationObserver(look);
    observer.observe(document.body, { childList: true, subtree: true });
    look();
    const { violations } = await axe.run(${axeOptions});
    observer.disconnect();
    const rows = document.querySelector('.scroll > .rows');
    const head = document.querySelector('.row.head')?.getClientRects()[0]; // a phone shows none
    const gapPx = rows && head ? Math.abs(rows.getBoundingClientRect().top - head.bottom) : 0;
    return { wasStale, violations, width: document.documentElement.scrollWidth, gapPx };
  })()`)) as Pick<axe.AxeResults, 'violations'> & { wasStale: boolean; width: number; gapPx: number };
  if (wasStale) {
    await page.locator('.banner').waitFor({ state: 'detached' });
    return findings(page); // values were pale meanwhile
  }
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  return { faults: serious.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`)), width, gapPx };
}

async function keepPicture(page: Page, name: string): Promise<void> {
  if (picturesFolder) await page.screenshot({ path: join(picturesFolder, `${name}.png`) });
}

test.serial('the colours are chosen by hand, and the choice is kept', async (t) => {
  const page = await open();
  await putOn(page, desktop, 'light');
  const background = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
  await page.getByRole('button', { name: 'Colours: system' }).click();
  await page.getByRole('button', { name: 'Colours: light' }).click();
  await page.getByRole('button', { name: 'Colours: dark' }).waitFor();
  const dark = await background();
  await page.reload();
  await page.getByRole('button', { name: 'Colours: dark' }).waitFor();
  t.is(await background(), dark);
  await page.getByRole('button', { name: 'Colours: dark' }).click();
  t.not(await background(), dark);
});
