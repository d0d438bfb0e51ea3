// The pages that READMEs tell people to open, in Chromium, at the demo of a clone.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { browser } from './support/browser/own-browser.ts';
import { eventually } from './support/deadline.ts';
import { blocksOf, createClone, save } from './support/repository/readme.ts';
import { shared } from './support/shared.ts';
import { freePort } from './support/system/port.ts';
import { start } from './support/system/process.ts';

/** The demo of a clone with a Document Root, and a page, which may meet no fault. */
const demo = shared(async (t) => {
  const clone = await createClone(t, await freePort());
  const { folder } = clone;
  const file = join(folder, 'flows/demo.json5');
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace("dashboards: 'dashboards'", "dashboards: 'dashboards', documentRoot: 'www'"));
  await mkdir(join(folder, 'flows/www'));
  const args = ['run', 'flows/demo.json5', '--log-format', 'json'];
  await start(t, args, { program: join(folder, 'lib/main.ts'), folder }).shows(/patchbay \S+ started with/);
  return { clone, page: await openPage(t) };
});

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

test.serial('README.md: each address to open shows the described page', async (t) => {
  const { clone, page } = await demo();
  const readme = clone.text('README.md');
  for (const block of blocksOf(readme)) if (block.text.startsWith('// flows/dashboards/')) await save(t, clone, block);
  const [studio, flows, console, door, ...others] = [...readme.matchAll(/<(http:\/\/localhost:[^>]*)>/g)].map(
    ([, url]) => url!,
  );
  t.deepEqual(others, []);

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
  await page.getByRole('heading', { name: 'Start', exact: true }).waitFor();
  await page.getByRole('link', { name: 'Connections' }).first().click();
  await page.getByText('clock').first().waitFor();

  await page.goto(door!);
  await page.getByRole('button', { name: 'Ring' }).click();
  await page.locator('.widget.lamp [data-state=on]').waitFor();
});

const pages: readonly (readonly [readme: string, tried: string, set: string])[] = [
  ['docs/api.md', 'On air', 'desk/mic-open'],
  ['docs/client.md', 'Switch', 'desk/door-lamp'],
];
const readmes = pages.map(([readme]) => readme);

test.serial(
  `${readmes.join(', ')}: the page is served from the Document Root, shows values and sets one`,
  async (t) => {
    const { clone, page } = await demo();
    for (const [readme, tried, set] of pages) {
      const { text } = blocksOf(clone.text(readme)).find(({ language }) => language === 'html')!;
      await writeFile(join(clone.folder, 'flows/www/index.html'), text);
      const becomes = async (value: string) => {
        const isSo = async () => (await (await fetch(`${clone.url}/parameters/${set}`)).text()) === value;
        await t.notThrowsAsync(eventually(isSo, `${set} is ${value}`));
      };
      await becomes('false'); // the doorbell may have lit the lamp
      await page.goto(clone.url);
      const shown = page.locator('output');
      const before = (await shown.filter({ hasText: /^(true|false|on|off)$/ }).textContent())!;
      await page.getByRole('button', { name: tried }).click();
      await shown.filter({ hasNotText: before }).waitFor();
      await becomes('true');
    }
  },
);
