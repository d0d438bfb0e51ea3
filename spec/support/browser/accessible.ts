// What axe-core finds wrong with a page, as far as it is serious.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { ExecutionContext } from 'ava';
import type axe from 'axe-core';
import type { Page } from 'playwright-core';

/** As it is for browsers: Node.js need not compile it. */
const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Has `axe` be there for the code of a page. */
export async function putAxe(page: Page): Promise<void> {
  if (!(await page.evaluate(`'axe' in globalThis`))) await page.evaluate(source);
}

/** What `axe.run` is given: one rule that takes long finds nothing that is more than moderate. */
export const axeOptions = JSON.stringify({
  resultTypes: ['violations'],
  selectors: false,
  preload: false,
  rules: { region: { enabled: false } },
});

/** Returns every serious or critical issue of what is seen: `color-contrast: <output>…`. */
async function seriousFaults(page: Page): Promise<string[]> {
  await putAxe(page);
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${axeOptions})`);
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  return serious.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

/** Fails with every serious or critical issue of what is seen. */
export async function expectAccessible(t: ExecutionContext, page: Page): Promise<void> {
  t.deepEqual(await seriousFaults(page), []);
}
