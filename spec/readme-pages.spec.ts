// The pages that READMEs tell people to open, in Chromium, at the demo of a clone.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { browser } from './support/browser/own-browser.ts';
import { eventually } from './support/deadline.ts';
import { blocksOf, type Clone, createClone, save } from './support/repository/readme.ts';
import { freePort } from './support/system/port.ts';
import { start } from './support/system/process.ts';

async function startDemo(t: ExecutionContext, { folder }: Clone): Promise<void> {
  const args = ['run', 'flows/demo.json5', '--log-format', 'json'];
  await start(t, args, { program: join(folder, 'lib/main.ts'), folder }).shows(/patchbay \S+ runs/);
}

/** A page that may meet no fault. */
async function openPage(t: ExecutionContext) {
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  t.teardown(async () => {
    await page.close();
    if (faults.length > 0) throw new Error(faults.join('\n'));
  });
  page.setDefaultTimeout(30_000);
  return page;
}

test('README.md: each address that it tells people to open shows what it says', async (t) => {
  const clone = await createClone(t, await freePort());
  const readme = clone.text('README.md');
  for (const block of blocksOf(readme)) if (block.text.startsWith('// flows/dashboards/')) await save(t, clone, block);
  await startDemo(t, clone);
  const [studio, flows, console, door, ...others] = [...readme.matchAll(/<(http:\/\/localhost:[^>]*)>/g)].map(
    ([, url]) => url!,
  );
  t.deepEqual(others, []);

  const page = await openPage(t);
  await page.goto(studio!);
  const light = page.locator('.widget.lamp', { hasText: 'ON AIR' });
  await light.locator('[data-state=off]').waitFor();
  await page.getByRole('button', { name: 'Mic', exact: true }).click();
  await light.locator('[data-state=on]').waitFor();
  await page.getByRole('button', { name: 'Mic', exact: true }).click();
  await light.locator('[data-state=off]').waitFor();

  await page.goto(flows!);
  await page.getByText('doorbell lights the lamp').first().waitFor();
  await page.goto(console!);
  await page.getByText('clock').first().waitFor();

  await page.goto(door!);
  await page.getByRole('button', { name: 'Ring' }).click();
  await page.locator('.widget.lamp [data-state=on]').waitFor();
});

const pages: readonly (readonly [readme: string, tried: string, set: string])[] = [
  ['lib/connections/rest-api/README.md', 'On air', 'desk/mic-open'],
  ['lib/client/README.md', 'Switch', 'desk/door-lamp'],
];
const readmes = pages.map(([readme]) => readme);

test(`${readmes.join(', ')}: the page is served from the Document Root, shows values and sets one`, async (t) => {
  const clone = await createClone(t, await freePort());
  const demo = join(clone.folder, 'flows/demo.json5');
  const text = await readFile(demo, 'utf8');
  await writeFile(demo, text.replace("dashboards: 'dashboards'", "dashboards: 'dashboards', documentRoot: 'www'"));
  await mkdir(join(clone.folder, 'flows/www'));
  await startDemo(t, clone);
  const tab = await openPage(t);
  for (const [readme, tried, set] of pages) {
    const page = blocksOf(clone.text(readme)).find(({ language }) => language === 'html')!;
    await writeFile(join(clone.folder, 'flows/www/index.html'), page.text);
    await tab.goto(clone.url);
    const shown = tab.locator('output');
    const before = (await shown.filter({ hasText: /^(true|false|on|off)$/ }).textContent())!;
    await tab.getByRole('button', { name: tried }).click();
    await shown.filter({ hasNotText: before }).waitFor();
    const value = () => fetch(`${clone.url}/parameters/${set}`).then((answer) => answer.text());
    await t.notThrowsAsync(eventually(async () => (await value()) === 'true', `${set} is true`));
  }
});
