// Pages that the tests of a file share, one after another.

import type { Page } from 'playwright-core';

/** What is opened when a test first asks for it. */
export function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined;
  return () => (opened ??= open());
}

/** Leads a page of the console that is open elsewhere: first to a view that keeps nothing of what was there. */
export async function goTo(page: Page, hash: string): Promise<void> {
  await page.evaluate(`location.hash = '#/connections'`);
  await page.getByRole('heading', { level: 1, name: 'Connections' }).waitFor();
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
}
