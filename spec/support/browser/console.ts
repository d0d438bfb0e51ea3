// The console in Chromium: a page in which nothing may fail and that may ask nobody but the hub.

import type { ExecutionContext } from 'ava';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { deadlineMs, eventually } from '../deadline.ts';

/** How long something may take to be seen. */
export const deadline = { timeout: deadlineMs };

export const desktop = { width: 1280, height: 800 };
export const phone = { width: 390, height: 844 };

/** Opens the console of the hub at a port, `openConsole(t, browser, 17011, '#/log')`; the page is closed with the test. */
export async function openConsole(
  t: ExecutionContext,
  browser: Browser,
  port: number,
  hash = '',
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext({ viewport: desktop, reducedMotion: 'no-preference', ...options });
  const faults: string[] = [];
  t.teardown(async () => {
    await context.close();
    if (faults.length > 0) throw new Error(faults.join('\n'));
  });
  const page = await context.newPage();
  const host = `127.0.0.1:${port}`;
  page.on('pageerror', (error) => faults.push(`the page failed: ${error.stack}`));
  page.on('console', (message) => {
    if (/content security policy/i.test(message.text())) faults.push(message.text());
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (/^(https?|wss?):$/.test(url.protocol) && url.host !== host) faults.push(`the console asks ${url}`);
  });
  await page.goto(`http://${host}/hub/${hash}`);
  t.is(new URL(page.url()).host, host);
  return page;
}

/** Leads a page of the console that is open elsewhere: first to a view that keeps nothing of what was there. */
export async function goTo(page: Page, hash: string): Promise<void> {
  await page.evaluate(`location.hash = '#/connections'`);
  await page.getByRole('heading', { level: 1, name: 'Connections' }).waitFor();
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
}

/** Signs in on the page to which the console leads whoever is not known, and waits until it is open. */
export async function signIn(page: Page, user: string, password: string): Promise<void> {
  await page.getByLabel('User').fill(user);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByTitle(`Sign out ${user}`).waitFor();
}

/**
 * Waits until an expression holds in a page, or something is so that the page leads to; `waitForFunction` of the library would
 * evaluate the expression where the page forbids that.
 */
export function waitUntil(page: Page, isSo: string | (() => boolean | Promise<boolean>)): Promise<void> {
  return eventually(typeof isSo === 'string' ? () => page.evaluate<boolean>(isSo) : isSo, String(isSo));
}
