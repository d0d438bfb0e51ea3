// The pages that READMEs tell people to open, in Chromium, at the demo of a clone.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { browser } from './support/browser/own-browser.ts';
import { blocksOf, type Clone, createClone, save } from './support/repository/readme.ts';
import { freePort } from './support/system/port.ts';
import { start } from './support/system/process.ts';

async function startDemo(t: ExecutionContext, { folder }: Clone): Promise<void> {
  const args = ['run', 'flows/demo.json5', '--log-format', 'json'];
  await start(t, args, { program: join(folder, 'lib/main.ts'), folder }).shows(/patchbay \S+ runs/);
}

async function open(t: ExecutionContext, url: string) {
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  t.teardown(async () => {
    await page.close();
    if (faults.length > 0) throw new Error(faults.join('\n'));
  });
  page.setDefaultTimeout(30_000);
  await page.goto(url);
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

  const panel = await open(t, studio!);
  const light = panel.locator('.widget.lamp', { hasText: 'ON AIR' });
  await light.locator('[data-state=off]').waitFor();
  await panel.getByRole('button', { name: 'Mic', exact: true }).click();
  await light.locator('[data-state=on]').waitFor();
  await panel.getByRole('button', { name: 'Mic', exact: true }).click();
  await light.locator('[data-state=off]').waitFor();

  await (await open(t, flows!)).getByText('doorbell lights the lamp').first().waitFor();
  await (await open(t, console!)).getByText('clock').first().waitFor();

  const small = await open(t, door!);
  await small.getByRole('button', { name: 'Ring' }).click();
  await small.locator('.widget.lamp [data-state=on]').waitFor();
});

for (const [readme, tried] of [
  ['lib/connections/rest-api/README.md', 'On air'],
  ['lib/client/README.md', 'Switch'],
] as const)
  test(`${readme}: its page is served from the Document Root, shows values and sets one`, async (t) => {
    const clone = await createClone(t, await freePort());
    const demo = join(clone.folder, 'flows/demo.json5');
    const text = await readFile(demo, 'utf8');
    await writeFile(demo, text.replace("dashboards: 'dashboards'", "dashboards: 'dashboards', documentRoot: 'www'"));
    await mkdir(join(clone.folder, 'flows/www'));
    const page = blocksOf(clone.text(readme)).find(({ language }) => language === 'html')!;
    await writeFile(join(clone.folder, 'flows/www/index.html'), page.text);
    await startDemo(t, clone);
    const tab = await open(t, clone.url);
    const shown = tab.locator('output');
    const before = (await shown.filter({ hasText: /^(true|false|on|off)$/ }).textContent())!;
    await tab.getByRole('button', { name: tried }).click();
    await shown.filter({ hasNotText: before }).waitFor();
    const value = (address: string) => fetch(`${clone.url}/parameters/${address}`).then((answer) => answer.text());
    t.true([await value('desk/mic-open'), await value('desk/door-lamp')].includes('true'));
  });
