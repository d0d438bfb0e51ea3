// Dashboards under a hand: neither a tap on a fader nor a finger that scrolls puts anything on air.

import test from 'ava';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { filter } from 'rxjs/operators';
import { desktop, goTo, openConsole, phone, waitUntil } from '../support/browser/console.ts';
import { createFinger, type Finger } from '../support/browser/finger.ts';
import { browser } from '../support/browser/own-browser.ts';
import { api, type HubUnderTest, startHubFrom, writer } from '../support/hub.ts';
import { shared } from '../support/shared.ts';

const desk = { type: 'dummy', parameters: ['level,F,-12.5', 'talk,B,false', 'mic,B,false'] };
const range = { min: -60, max: 12, step: 0.25 };
const fader = { type: 'fader', label: 'Level', address: 'desk/level', ...range, size: [1, 3] };
const talk = { type: 'button', label: 'Talk', address: 'desk/talk', mode: 'momentary' };

/** A hub with dashboards, and what pages have written: `level=-12`. */
const start = shared(async (t) => {
  const hub = await startHubFrom(t, {
    'flow.json5': { connections: { api: { ...api, dashboards: 'dashboards' }, desk } },
    'dashboards/one.json5': { columns: 3, widgets: [fader] },
    'dashboards/many.json5': { columns: 3, widgets: Array.from({ length: 12 }, () => [fader, talk]).flat() },
  });
  const written: string[] = [];
  const subscription = hub.changes$
    .pipe(filter(({ origin }) => origin.kind === 'client' && origin !== writer))
    .subscribe({
      next: ({ parameter, value }) => written.push(`${parameter.address.slice('desk/'.length)}=${value}`),
      error: () => {},
    });
  t.teardown(() => subscription.unsubscribe());
  return { hub, written };
});

const openPage = (options: BrowserContextOptions) =>
  shared(async (t) => {
    const { port } = (await start()).hub;
    const page = await openConsole(t, browser, port, '', options);
    return { page, finger: await createFinger(page) };
  });
const touchscreen = openPage({ viewport: desktop, hasTouch: true });
const phoneInHand = openPage({ viewport: phone, hasTouch: true, isMobile: true });

interface Hand {
  readonly hub: HubUnderTest;
  readonly page: Page;
  readonly finger: Finger;
  readonly written: string[];
  /** Waits until all earlier writes have got there: it hears the page once more. */
  settled(): Promise<void>;
}

/** Shows a dashboard whose parameters have their first values, and nothing is written. */
async function open(opened: ReturnType<typeof openPage>, name: string, viewport = desktop): Promise<Hand> {
  const { hub, written } = await start();
  const { page, finger } = await opened();
  const settled = async () => {
    const known = written.length;
    await page.evaluate(`fetch('/update?parameter=desk/mic&value=' + !${hub.find('desk/mic')!.value})`);
    await waitUntil(page, () => written.length > known && written.at(-1)!.startsWith('mic='));
    written.splice(written.length - 1, 1);
  };
  await page.setViewportSize(viewport);
  await settled();
  for (const [id, value] of Object.entries({ level: -12.5, talk: false })) hub.write(`desk/${id}`, value, writer);
  written.splice(0);
  await goTo(page, `#/dashboards?name=${name}`);
  await page.locator('.rail:not(.off), .push:enabled').first().waitFor();
  await waitUntil(page, `[...document.querySelectorAll('.amount')].every((one) => one.textContent.includes('-12.5'))`);
  return { hub, page, finger, written, settled };
}

const middleOf = async (locator: Locator) => {
  const { x, y, width, height } = (await locator.boundingBox())!;
  return { x: x + width / 2, y: y + height / 2 };
};
/** Resolves once the page has not scrolled for ten frames. */
const standsStill = `new Promise((resolve) => {
  const page = document.querySelector('.panel-page');
  let last, still = 0;
  const look = () => {
    still = page.scrollTop === last ? still + 1 : 0;
    last = page.scrollTop;
    if (still < 10) requestAnimationFrame(look);
    else resolve();
  };
  look();
})`;

/** In a page: how long the first button that is held has been touched then, in ms. */
const touchedMs = `new Promise((resolve) => {
  const button = document.querySelector('.push');
  let downMs;
  button.addEventListener('pointerdown', () => (downMs = performance.now()), { capture: true, once: true });
  const isHeld = () => button.classList.contains('held') && resolve(performance.now() - downMs);
  new MutationObserver(isHeld).observe(button, { attributeFilter: ['class'] });
})`;

test.serial('a tap on the cap or on the track moves no fader, by mouse or by finger', async (t) => {
  const { hub, page, finger, written, settled } = await open(touchscreen, 'one');
  const cap = await middleOf(page.locator('.cap'));
  const rail = (await page.locator('.rail').boundingBox())!;
  const places = [
    [cap.x, cap.y],
    [cap.x + 5, cap.y - 15],
    [cap.x, rail.y + 4],
    [cap.x, rail.y + rail.height - 4],
  ] as const;
  for (const [x, y] of places) {
    await page.mouse.click(x, y);
    await finger.down(x, y);
    await finger.move(x + 3, y - 3, 2);
    await finger.up();
  }
  await page.mouse.move(cap.x, rail.y + 4);
  await page.mouse.down();
  await page.mouse.move(cap.x, rail.y + 120, { steps: 5 });
  await page.mouse.up();
  await settled();
  t.deepEqual(written, []);
  t.is(hub.find('desk/level')!.value, -12.5);
  t.is(await page.locator('.amount').textContent(), '-12.5 ');
});

for (const [name, hand] of [
  ['a mouse', 'mouse'],
  ['a finger', 'touch'],
] as const)
  test.serial(`a fader moves by as much as ${name} does, from its position, at any point of its cap`, async (t) => {
    const { hub, page, finger, written } = await open(touchscreen, 'one');
    const cap = (await page.locator('.cap').boundingBox())!;
    const way = (await page.locator('.rail').boundingBox())!.height - cap.height;
    const slop = hand === 'mouse' ? 3 : 8;
    for (const grip of [0.1, 0.9]) {
      hub.write('desk/level', -12.5, writer);
      await waitUntil(page, `document.querySelector('.amount').textContent.includes('-12.5')`);
      await waitUntil(
        page,
        `document.querySelector('.cap').getBoundingClientRect().y.toFixed() === ${JSON.stringify(cap.y.toFixed())}`,
      );
      const [x, y] = [cap.x + cap.width / 2, cap.y + cap.height * grip];
      const to = y + way / 4 + slop; // a quarter of the way down is 18 dB
      if (hand === 'mouse') {
        await page.mouse.move(x, y);
        await page.mouse.down();
        await page.mouse.move(x, to, { steps: 20 });
        await page.mouse.up();
      } else {
        await finger.down(x, y);
        await finger.move(x, to, 20);
        await finger.up();
      }
      await waitUntil(page, () => Math.abs(Number(hub.find('desk/level')!.value) + 30.5) <= 0.5);
      const values = written.splice(0).map((one) => Number(one.replace('level=', '')));
      t.true(Math.abs(values[0]! + 12.5) < 10, `it begins where it was, not with ${values[0]}`);
      t.true(
        values.every((value, index) => index === 0 || value <= values[index - 1]!),
        String(values),
      );
    }
  });

test.serial('keys move a fader by its step, by a tenth, and to its ends', async (t) => {
  const { hub, page } = await open(touchscreen, 'one');
  await page.getByRole('slider', { name: 'Level' }).focus();
  for (const [key, value] of [
    ['ArrowUp', -12.25],
    ['ArrowRight', -12],
    ['ArrowDown', -12.25],
    ['ArrowLeft', -12.5],
    ['PageUp', -5.25],
    ['PageDown', -12.5],
    ['End', 12],
    ['Home', -60],
  ] as const) {
    await page.keyboard.press(key);
    await waitUntil(page, () => hub.find('desk/level')!.value === value);
    t.is(await page.getByRole('slider').getAttribute('aria-valuetext'), String(value));
  }
});

for (const [name, viewport] of [
  ['upright', phone],
  ['on its side', { width: 844, height: 390 }],
] as const)
  test.serial(`a phone ${name}: a finger that scrolls moves no fader and holds no button`, async (t) => {
    const { hub, page, finger, written, settled } = await open(phoneInHand, 'many', viewport);
    for (const css of ['.cap', '.push', '.rail']) {
      await page.evaluate(standsStill); // what was flung goes on for a while, perhaps to the end of the page
      await page.evaluate(`document.querySelector('.panel-page').scrollTo(0, 0)`);
      const boxes = await page.evaluate<{ x: number; y: number; width: number }[]>(
        `[...document.querySelectorAll('${css}')].map((one) => one.getBoundingClientRect().toJSON())`,
      );
      const box = boxes.find(({ y }) => y > viewport.height * 0.45 && y < viewport.height * 0.85)!;
      const swipe = [
        finger.down(box.x + box.width / 2, box.y + 20),
        finger.move(box.x + box.width / 2, box.y - viewport.height * 0.35, 5), // at once, or it would be held
      ];
      await Promise.all(swipe);
      await finger.up();
      await waitUntil(page, `document.querySelector('.panel-page').scrollTop > 40`);
    }
    await settled();
    t.deepEqual(written, []);

    await page.evaluate(standsStill);
    await page.evaluate(`document.querySelector('.panel-page').scrollTo(0, 0)`);
    const cap = await middleOf(page.locator('.cap').first());
    await finger.down(cap.x, cap.y);
    await finger.move(cap.x + 60, cap.y + 4);
    await finger.up();
    await waitUntil(page, () => Number(hub.find('desk/level')!.value) > -5);
    const ofButton = () => written.filter((one) => one.startsWith('talk='));

    const button = await middleOf(page.locator('.push').first());
    await page.evaluate(`void (globalThis.touched = ${touchedMs})`);
    await finger.down(button.x, button.y);
    await waitUntil(page, () => !!written.includes('talk=true'));
    t.is(hub.find('desk/talk')!.value, true);
    t.true(
      (await page.evaluate<number>('touched')) >= 250,
      'it is held once the finger has rested, as it may be about to scroll',
    );
    await finger.up();
    await waitUntil(page, () => !!written.includes('talk=false'));
    await page.touchscreen.tap(button.x, button.y);
    await waitUntil(page, () => ofButton().length >= 4);
    await settled();
    t.deepEqual(ofButton(), ['talk=true', 'talk=false', 'talk=true', 'talk=false']);
  });
