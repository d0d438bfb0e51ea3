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

test.serial('what followed from a change is listed in order, and the conditions that held', async (t) => {
  const hub = await startTestHub(t, {
    connections: {
      api,
      desk: {
        type: 'dummy',
        parameters: ['mic,B,false', 'armed,B,true', 'lamp,B,false', 'sign,S,off', 'other,B,false'],
      },
      alarm: { type: 'alarms', alarms: { open: { when: 'desk/lamp' } } },
    },
    rules: [
      { name: 'light', from: 'desk/mic', when: "param('desk/armed')", to: 'desk/lamp' },
      { name: 'sign', from: 'desk/lamp', map: "value ? 'ON AIR' : 'off'", to: 'desk/sign' },
      { name: 'never', from: 'desk/mic', when: "!param('desk/armed')", to: 'desk/other' },
    ],
  });
  const page = await openConsole(t, browser, hub.port, '#/why?address=desk/mic');
  hub.write('desk/mic', true, writer);
  const followed = page.getByRole('region', { name: 'What followed' });
  await followed.locator('.effect', { hasText: 'alarm/open/active' }).waitFor();
  const effects = (await followed.locator('.effect').allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
  t.true(
    effects.some((text) => /desk\/lamp = true by rule light/.test(text)),
    effects.join('\n'),
  );
  t.true(effects.some((text) => /desk\/sign = ON AIR by rule sign/.test(text)));
  t.true(effects.some((text) => /alarm\/open\/state = unacknowledged by connection alarm/.test(text)));
  t.false(effects.some((text) => text.includes('desk/other')));
  await followed.getByText('These rules also read this parameter').getByRole('link', { name: 'never' }).waitFor();
  await expectAccessible(t, page);
  hub.write('desk/lamp', false, writer); // by hand: it no longer follows from the microphone
  await page.evaluate("location.hash = '#/why?address=desk/lamp'");
  await page.locator('.cause').getByText('by client').waitFor();
  hub.write('desk/mic', false, writer);
  hub.write('desk/mic', true, writer);
  const conditions = page.getByRole('list', { name: 'Conditions that held' });
  await conditions.getByText('= true, as it is now').waitFor();
  hub.write('desk/armed', false, writer);
  await page.reload();
  await conditions.getByText('= true before its last change').waitFor();
  t.is(await conditions.getByRole('link').first().textContent(), 'desk/armed');
});

test.serial('a typed address is explained; an unknown or missing one is reported', async (t) => {
  const { hub, page } = await open();
  t.teardown(() => page.context().close()); // other files of specs go on in this process
  await page.setViewportSize(phone);
  await goTo(page, '#/why');
  const field = page.getByRole('combobox', { name: 'Parameter address' });
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
