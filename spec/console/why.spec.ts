// The why view against a real hub: from a value back to what happened outside. The page follows it live.

import test from 'ava';
import { expectAccessible } from '../support/browser/accessible.ts';
import { desktop, goTo, openConsole, phone, waitUntil } from '../support/browser/console.ts';
import { browser } from '../support/browser/own-browser.ts';
import { api, startTestHub, writer } from '../support/hub.ts';
import { shared } from '../support/shared.ts';

const flow = {
  connections: {
    api,
    desk: { type: 'dummy', parameters: ['bell,T', 'lamp,B,false', 'never,S'] },
    clock: { type: 'timer', timers: [300] },
  },
  rules: [
    { name: 'bell lights', from: 'desk/bell', map: 'true', to: 'desk/lamp' },
    { name: 'bell starts', from: 'desk/bell', map: '300', to: 'clock/timer/1/start' },
    { name: 'lamp off', from: 'clock/timer/1/trigger', map: 'false', to: 'desk/lamp' },
  ],
};

const open = shared(async (t) => {
  const hub = await startTestHub(t, flow);
  return { hub, page: await openConsole(t, browser, hub.port) };
});

test.serial('the chain of causes leads from the lamp to the client that rang, and follows live', async (t) => {
  const { hub, page } = await open();
  await page.setViewportSize(desktop);
  await goTo(page, '#/why?address=desk/lamp');
  const causes = page.locator('.cause');
  await causes.getByText('by connection desk').waitFor();
  t.is(await causes.count(), 1);

  hub.write('desk/bell', 1, writer);
  await causes.nth(3).waitFor();
  const texts = await causes.allInnerTexts();
  t.is(texts.length, 4);
  for (const [index, pattern] of [
    /desk\/lamp = false was true\s+by rule lamp off/,
    /clock\/timer\/1\/trigger fired\s+by connection clock/,
    /clock\/timer\/1\/start = .*\s+by rule bell starts/,
    /desk\/bell fired\s+by client spec.* This change came from outside the hub\./,
  ].entries())
    t.regex(texts[index]!, pattern);
  t.regex((await page.locator('.after').allInnerTexts()).join(), /^↑ immediately,↑ \d{3} ms later,↑ immediately$/);
  await expectAccessible(t, page);

  await page.getByRole('link', { name: 'bell starts', exact: true }).click();
  await page.getByRole('complementary').getByRole('heading', { name: 'bell starts' }).waitFor();
  await page.goBack();
  await page.getByRole('link', { name: 'desk/bell' }).click();
  await waitUntil(page, `location.hash === '#/parameters?address=desk/bell'`);
});

test.serial('a typed address is explained; an unknown or missing one is reported', async (t) => {
  const { hub, page } = await open();
  t.teardown(() => page.context().close()); // other files of specs go on in this process
  await page.setViewportSize(phone);
  await goTo(page, '#/why');
  const field = page.getByRole('combobox', { name: 'Address of the parameter' });
  const asked: string[] = [];
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname === '/hub/parameters') asked.push(search);
  });
  await field.waitFor();
  await page.evaluate(`
    const field = document.querySelector('input[name=address]');
    for (const text of ['mer', 'mer/', 'mer/1']) { // faster than the hub answers
      field.value = text;
      field.dispatchEvent(new Event('input', { bubbles: true }));
    }`);
  await page.locator('option[value="clock/timer/1/trigger"]').waitFor({ state: 'attached' });
  t.deepEqual(asked, ['?filter=mer%2F1&limit=20'], 'once');
  await field.fill('desk/never');
  await field.press('Enter');
  await page.getByText('desk/never: the state is unknown').waitFor();
  hub.write('desk/never', 'now', writer);
  await page.locator('.cause', { hasText: 'now' }).waitFor();
  await field.fill('desk/nothing');
  await field.press('Enter');
  await page.getByText('desk/nothing: no parameter has this address').waitFor();
  t.true((await page.evaluate<number>('document.documentElement.scrollWidth')) <= phone.width);
  await expectAccessible(t, page);
});
