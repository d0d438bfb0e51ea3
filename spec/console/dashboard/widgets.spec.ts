// The widgets of dashboards against a real hub: what they write, how writes are guarded, expressions, tabs, links and layouts.

import test from 'ava';
import type { Page } from 'playwright-core';
import { expectAccessible } from '../../support/browser/accessible.ts';
import { desktop, goTo, openConsole, phone, waitUntil } from '../../support/browser/console.ts';
import { browser } from '../../support/browser/own-browser.ts';
import { eventually } from '../../support/deadline.ts';
import { api, startHubFrom, writer } from '../../support/hub.ts';
import { shared } from '../../support/shared.ts';

const level = { address: 'desk/gain', min: -60, max: 12 };
const dashboards = {
  inputs: [
    { type: 'select', address: 'desk/scene', size: [2, 1] },
    { type: 'radio', label: 'Mode', address: 'desk/scene', size: [2, 1] },
    { type: 'number', label: 'Gain', ...level, unit: 'dB', step: 0.5, size: [2, 1] },
    { type: 'text', label: 'Programme', address: 'desk/title', size: [2, 1] },
    { type: 'fader', label: 'Level', ...level, law: 'db', scale: true, size: [1, 3] },
    { type: 'meter', label: 'Peak', ...level, law: 'db', scale: true, peak: 60, size: [1, 3] },
    {
      type: 'gauge',
      label: 'Heat',
      address: 'desk/heat',
      max: 100,
      zones: [{ from: 80, tone: 'danger' }],
      size: [1, 2],
    },
  ],
  guarded: [
    { type: 'button', label: 'Asks', address: 'desk/go', mode: 'fire', confirm: 'Take it off air?' },
    { type: 'button', label: 'Held', address: 'desk/mic', hold: 0.3 },
    { type: 'button', label: 'Digits', address: 'desk/lamp', pin: '2580' },
    { type: 'fader', label: 'Locked', ...level, confirm: 'Change it?', size: [1, 2] },
  ],
  shown: [
    { type: 'label', label: 'Loud', visible: "param('desk/gain') > 0.0" },
    { type: 'value', label: 'Gain', address: 'desk/gain', toneBy: "param('desk/gain') > 0.0 ? 'danger' : 'ok'" },
    { type: 'value', label: 'Fails', address: 'desk/gain', visible: "param('desk/title') > 0.0" },
    { type: 'alarm', address: 'alarm/silence' },
    { type: 'events', label: 'Changes', addresses: ['desk/scene', 'desk/go'], size: [2, 2] },
    { type: 'matrix', lamps: [{ address: 'desk/lamp', label: 'Lamp' }, { address: 'desk/mic' }], size: [2, 1] },
    { type: 'icon', icon: 'mic', address: 'desk/mic', tone: 'danger' },
    { type: 'clock', zone: 'UTC', date: true },
    { type: 'countdown', label: 'Left', address: 'desk/left', done: 'over' },
    { type: 'image', src: '/missing.png', label: 'Picture' },
  ],
  pages: [
    {
      type: 'tabs',
      label: 'Studios',
      size: [3, 2],
      tabs: [
        { label: 'One', widgets: [{ type: 'label', label: 'First page' }] },
        {
          label: 'Two',
          widgets: [{ type: 'group', label: 'Second page', widgets: [{ type: 'lamp', address: 'desk/lamp' }] }],
        },
      ],
    },
    { type: 'link', label: 'Onwards', to: 'other', id: 'on' },
  ],
  other: [{ type: 'link', back: true }],
};

const start = shared(async (t) => {
  const hub = await startHubFrom(t, {
    'flow.json5': {
      connections: {
        api: { ...api, dashboards: 'dashboards' },
        desk: {
          type: 'dummy',
          parameters: [
            ...['mic,B,false', 'lamp,B,false', 'gain,F,-8', 'go,T', 'title,S,idle', 'scene,I,1', 'heat,F,20'],
            ...['left,I,90', 'silent,B,false'],
          ],
        },
        alarm: { type: 'alarms', alarms: { silence: { when: 'desk/silent', text: 'Silence on air' } } },
      },
      describe: { 'desk/scene': { label: 'Scene', choices: { Morning: 1, Evening: 2 } } },
    },
    ...Object.fromEntries(
      Object.entries(dashboards).map(([name, widgets]) => [
        `dashboards/${name}.json5`,
        {
          columns: 4,
          ...(name === 'other' && { theme: 'dark' }),
          ...(name === 'pages' && { layouts: { phone: { columns: 1, order: ['on'] } } }),
          widgets,
        },
      ]),
    ),
  });
  return { hub, page: await openConsole(t, browser, hub.port) };
});

async function open(name: string) {
  const { hub, page } = await start();
  await page.setViewportSize(desktop);
  for (const id of ['mic', 'lamp']) hub.write(`desk/${id}`, false, writer);
  await goTo(page, `#/dashboards?name=${name}`);
  const has = (id: string, value: unknown) =>
    eventually(
      () => hub.find(`desk/${id}`)!.value === value,
      `${id} to be ${value}, not ${hub.find(`desk/${id}`)!.value}`,
    );
  return { hub, page, has };
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

test.serial('lists, buttons and fields write what is chosen and typed, exactly or not at all', async (t) => {
  const { hub, page, has } = await open('inputs');
  const list = page.getByRole('combobox', { name: 'Scene' });
  await waitUntil(page, async () => (await list.locator('option:checked').textContent()) === 'Morning');
  await list.selectOption('Evening');
  await has('scene', 2);
  await page.locator('.radio-widget [aria-pressed=true]', { hasText: 'Evening' }).waitFor();
  await button(page, 'Morning').click();
  await has('scene', 1);
  const gain = page.getByRole('textbox', { name: 'Gain in dB' });
  for (const [typed, value] of [
    ['-12.5', -12.5],
    ['−3,25', -3.25],
    ['1e1', 10],
  ] as const) {
    await gain.fill(typed);
    await gain.press('Enter');
    await has('gain', value);
  }
  await gain.fill('13');
  await gain.press('Enter');
  await page.getByText('Expected at most 12 dB, got 13 dB.').waitFor();
  await gain.fill('1,000');
  await gain.press('Enter');
  await page.getByText('may mean 1000 or 1.000').waitFor();
  t.is(hub.find('desk/gain')!.value, 10);
  await gain.press('Escape');
  await waitUntil(page, async () => (await gain.inputValue()) === '10');
  // the steps are faster than the reports of the hub, and than the text that shows them
  await button(page, 'Gain: decrease by 0.5').click();
  await button(page, 'Gain: decrease by 0.5').click();
  await button(page, 'Gain: increase by 0.5').click();
  await has('gain', 9.5);
  const text = page.getByRole('textbox', { name: 'Programme' });
  await text.fill('שלום <b>');
  await text.press('Enter');
  await has('title', 'שלום <b>');
  hub.write('desk/gain', -40, writer);
  await page.locator('.meter output').getByText('-40').waitFor();
  const tops = async (css: string) => (await page.locator(css).boundingBox())!;
  const [peak, track] = [await tops('.meter .peak'), await tops('.meter .track')];
  t.true(peak.y < track.y + track.height * 0.2, 'the mark stays at 9.5 dB');
  hub.write('desk/heat', 85, writer);
  await page.locator('.filled[data-tone=danger]').waitFor();
  await expectAccessible(t, page);
});

test.serial('a write waits for the answer to a question, a held button, a PIN', async (t) => {
  const { hub, page, has } = await open('guarded');
  let fires = 0;
  const subscription = hub.changes$.subscribe({
    next: ({ parameter }) => {
      if (parameter.address === 'desk/go') fires++;
    },
    error: () => {},
  });
  t.teardown(() => subscription.unsubscribe());
  await button(page, 'Asks').click();
  await page.getByRole('dialog').getByText('Take it off air?').waitFor();
  await expectAccessible(t, page);
  await button(page, 'Cancel').click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await button(page, 'Digits').click();
  for (const digit of '1111') await button(page, digit).click();
  await button(page, 'Set').click();
  await page.getByText('Wrong PIN.').waitFor();
  t.is(hub.find('desk/lamp')!.value, false);
  await page.getByLabel('PIN').fill('2580');
  await page.getByLabel('PIN').press('Enter');
  await has('lamp', true);
  await button(page, 'Held').hover();
  await page.mouse.down();
  await page.locator('.holding').waitFor();
  await page.mouse.up();
  t.is(hub.find('desk/mic')!.value, false);
  await page.mouse.down();
  await has('mic', true);
  await page.mouse.up();
  await button(page, 'Held').evaluate((one: { click(): void }) => one.click()); // as a screen reader does
  await button(page, 'Set').click();
  await has('mic', false);
  const fader = page.getByRole('slider', { name: 'Locked' });
  t.true(await fader.isDisabled());
  await button(page, 'Unlock Locked').click();
  await button(page, 'Set').click();
  await fader.press('End');
  await has('gain', 12);
  t.is(fires, 0);
  await button(page, 'Asks').click();
  await button(page, 'Set').click();
  await eventually(() => fires === 1);
});

test.serial(
  'expressions show and colour widgets, and one that fails is marked; alarms, events, lamps, times',
  async (t) => {
    const { hub, page, has } = await open('shown');
    hub.write('desk/gain', -8, writer);
    await page.locator('.value.toned[data-tone=ok]').waitFor();
    await page.getByText('visible: expected values that > accepts').waitFor();
    t.is(await page.locator('.widget.label').count(), 0);
    hub.write('desk/gain', 3, writer);
    await page.locator('.widget.label').getByText('Loud').waitFor();
    await page.locator('.value.toned[data-tone=danger]').waitFor();

    await page.locator('.alarm-widget').getByText('quiet').waitFor();
    hub.write('desk/silent', true, writer);
    await button(page, 'Acknowledge Silence on air').click();
    await page.locator('.alarm-widget output').getByText('acknowledged', { exact: true }).waitFor();
    hub.write('desk/scene', 2, writer);
    hub.write('desk/go', true, writer);
    await page.getByRole('row', { name: /go fired/ }).waitFor();
    await page.getByRole('row', { name: /Scene 2/ }).waitFor();
    await page
      .getByRole('note')
      .getByText('Earlier changes are not available, because this hub has no store')
      .waitFor();
    hub.write('desk/lamp', true, writer);
    await page.locator('.lamps li', { hasText: 'Lamp' }).getByLabel('on').waitFor();
    hub.write('desk/mic', true, writer);
    await page.locator('.big-icon[data-tone=danger]').waitFor();
    await page.getByText('The hub does not have the picture /missing.png').waitFor();
    hub.write('desk/left', 0, writer);
    await page.locator('.countdown-widget').getByText('over').waitFor();
    await page
      .getByRole('timer', { name: 'Time in UTC' })
      .getByText(/^\d\d:\d\d:\d\d$/)
      .waitFor();
    await expectAccessible(t, page);
    await has('left', 0);
    await page.locator('.icon-widget').click({ button: 'right' });
    await page.getByRole('heading', { level: 1, name: 'Why' }).waitFor();
    t.true(page.url().endsWith('address=desk/mic'));
  },
);

test.serial('tabs show one page, links lead to a dashboard and back, a phone has its own layout', async (t) => {
  const { page } = await open('pages');
  const tab = (name: string) => page.getByRole('tab', { name });
  await page.getByText('First page').waitFor();
  await tab('One').press('ArrowRight');
  await page.getByText('Second page').waitFor();
  t.is(await page.getByText('First page').count(), 0);
  t.is(await page.evaluate('document.activeElement.textContent'), 'Two');
  await expectAccessible(t, page);
  await page.setViewportSize(phone);
  await page.locator('.laid-out').waitFor();
  const tops = await page
    .locator('.laid-out > .widgets > .widget')
    .evaluateAll((all: { offsetTop: number }[]) => all.map((one) => one.offsetTop));
  t.true(tops[1]! < tops[0]!, 'the link comes first');
  await page.setViewportSize(desktop);
  await page.getByRole('link', { name: 'Onwards' }).click();
  await page.locator('.panel-page[data-theme=dark]').waitFor();
  await page.getByRole('link', { name: 'Back' }).click();
  await page.getByRole('tab', { name: 'One' }).waitFor();
  t.true(page.url().endsWith('name=pages'));
  await page.evaluate(`location.hash += '&bare=1'`);
  await page.locator('.bare').waitFor();
  await page.locator('.tab-page .label').click({ button: 'right' });
  t.true(page.url().includes('dashboards'), 'a kiosk leads nowhere else');
});
