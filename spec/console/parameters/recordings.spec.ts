// The line of a pinned parameter: while the page has no news it ends, and then goes on elsewhere.

import test from 'ava';
import { openConsole, waitUntil } from '../../support/browser/console.ts';
import { browser } from '../../support/browser/own-browser.ts';
import { api, startTestHub } from '../../support/hub.ts';
import { openNetwork } from '../../support/system/network.ts';

/** The parts of the line: where each begins and ends; the last 60 s are 120 wide. */
const parts = `(document.querySelector('.sparkline path')?.getAttribute('d') ?? '').split('M').slice(1)
  .map((part) => [parseFloat(part), ...[...part.matchAll(/H([0-9.]+)/g)].map(([, x]) => Number(x))])
  .map((xs) => [xs[0], xs.at(-1)])`;

test('nothing is drawn for a time without reports of the hub', async (t) => {
  const desk = { type: 'dummy', parameters: ['level,F,0.5'] };
  const hub = await startTestHub(t, { connections: { api, desk } });
  const network = await openNetwork(t, hub.port);
  const page = await openConsole(t, browser, network.port, '#/parameters?address=desk/level');
  await page.getByRole('button', { name: 'Pin' }).click();
  await waitUntil(page, `(${parts}).some(([, to]) => to > 119)`);
  network.freeze();
  await waitUntil(page, `(${parts}).length === 1 && (${parts})[0][1] < 119`);
  network.thaw();
  await waitUntil(page, `(${parts}).length === 2 && (${parts})[1][1] > 119`);
  const [[, end], [begin]] = (await page.evaluate(parts)) as [[number, number], [number, number]];
  t.true(begin - end > 0.4, `${end} to ${begin}`);
});
