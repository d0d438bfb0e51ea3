// The parameters view against a real hub with 100,000 parameters.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { firstValueFrom } from 'rxjs';
import { filter } from 'rxjs/operators';
import { calmAfterMs, calmRate, livelyRate, pauseMs } from '../../lib/console/parameters/list/pace.ts';
import { goTo, openConsole, waitUntil } from '../support/browser/console.ts';
import { browser } from '../support/browser/own-browser.ts';
import { within } from '../support/deadline.ts';
import { api, type HubUnderTest, startTestHub, writer } from '../support/hub.ts';
import { shared } from '../support/shared.ts';
import { bestOf, idleTimeOf } from '../support/system/machine.ts';

const count = 100_000;
const desk = [
  'lamp,B,false',
  'level,F,0.5',
  'take,I,3',
  'title,S,Morning',
  'go,T',
  'gauge,F,1',
  'rack 2/lamp,B',
  'rack 10/lamp,B',
];
const flowOf = (parameters: readonly string[], others = {}) => ({
  connections: { api, desk: { type: 'dummy', parameters }, ...others },
});

const open = shared(async (t) => {
  const hub = await startTestHub(t, flowOf(desk));
  return { hub, page: await openConsole(t, browser, hub.port) };
});
const openAt = async (hash: string) => {
  const opened = await open();
  await goTo(opened.page, hash);
  return opened;
};
const reload = async (hub: HubUnderTest, flow: object) => {
  await writeFile(join(hub.folder, 'flow.json5'), JSON.stringify(flow));
  await hub.reload();
};

/** Resolves with the next change of a parameter. */
const changeOf = (hub: HubUnderTest, address: string) =>
  within(firstValueFrom(hub.changes$.pipe(filter(({ parameter }) => parameter.address === address))), address);

test.serial('a value is marked when it changes, stays marked while it keeps changing, and not forever', async (t) => {
  const { hub, page } = await openAt('#/parameters');
  const marked = page.locator('[data-address="desk/level"] .value.fresh');
  await page.locator('[data-address="desk/level"] .value', { hasText: '0.5' }).waitFor();
  t.is(await marked.count(), 0, 'what was there before is not new');
  let level = 1;
  const changing = setInterval(() => hub.write('desk/level', ++level, writer), 100);
  await marked.waitFor();
  await page.locator('[data-address="desk/level"] .origin', { hasText: writer.name }).waitFor();
  await page.evaluate(`
    globalThis.unmarked = 0;
    new MutationObserver(() => unmarked++).observe(document.querySelector('[data-address="desk/level"] .value'), {
      attributeFilter: ['class'],
    });`);
  const first = level;
  while (level < first + 15) await changeOf(hub, 'desk/level');
  clearInterval(changing);
  await marked.waitFor({ state: 'detached' });
  t.true(((await page.evaluate('unmarked')) as number) <= 5, 'it is not marked anew by each change');
});

test.serial(
  'a continuously changing value is drawn more and more slowly, a change after a pause immediately',
  async (t) => {
    const { hub, page } = await openAt('#/parameters');
    let level = Number(hub.find('desk/level')!.value);
    await page.locator('[data-address="desk/level"] .value', { hasText: String(level) }).waitFor();
    const change = () => hub.write('desk/level', ++level, writer);
    /** When it is drawn, in ms from the first time on, on the clock of the page: until `ms`. */
    const drawnUntil = async (ms: number) => {
      await page.evaluate(`
      globalThis.drawn?.disconnect();
      globalThis.times = [];
      globalThis.drawn = new MutationObserver(() => times.push(performance.now()));
      drawn.observe(document.querySelector('[data-address="desk/level"] .value'), { characterData: true, subtree: true });`);
      const changing = setInterval(change, 100);
      t.teardown(() => clearInterval(changing));
      await waitUntil(page, `performance.now() > times[0] + ${ms}`);
      clearInterval(changing);
      const times = (await page.evaluate('times')) as number[];
      return times.map((time) => time - times[0]!);
    };
    /** How often a second it is drawn in a span. */
    const rateOf = (times: readonly number[], fromMs: number, toMs: number) =>
      times.filter((ms) => ms >= fromMs && ms < toMs).length / ((toMs - fromMs) / 1000);
    /** Whether it is drawn soon again, twice, after a pause. On a machine that has no time for the page, that may take some attempts. */
    const isLively = async () => {
      const soonMs = (1000 / livelyRate + 1000 / calmRate) / 2;
      for (let attempt = 0; attempt < 5; attempt++) {
        await page.waitForTimeout(pauseMs + 500);
        const times = await drawnUntil(calmAfterMs);
        const isSoon = times.slice(1).map((ms, index) => ms - times[index]! < soonMs);
        if (isSoon.some((is, index) => is && isSoon[index + 1])) return true;
      }
      return false;
    };
    const times = await drawnUntil(9000);
    const lively = rateOf(times, 0, 2000);
    const calm = rateOf(times, 5000, 9000);
    t.true(lively <= livelyRate + 1, `${lively} times a second at first`);
    t.true(calm > 0 && calm <= calmRate + 0.25, `${calm} times a second when it went on`);

    await page.locator('[data-address="desk/level"] .value', { hasText: String(level) }).waitFor();
    await page.waitForTimeout(pauseMs + 500);
    change();
    const seenMs = await idleTimeOf(() =>
      page.locator('[data-address="desk/level"] .value', { hasText: String(level) }).waitFor(),
    );
    t.true(seenMs < 500, `${seenMs} ms after a pause`);
    t.true(await isLively());
  },
);

test.serial('an address without a parameter is reported', async (t) => {
  const { page } = await openAt('#/parameters?address=desk/lamb');
  await page.getByRole('alert').getByText('Unknown parameter desk/lamb.').waitFor();
  t.pass();
});

test.serial('text, glob and regex; a tree that groups folders, with numbers in numerical order', async (t) => {
  const { page } = await openAt('#/parameters');
  const search = page.getByRole('searchbox', { name: 'Search parameters' });
  const shown = async (expected: string[]) => {
    const rows = "[...document.querySelectorAll('[role=row][data-address]')].map(({ dataset }) => dataset.address)";
    await waitUntil(page, `JSON.stringify(${rows}) === ${JSON.stringify(JSON.stringify(expected))}`);
    t.is(await page.locator('[role=row][data-address]').count(), expected.length);
  };
  const order = ['gauge', 'go', 'lamp', 'level', 'rack 2/lamp', 'rack 10/lamp', 'take', 'title'];
  await shown(order.map((id) => `desk/${id}`));
  await search.fill('RACK lamp');
  await shown(['desk/rack 2/lamp', 'desk/rack 10/lamp']);
  const mode = page.getByRole('combobox', { name: 'Search mode' });
  await mode.selectOption('glob');
  await search.fill('desk/l*');
  await shown(['desk/lamp', 'desk/level']);
  await mode.selectOption('regex');
  await search.fill('rack \\d/|take$');
  await shown(['desk/rack 2/lamp', 'desk/take']);
  await search.fill('rack (');
  await page.getByRole('alert').getByText('Invalid regular expression').waitFor();
  await search.fill('');
  await page.getByRole('button', { name: 'Tree' }).click();
  await shown(['desk/']);

  const tree = page.getByRole('treegrid');
  await tree.focus();
  await tree.press('ArrowDown');
  await tree.press('ArrowRight');
  await page.locator('[data-address="desk/rack 10/"][aria-expanded=false]').waitFor();
  await tree.press('End');
  await tree.press('Enter');
  await page.getByRole('complementary', { name: 'desk/title' }).waitFor();
  await tree.press('Escape');
  await page.getByRole('complementary').waitFor({ state: 'detached' });
});

test.serial('an editor for each type, a trigger that fires, lines to copy, and a plot of the past', async (t) => {
  const { hub, page } = await openAt('#/parameters?address=desk/lamp');
  const detail = page.getByRole('complementary');
  const open = async (address: string) => {
    await page.locator(`[role=row][data-address="${address}"]`).click();
    await detail.getByRole('heading', { name: address }).waitFor();
  };
  const lamp = detail.getByRole('switch');
  await lamp.getByText('false').waitFor();
  const lit = changeOf(hub, 'desk/lamp');
  await lamp.click();
  t.is((await lit).value, true);
  await lamp.getByText('true').waitFor();
  await detail.getByText(`curl 'http://127.0.0.1:${hub.port}/update?parameter=desk%2Flamp&value=true'`).waitFor();
  await detail.getByText('{"p":"desk/lamp","v":true}').waitFor();
  t.is(await detail.getByRole('link', { name: 'Why' }).getAttribute('href'), '#/why?address=desk/lamp');

  await open('desk/take');
  const taken = changeOf(hub, 'desk/take');
  await detail.getByRole('button', { name: 'Increase by 1' }).click();
  t.is((await taken).value, 4);

  await open('desk/title');
  const titled = changeOf(hub, 'desk/title');
  await detail.getByRole('textbox').fill('Evening "show"');
  await page.keyboard.press('Enter');
  t.is((await titled).value, 'Evening "show"');

  await open('desk/go');
  const fired = changeOf(hub, 'desk/go');
  await detail.getByRole('button', { name: 'Fire' }).click();
  t.is((await fired).origin.kind, 'client');
  await detail.getByText('fired').waitFor();

  await open('desk/gauge');
  await detail.getByRole('button', { name: 'Pin' }).click();
  await detail.locator('canvas').waitFor();
  const picture = "document.querySelector('canvas').toDataURL()";
  const before = await page.evaluate(picture);
  for (const value of [2, 7, 3]) hub.write('desk/gauge', value, writer);
  const pin = page.getByRole('region', { name: 'Pinned' });
  await pin.getByText('3').waitFor();
  await waitUntil(page, `${picture} !== ${JSON.stringify(before)}`);
  const steps = page.locator('.sparkline path[d*=V]');
  await steps.waitFor({ state: 'attached' });
});

test.serial(
  'a manager sees a parameter that a reload renames or replaces, without opening the view again',
  async (t) => {
    const { hub, page } = await openAt('#/parameters?address=desk/take');
    const detail = page.getByRole('complementary');
    await detail.getByText('integer, read-write').waitFor();
    const parameters = desk.map((one) => one.replace('take,I,3', 'take,S,three').replace('level,F', 'fader,F'));
    await reload(hub, flowOf(parameters));
    await page.locator('[data-address="desk/fader"]').waitFor();
    await page.locator('[data-address="desk/level"]').waitFor({ state: 'detached' });
    await detail.getByText('text, read-write').waitFor();
    await detail.locator('output', { hasText: 'three' }).waitFor();
    await detail.getByRole('textbox').fill('four');
    await detail.getByRole('button', { name: 'Set', exact: true }).click();
    await detail.locator('output', { hasText: 'four' }).waitFor();
    t.is(hub.find('desk/take')?.value, 'four');
  },
);

test.serial('parameters that a reload adds and removes appear and disappear', async (t) => {
  const { hub, page } = await open();
  await reload(hub, flowOf(['a', 'b']));
  await goTo(page, '#/parameters');
  await page.getByText('2 of 2').waitFor();
  await reload(hub, flowOf(['a', 'b', 'c']));
  await page.locator('[role=row][data-address="desk/c"]').waitFor();
  await page.getByText('3 of 3').waitFor();
  t.is(await page.locator('[role=row][data-address]').count(), 3);

  const grid = page.getByRole('grid');
  await grid.focus();
  await grid.press('End');
  const focused = () => page.locator('.row.focused').getAttribute('data-address');
  t.is(await focused(), 'desk/c');
  await reload(hub, flowOf(['a', 'a2', 'a3', 'b', 'c', 'd']));
  await page.getByText('6 of 6').waitFor();
  t.is(await focused(), 'desk/c', 'the keyboard is where it was, whatever came before it');
});

test.serial('one among 100,000 is found in under a second, set, and shows its change', async (t) => {
  const rack = Array.from({ length: count - desk.length }, (_, index) => `unit-${index % 50}/level-${index},F,0`);
  const { hub, page } = await openAt('#/connections');
  t.teardown(async () => {
    await page.context().close(); // other files of specs go on in this process
    await hub.stop();
  });
  await reload(hub, flowOf(desk, { rack: { type: 'dummy', parameters: rack } }));
  await page.evaluate(`location.hash = '#/parameters'`);
  await page.getByText('100,000 of 100,000').waitFor();
  t.true((await page.locator('[role=row]').count()) < 100);

  const search = page.getByRole('searchbox', { name: 'Search parameters' });
  const row = (address: string) => page.locator(`[role=row][data-address="${address}"]`);
  const find = async (index: number) => {
    await search.fill(`unit-${index % 50} ${index}`);
    await row(`rack/unit-${index % 50}/level-${index}`)
      .getByText('0', { exact: true })
      .waitFor();
  };
  const foundMs = await bestOf(1000, (attempt) => idleTimeOf(() => find(777 + attempt * 7)));
  t.log(`found in ${Math.round(foundMs)} ms`);
  t.true(foundMs < 1000, `found in ${foundMs} ms`);

  await find(99_987);
  await page.getByText('1 of 100,000').waitFor(); // the rows stand still
  await row('rack/unit-37/level-99987').click();
  const change = changeOf(hub, 'rack/unit-37/level-99987');
  await page.getByRole('spinbutton').fill('42.5');
  await page.keyboard.press('Enter');
  t.is((await change).value, 42.5);
  await row('rack/unit-37/level-99987').getByText('42.5').waitFor();
  hub.write('rack/unit-37/level-99987', 43.25, writer);
  await row('rack/unit-37/level-99987').getByText('43.25').waitFor();
  await page.locator('output', { hasText: '43.25' }).waitFor();
  await page.getByRole('complementary').getByText('by client spec').waitFor();

  await search.fill('');
  await page.getByRole('grid').press('End');
  await row('rack/unit-49/level-99949').waitFor();
});
