// What axe-core finds wrong with a page, as far as it is serious.

import type { ExecutionContext } from 'ava';
import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Fails with every serious or critical issue of what is seen. */
export async function expectAccessible(t: ExecutionContext, page: Page): Promise<void> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<axe.AxeResults>('axe.run()');
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  t.deepEqual(
    serious.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`)),
    [],
  );
}
