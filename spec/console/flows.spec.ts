// The flows view against a real hub: the graph and the list, values that move, rules that people switch, files with mistakes, and an
// installation that is too large to draw at once.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { expectAccessible } from '../support/browser/accessible.ts';
import { goTo, openConsole, phone, waitUntil } from '../support/browser/console.ts';
import { browser } from '../support/browser/own-browser.ts';
import { api, type HubUnderTest, startHubFrom, writer } from '../support/hub.ts';
import { shared } from '../support/shared.ts';

const desk = { type: 'dummy', parameters: ['mic,B,false', 'lamp,B,false', 'level,F,0', 'percent,I'] };
const small = {
  connections: { api, desk },
  rules: [
    { name: 'lamp follows', from: 'desk/mic', map: 'value', to: 'desk/lamp' },
    { folder: 'Levels', rules: [{ name: 'in percent', from: 'desk/level', map: 'value * 100', to: 'desk/percent' }] },
  ],
};

const start = shared(async (t) => {
  const hub = await startHubFrom(t, { 'flow.json5': small, 'other.json5': {} });
  return { hub, page: await openConsole(t, browser, hub.port) };
});

/** Shows the flows of an installation, which the hub loads if it has another one. */
async function open(hash: string, installation: object = small): Promise<{ hub: HubUnderTest; page: Page }> {
  const { hub, page } = await start();
  await writeFile(join(hub.folder, 'flow.json5'), JSON.stringify(installation));
  await hub.reload();
  await goTo(page, hash);
  return { hub, page };
}

const box = (page: Page, name: string) => page.locator('.box', { hasText: name });
const statusOf = (hub: HubUnderTest, rule: string) => hub.rules().find(({ name }) => name === rule)!;
/** Returns the addresses that the page has subscribed to. */
const followed = async (hub: HubUnderTest): Promise<string[]> => {
  const answer = await fetch(`http://127.0.0.1:${hub.port}/hub/clients`);
  const { clients } = (await answer.json()) as { clients: { subscriptions: { include: string[] }[] }[] };
  return clients.flatMap(({ subscriptions }) => subscriptions.flatMap(({ include }) => include)).sort();
};

/** Waits until it reads what is expected. It reads again whenever the page or the hub may have changed. */
async function eventually<T>(t: ExecutionContext, page: Page, read: () => Promise<T> | T, expected: T): Promise<void> {
  await waitUntil(page, async () => JSON.stringify(await read()) === JSON.stringify(expected)).catch(() => {}); // is told:
  t.deepEqual(await read(), expected);
}

test.serial('the graph shows rules between their sources and destinations; a value moves through it', async (t) => {
  const { hub, page } = await open('#/flows');
  await box(page, 'in percent').waitFor();
  const xs = await Promise.all(
    ['level', 'in percent', 'percent'].map(async (name) => {
      const found = name === 'in percent' ? box(page, name) : page.locator(`.box[title="desk/${name}"]`);
      return (await found.boundingBox())!.x;
    }),
  );
  t.deepEqual(
    xs,
    [...xs].sort((one, other) => one - other),
  );
  await page.locator('.box[title="desk/level"] output', { hasText: '0' }).waitFor();

  await page.evaluate(`
    globalThis.animated = 0;
    const { animate } = Element.prototype;
    Element.prototype.animate = function (...given) { animated += this.matches('.edge'); return animate.apply(this, given) };`);
  hub.write('desk/level', 0.25, writer);
  await page.locator('.box[title="desk/percent"] output', { hasText: '25' }).waitFor();
  await waitUntil(page, 'animated === 2');
  await expectAccessible(t, page);
});

test.serial('a rule in shadow is marked, cannot be switched, and Why has its would-be change', async (t) => {
  const lamp = { name: 'lamp follows', from: 'desk/mic', map: '!value', to: 'desk/lamp', shadow: true };
  const { hub, page } = await open('#/flows', { ...small, rules: [...small.rules, lamp] });
  hub.write('desk/mic', true, writer);
  await box(page, 'in shadow').click();
  const panel = page.getByRole('complementary');
  await panel.getByText('→ false to desk/lamp').waitFor();
  t.is(await panel.getByRole('button', { name: 'Disable' }).count(), 0);
  await expectAccessible(t, page);
  await goTo(page, '#/why?address=desk/lamp');
  await page.getByText('In shadow, it would be false').waitFor();
  hub.write('desk/mic', false, writer);
});

test.serial('a rule is disabled and enabled, and its last runs are shown', async (t) => {
  const { hub, page } = await open('#/flows');
  await box(page, 'in percent').getByText('value * 100').waitFor();
  await box(page, 'lamp follows').click();
  const panel = page.getByRole('complementary');
  hub.write('desk/mic', true, writer);
  await panel.getByText('= true → true to desk/lamp').waitFor();

  await panel.getByRole('button', { name: 'Disable' }).click();
  await panel.getByText('disabled').waitFor();
  t.false(statusOf(hub, 'lamp follows').enabled);
  await page.locator('.box.rule.off').waitFor();
  hub.write('desk/mic', false, writer);
  t.is(hub.find('desk/lamp')!.value, true);

  await panel.getByRole('button', { name: 'Enable' }).click();
  await panel.getByText('running', { exact: true }).waitFor();
  hub.write('desk/mic', true, writer);
  hub.write('desk/mic', false, writer);
  t.is(hub.find('desk/lamp')!.value, false);
  await panel.getByRole('link', { name: 'desk/lamp' }).first().waitFor();
  await expectAccessible(t, page);
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
});

test.serial('a mistake in a file after a reload is shown, and that the previous configuration is active', async (t) => {
  const { hub, page } = await open('#/flows');
  await page.getByText('2 files, no errors').waitFor();
  await writeFile(join(hub.folder, 'other.json5'), "{\n  rules: [{ from: 'desk/mic', too: 'desk/lamp' }]\n}");
  await t.throwsAsync(hub.reload());
  await page.getByText('The previous configuration remains active.').waitFor();
  await page.getByText('other.json5:2:31: rules[0].too: unknown setting "too", did you mean "to"?').waitFor();
  await writeFile(join(hub.folder, 'other.json5'), '{}');
  await hub.reload();
  await page.getByText('2 files, no errors').waitFor();
});

test.serial(
  'keys, wheel and pointer move over the graph; only visible and readable nodes are subscribed',
  async (t) => {
    const { hub, page } = await open('#/flows');
    await box(page, 'in percent').waitFor();
    const all = ['desk/lamp', 'desk/level', 'desk/mic', 'desk/percent'];
    await eventually(t, page, () => followed(hub), all);
    const canvas = page.getByRole('application');
    const transform = () =>
      page.locator('.plane').evaluate(({ style }: { style: { transform: string } }) => style.transform);
    await page.getByText('no errors').waitFor(); // the bar that says so takes some of the height
    await canvas.focus();
    await page.keyboard.press('0');
    const first = await transform();

    await page.keyboard.press('ArrowRight');
    t.not(await transform(), first);
    for (let count = 0; count < 6; count++) await page.keyboard.press('-');
    await eventually(t, page, () => followed(hub), []);
    await page.keyboard.press('0');
    t.is(await transform(), first);
    await eventually(t, page, () => followed(hub), all);

    const { x, y, width, height } = (await canvas.boundingBox())!;
    await page.mouse.move(x + width / 2, y + height - 30);
    await page.mouse.wheel(0, -300);
    await waitUntil(page, `/scale\\(1\\.[1-9]/.test(document.querySelector('.plane').style.transform)`);
    await page.keyboard.press('0');
    const xOf = (text: string) => Number(/translate\(([-.\d]+)px/.exec(text)![1]);
    const start = xOf(await transform());
    await page.mouse.down();
    await page.mouse.move(x + width / 2 + 150, y + height - 30, { steps: 5 });
    await page.mouse.up();
    t.is(Math.round(xOf(await transform()) - start), 150);
  },
);

test.serial(
  'rules that keep failing disturb neither the keyboard focus nor the scroll position of the list',
  async (t) => {
    const rules = Array.from({ length: 60 }, (_, n) => ({ name: `rule ${n}`, from: 'desk/text', to: 'desk/percent' }));
    const connections = { api, desk: { type: 'dummy', parameters: ['text', 'percent,I'] } };
    const { hub, page } = await open('#/flows?as=list', { connections, rules });
    const row = page.getByRole('button', { name: 'rule 55', exact: true });
    await row.focus();
    const top = await page.evaluate<number>(`document.querySelector('.flows .scroll').scrollTop`);
    t.true(top > 0);
    let faults = 0;
    const fail = () => hub.write('desk/text', `no number ${faults++}`, writer);
    const failing = setInterval(fail, 2000); // a fault is shown for some seconds, which a busy browser may miss
    t.teardown(() => clearInterval(failing));
    for (let round = 0; round < 3; round++) {
      fail();
      await eventually(t, page, () => page.evaluate('document.activeElement.textContent'), 'rule 55');
      await page.locator('.rule-row', { hasText: 'rule 55' }).getByText('failing').waitFor();
      t.is(await page.evaluate('document.activeElement.textContent'), 'rule 55');
    }
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'rule 55' }).waitFor();
    await page.getByText('Failed', { exact: true }).waitFor();
    t.is(await page.evaluate('document.activeElement.textContent'), 'rule 55');
  },
);

test.serial(
  'a chosen rule is shown, also in a closed folder, and in a graph that is larger than the screen',
  async (t) => {
    const { page } = await open('#/flows?rule=rule 437', large);
    const chosen = page.locator('.box.rule[aria-pressed=true]', { hasText: 'rule 437' });
    const isInSight = async () => {
      const [rule, canvas] = await Promise.all([chosen.boundingBox(), page.locator('.canvas').boundingBox()]);
      return (
        rule!.x >= canvas!.x &&
        rule!.y >= canvas!.y &&
        rule!.x + rule!.width <= canvas!.x + canvas!.width &&
        rule!.y + rule!.height <= canvas!.y + canvas!.height
      );
    };
    await chosen.waitFor();
    await page.getByRole('complementary').waitFor();
    await eventually(t, page, isInSight, true);
    await page.evaluate(`location.hash = '#/flows?rule=rule 421'`);
    await page.locator('.box.rule[aria-pressed=true]', { hasText: 'rule 421' }).waitFor();
    await page.evaluate(`location.hash = '#/flows?rule=rule 437&as=list'`);
    const row = page.locator('.rule-row [aria-pressed=true]');
    await row.waitFor();
    const isInList = async () => {
      const [box, list] = await Promise.all([row.boundingBox(), page.locator('.flows .scroll').boundingBox()]);
      return box!.y >= list!.y && box!.y + box!.height <= list!.y + list!.height;
    };
    await eventually(t, page, isInList, true);
  },
);

const large = {
  connections: { api, desk: { type: 'dummy', parameters: Array.from({ length: 600 }, (_, n) => `p${n},I,0`) } },
  rules: Array.from({ length: 25 }, (_, folder) => ({
    folder: `Folder ${folder}`,
    rules: Array.from({ length: 20 }, (_, n) => ({
      name: `rule ${folder * 20 + n}`,
      from: `desk/p${folder * 20 + n}`,
      map: 'value + 1.0',
      to: `desk/p${folder * 20 + n + 7}`,
    })),
  })),
};

test.serial('500 rules: folders are closed at first, and a search opens its matches', async (t) => {
  const { page } = await open('#/flows', large);
  await page.getByText('500 rules', { exact: true }).waitFor();
  await box(page, 'Folder 24').waitFor();
  t.true((await page.locator('.box').count()) <= 200);
  const before = await page.locator('.box.rule').count();
  await box(page, 'Folder 24').click();
  await box(page, 'rule 499').waitFor();
  t.is(await page.locator('.box.rule').count(), before + 20);

  await page.keyboard.press('/');
  await page.keyboard.type('rule 123');
  await page.locator('.box.rule').nth(0).getByText('rule 123').waitFor();
  await page.getByText('1 rule', { exact: true }).waitFor();
  t.is(await page.locator('.box').count(), 3);

  await page.getByRole('searchbox').fill('');
  await page.getByRole('button', { name: 'Open all' }).click();
  await waitUntil(page, `document.querySelectorAll('.box.rule').length > ${before + 20}`);
  t.true((await page.locator('.box.rule, .box.group').count()) <= 160);
});

test.serial('the list has the same content, works by keys, and is the default on a phone', async (t) => {
  const { page: elsewhere } = await start();
  await elsewhere.setViewportSize(phone);
  const { hub, page } = await open('#/flows');
  await page.getByRole('button', { name: 'List', pressed: true }).waitFor();
  const folder = page.getByRole('button', { name: 'Levels 1', expanded: true });
  await folder.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'in percent' }).waitFor({ state: 'detached' });
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  const panel = page.getByRole('complementary');
  await panel.getByRole('heading', { name: 'in percent' }).waitFor();
  await panel.getByRole('button', { name: 'Disable' }).click();
  await panel.getByText('disabled').waitFor();
  t.false(statusOf(hub, 'in percent').enabled);
  t.true((await page.evaluate<number>('document.documentElement.scrollWidth')) <= phone.width);
  await expectAccessible(t, page);
});
