// The panel studio against a real hub: a panel made by mouse alone has afterwards the text that a person would have written.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import type { Locator, Page } from 'playwright-core';
import { expectAccessible } from '../support/browser/accessible.ts';
import { desktop, goTo, openConsole, phone, waitUntil } from '../support/browser/console.ts';
import { browser } from '../support/browser/own-browser.ts';
import { api, startHubFrom } from '../support/hub.ts';
import { shared } from '../support/shared.ts';

const entry = {
  connections: {
    api: { ...api, dashboards: 'dashboards' },
    desk: { type: 'dummy', parameters: ['mic,B,false', 'level,F,0', 'message,S,hello', 'bell,T', 'count,I,3'] },
    clock: { type: 'timer', timers: [1000] },
  },
};
const old = `// Kept by hand
{
  title: 'Old',
  columns: 4,
  widgets: [
    // over the door
    { type: 'lamp', label: 'Door', address: 'desk/mic', at: [1, 3] }, // red
    { type: 'value', address: 'desk/level', at: [2, 3] },
    { each: { n: ['level', 'count'] }, type: 'value', address: 'desk/\${n}', size: [1, 1] },
  ],
}
`;

const start = shared(async (t) => {
  const hub = await startHubFrom(t, { 'entry.json5': entry, 'dashboards/old.json5': old });
  const page = await openConsole(t, browser, hub.port, '#/dashboards');
  page.setDefaultTimeout(15_000);
  const read = (name: string) => readFile(join(hub.folder, 'dashboards', name), 'utf8');
  return { hub, page, read };
});

interface Cell {
  readonly column: number;
  readonly row: number;
}

/** The middle of a cell of the outer grid. */
async function cellAt(page: Page, { column, row }: Cell): Promise<{ x: number; y: number }> {
  const grid = page.locator('[data-list=widgets]');
  const box = (await grid.boundingBox())!;
  const [columns, rows] = await Promise.all(
    ['data-columns', 'data-rows'].map(async (name) => Number(await grid.getAttribute(name))),
  );
  return { x: box.x + (box.width / columns!) * (column - 0.5), y: box.y + (box.height / rows!) * (row - 0.5) };
}

async function dragTo(page: Page, from: Locator, to: { x: number; y: number }): Promise<void> {
  await from.hover();
  await page.mouse.down();
  await page.mouse.move(to.x, to.y, { steps: 4 });
  await page.mouse.up();
}

const parameter = (page: Page, address: string) => page.locator(`[data-address="${address}"]`);
const spot = (page: Page, path: string) => page.locator(`[data-path="${path}"]`);

async function save(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText(/^Saved/).waitFor();
}

test.serial('a panel of six widgets is made by mouse alone from nothing, and opens on a phone as well', async (t) => {
  const { hub, page, read } = await start();
  await page.getByRole('link', { name: '+ New panel' }).click();
  await page.getByLabel('Title').fill('Studio 1');
  await page.getByRole('button', { name: 'Create' }).click();
  const hint = page.getByText('Drag a parameter or a widget here');
  await hint.waitFor();
  await parameter(page, 'desk/mic').click();
  await hint.waitFor({ state: 'detached' });
  await dragTo(page, parameter(page, 'desk/bell'), await cellAt(page, { column: 2, row: 1 }));
  await dragTo(page, parameter(page, 'desk/level'), await cellAt(page, { column: 3, row: 1 }));
  await dragTo(page, parameter(page, 'desk/message'), await cellAt(page, { column: 4, row: 1 }));
  await dragTo(page, page.getByRole('button', { name: 'desk/mic as lamp' }), await cellAt(page, { column: 5, row: 2 }));
  await dragTo(page, page.locator('[data-kind=label]'), await cellAt(page, { column: 1, row: 3 }));
  await spot(page, 'widgets[3]').click();
  await dragTo(page, page.locator('.handle'), await cellAt(page, { column: 6, row: 1 }));
  await dragTo(page, spot(page, 'widgets[4]'), await cellAt(page, { column: 4, row: 2 }));
  await page.getByLabel('tone', { exact: true }).selectOption('danger');
  await page.getByText('hello').waitFor();
  await spot(page, 'widgets[0]').locator('button').click({ force: true });
  t.is(hub.find('desk/mic')?.value, false, 'a click in the studio writes nothing');
  await expectAccessible(t, page);
  await save(page);
  t.is(
    await read('studio-1.json5'),
    `{
  title: 'Studio 1',
  columns: 6,
  widgets: [
    { type: 'button', address: 'desk/mic', at: [1, 1] },
    { type: 'button', address: 'desk/bell', mode: 'fire', at: [2, 1] },
    { type: 'fader', address: 'desk/level', at: [3, 1], size: [1, 2] },
    { type: 'value', address: 'desk/message', at: [4, 1], size: [3, 1] },
    { type: 'lamp', address: 'desk/mic', tone: 'danger', at: [4, 2] },
    { type: 'label', label: 'Label', at: [1, 3] },
  ],
}
`,
  );
  const sharesOf = (widgets: string) =>
    page.evaluate<number[]>(
      `[...document.querySelectorAll('${widgets}')].map((one) => Math.round((2 * one.offsetWidth) / one.parentElement.offsetWidth))`,
    );
  await page.getByRole('button', { name: 'phone', exact: true }).click();
  const previewed = await sharesOf('.screen .spot');
  await page.getByRole('link', { name: 'Open', exact: true }).click();
  await page.locator('.panel-page .widget.fader').waitFor();
  await page.setViewportSize(phone);
  t.deepEqual(await sharesOf('.panel-page .widget'), previewed, 'each widget is as wide as in the preview');
  t.is(previewed[2], 2, 'a fader takes both columns');
  t.is(await page.locator('.panel-page .widget').count(), 6);
  const isWide = "document.querySelector('.panel-page').scrollWidth > innerWidth";
  t.false(await page.evaluate(isWide));
  await page.setViewportSize(desktop);
});

test.serial('keys move, resize, copy, remove and undo; widgets are grouped with their comments', async (t) => {
  const { page, read } = await start();
  await goTo(page, '#/studio?name=old');
  await spot(page, 'widgets[0]').click();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('ControlOrMeta+d');
  await spot(page, 'widgets[3]').waitFor();
  await page.keyboard.press('Delete');
  await page.keyboard.press('ControlOrMeta+z');
  await page.keyboard.press('ControlOrMeta+z');
  await waitUntil(page, async () => (await spot(page, 'widgets[3]').count()) === 0);
  await page.getByText('JSON5', { exact: true }).click();
  const text = page.getByLabel('JSON5 of the panel');
  const moved = old.replace('at: [1, 3] }, // red', 'at: [1, 4], size: [2, 1] }, // red');
  await waitUntil(page, async () => (await text.inputValue()) === moved);
  await spot(page, 'widgets[1]').click();
  await spot(page, 'widgets[0]').click({ modifiers: ['Shift'] });
  await page.getByRole('button', { name: 'Group', exact: true }).click();
  await page.getByLabel('label', { exact: true }).fill('Both');
  const grouped = `    { type: 'group', label: 'Both', at: [1, 3], size: [2, 2], widgets: [
      // over the door
      { type: 'lamp', label: 'Door', address: 'desk/mic', at: [1, 2], size: [2, 1] }, // red
      { type: 'value', address: 'desk/level', at: [2, 1] },
    ] },
`;
  await waitUntil(page, async () => (await text.inputValue()).includes(grouped));
  await page.getByLabel('label', { exact: true }).fill('x'.repeat(20));
  await page.keyboard.press('Escape');
  await save(page);
  t.true((await read('old.json5')).startsWith('// Kept by hand\n'));
});

test.serial(
  'tabs: made, named, filled, ordered and removed by mouse; undo and redo give the same text again',
  async (t) => {
    const { page, read } = await start();
    await goTo(page, '#/studio?name=tabbed&title=Tabbed');
    await page.locator('[data-kind=tabs]').click();
    await spot(page, 'widgets[0]').waitFor();
    await dragTo(page, page.locator('.handle'), await cellAt(page, { column: 4, row: 3 }));
    await page.getByRole('button', { name: 'Add a tab' }).click();
    await page.getByLabel('Name of tab 2').fill('Doors');
    await page.getByRole('button', { name: 'Doors', pressed: true }).waitFor();
    const into = async (path: string, address: string) => {
      const box = (await page.locator(`[data-list="${path}"]`).boundingBox())!;
      await dragTo(page, parameter(page, address), { x: box.x + 20, y: box.y + 20 });
      await spot(page, `${path}[0]`).waitFor();
    };
    await into('widgets[0].tabs[1].widgets', 'desk/mic');
    await page.getByRole('button', { name: 'Tab 1', exact: true }).click();
    await page.locator('[data-kind=group]').hover();
    const first = (await page.locator('[data-list="widgets[0].tabs[0].widgets"]').boundingBox())!;
    await dragTo(page, page.locator('[data-kind=group]'), { x: first.x + 20, y: first.y + 20 });
    await spot(page, 'widgets[0].tabs[0].widgets[0]').waitFor();
    await into('widgets[0].tabs[0].widgets[0].widgets', 'desk/level');
    await spot(page, 'widgets[0]').focus();
    await page.getByRole('button', { name: 'Move tab 2 to the left' }).click();
    await expectAccessible(t, page);
    await save(page);
    const made = await read('tabbed.json5');
    t.is(
      made,
      `{
  title: 'Tabbed',
  columns: 6,
  widgets: [
    { type: 'tabs', at: [1, 1], size: [4, 3], tabs: [
      { label: 'Doors', widgets: [
        { type: 'button', address: 'desk/mic', at: [1, 1] },
      ] },
      { label: 'Tab 1', widgets: [
        { type: 'group', at: [1, 1], size: [2, 2], widgets: [
          { type: 'fader', address: 'desk/level', at: [1, 1], size: [1, 2] },
        ] },
      ] },
    ] },
  ],
}
`,
    );
    await spot(page, 'widgets[0]').focus();
    await page.getByRole('button', { name: 'Remove tab 1 and its widgets' }).click();
    await page.getByRole('button', { name: 'Doors', exact: true }).waitFor({ state: 'detached' });
    await page.getByText('JSON5', { exact: true }).click();
    const text = page.getByLabel('JSON5 of the panel');
    const shows = (wanted: string) => waitUntil(page, async () => (await text.inputValue()) === wanted);
    await waitUntil(page, async () => !(await text.inputValue()).includes('Doors'));
    const without = await text.inputValue();
    await page.getByRole('button', { name: 'Undo' }).click();
    await shows(made);
    await page.getByRole('button', { name: 'Redo' }).click();
    await shows(without);
    await page.getByRole('button', { name: 'Undo' }).click();
    await shows(made);
    await spot(page, 'widgets[0]').focus();
    await page.getByRole('button', { name: 'Tab 1', exact: true }).click();
    await spot(page, 'widgets[0].tabs[1].widgets[0]').focus();
    await page.getByRole('button', { name: 'Ungroup' }).click();
    await spot(page, 'widgets[0].tabs[1].widgets[0]').and(page.locator('[data-type=fader]')).waitFor();
    await save(page);
    t.true((await read('tabbed.json5')).includes("{ type: 'fader', address: 'desk/level', at: [1, 1], size: [1, 2] }"));
    t.false((await read('tabbed.json5')).includes('group'));
  },
);

test.serial(
  'a panel is shown as on each screen: as large as fits, in its proportions, and the phone reorders it',
  async (t) => {
    const { page } = await start();
    await goTo(page, '#/studio?name=tabbed');
    await spot(page, 'widgets[0]').waitFor();
    const sizeOf = (name: string) =>
      page
        .locator(name)
        .evaluate((one: { offsetWidth: number; offsetHeight: number }) => [one.offsetWidth, one.offsetHeight]);
    for (const [name, size] of [
      ['phone', [390, 844]],
      ['tablet', [1180, 820]],
      ['1080p', [1920, 1080]],
      ['4K', [3840, 2160]],
    ] as const) {
      await page.getByRole('button', { name, exact: true }).click();
      t.deepEqual(await sizeOf('.screen'), size, name);
      const shown = (await page.locator('.screen').boundingBox())!;
      const stage = (await page.locator('.stage').boundingBox())!;
      t.true(shown.width <= stage.width && shown.height <= stage.height, `${name} fits`);
      t.true(Math.abs(shown.width / shown.height - size[0] / size[1]) < 0.02, `${name} keeps its proportions`);
    }
    await page.getByRole('button', { name: 'phone', exact: true }).click();
    t.is(await page.locator('.handle').count(), 0, 'on a phone the order of the file counts');
    await page.getByRole('button', { name: 'fit' }).click();
  },
);

test.serial('a panel is deleted after a question', async (t) => {
  const { page, read } = await start();
  await goTo(page, '#/studio?name=tabbed');
  const text = await read('tabbed.json5');
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  t.is(await read('tabbed.json5'), text);
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('button', { name: 'Delete the panel' }).click();
  await page.getByRole('heading', { level: 1, name: 'Dashboards' }).waitFor();
  await t.throwsAsync(read('tabbed.json5'), { code: 'ENOENT' });
  await waitUntil(page, async () => (await page.getByRole('link', { name: /Tabbed/ }).count()) === 0);
});

test.serial('an error is at its field, others are merged or shown, and leaving asks', async (t) => {
  const { hub, page, read } = await start();
  const file = join(hub.folder, 'dashboards', 'old.json5');
  await writeFile(file, old);
  await goTo(page, '#/studio?name=old');
  await spot(page, 'widgets[1]').click();
  await page.getByLabel('digits').fill('9');
  await page.locator('.setting .error', { hasText: 'expected an integer 0..6' }).waitFor();
  t.true(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled());
  await page.getByLabel('digits').fill('2');
  await writeFile(file, old.replace("'Door'", "'Gate'"));
  await save(page);
  t.true((await read('old.json5')).includes("'Gate'") && (await read('old.json5')).includes('digits: 2'));
  await writeFile(file, (await read('old.json5')).replace("'Gate'", "'Theirs'"));
  await spot(page, 'widgets[0]').click();
  await page.getByLabel('label', { exact: true }).fill('Mine');
  await page.getByText('Somebody else has changed the same part').waitFor();
  await page.evaluate("location.hash = '#/log'");
  await page.getByRole('button', { name: 'Cancel' }).click();
  t.true(page.url().endsWith('#/studio?name=old'));
  await page.getByRole('button', { name: /Save mine instead/ }).click();
  await page.getByText('Somebody else has changed the same part').waitFor({ state: 'detached' });
  await save(page);
  t.true((await read('old.json5')).includes("'Mine'"));
  await spot(page, 'widgets[0]').click();
  await page.keyboard.press('Delete');
  await page.evaluate("location.hash = '#/log'");
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await page.getByRole('heading', { level: 1, name: 'Log' }).waitFor();
});
