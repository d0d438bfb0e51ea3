// People can read the console on every size of screen, light and dark: nothing is cut off, covered or pale, letters have at least 11
// pixels, fingers meet 44 pixels, words are not broken, and people read a sign across the room.

import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { goTo, openConsole, signIn } from '../support/browser/console.ts';
import { cut, look, pale } from '../support/browser/legible.ts';
import { browser } from '../support/browser/own-browser.ts';
import { eventually } from '../support/deadline.ts';
import { ask } from '../support/http.ts';
import { api, startHubFrom, writer } from '../support/hub.ts';
import { sampled } from '../support/random.ts';
import { shared } from '../support/shared.ts';

const screensOfDesks = [
  [3840, 2160],
  [1920, 1080],
  [1280, 800],
  [1024, 768],
] as const;
const screensForFingers = [
  [768, 1024],
  [667, 375],
  [390, 844],
  [320, 568],
] as const;
type Screen = readonly [width: number, height: number];
const nameOf = (screen: Screen) => screen.join(' × ');

const rules = Array.from({ length: 30 }, (_, n) => ({
  name: `rule ${n} of the studio`,
  from: `rack/unit-${n % 10}/meter-${n}`,
  map: 'value * 2.0',
  to: `rack/unit-${n % 10}/meter-${n + 30}`,
}));
const level = { address: 'desk/level', min: -60, max: 12, unit: 'dB' };
const lamp = { type: 'lamp', address: 'desk/lamp', tone: 'danger' };
const studio = [
  { type: 'label', label: 'Studio 1' },
  { ...lamp, label: 'ON AIR', size: [2, 1] },
  { type: 'button', label: 'Microphone', address: 'desk/mic' },
  { type: 'button', label: 'Talkback to the presenter', address: 'desk/go', mode: 'fire' },
  { type: 'value', label: 'Level', address: 'desk/level', unit: 'dB' },
  { type: 'value', label: 'Programme', address: 'desk/title' },
  { type: 'fader', label: 'Guest', ...level, size: [1, 3] },
  { type: 'fader', label: 'Presenter', ...level },
  { type: 'meter', label: 'Level', ...level },
  { type: 'group', label: 'Doors', columns: 2, size: [2, 1], widgets: [lamp, { ...lamp, label: 'Transmission' }] },
];
/** Numbers that are long for their tiles. */
const numbers = [
  { type: 'meter', label: 'Power', address: 'desk/power', max: 2_000_000, unit: 'W', digits: 3 },
  { type: 'fader', label: 'Power', address: 'desk/power', max: 2_000_000, unit: 'W', digits: 3, size: [1, 3] },
  { type: 'value', label: 'Power', address: 'desk/power', unit: 'W', digits: 6 },
  { type: 'plot', label: 'Share of the whole house', addresses: ['desk/percent'], unit: '%', digits: 2 },
  { type: 'plot', addresses: ['desk/percent', 'desk/power'], digits: 1, size: [2, 1] },
  { type: 'plot', addresses: ['desk/power'], unit: 'W', digits: 6 },
  { type: 'value', label: 'Gone', address: 'desk/lvel' },
];
const users = {
  root: { password: 'root', read: ['**'], write: ['**'], manage: true, edit: ['**'] },
  'reception-of-studio-1': { token: 'x', read: ['desk/**', 'store/**'], write: ['desk/mic*', 'store/studio/recall'] },
};
const start = shared(async (t) => {
  const hub = await startHubFrom(t, {
    'flow.json5': {
      connections: {
        api: { ...api, dashboards: 'dashboards', users },
        desk: {
          type: 'dummy',
          description: 'The desk of studio 1, with a description that takes some room',
          parameters: [
            ...['mic,B,true', 'lamp,B,true', 'level,F,-12.5', 'go,T', 'title,S,Morning show'],
            ...['percent,F,12', 'power,F,-1234567.125'],
          ],
        },
        store: { type: 'store', folder: './data', snapshots: { studio: { include: ['desk/**'] } } },
        rack: { type: 'dummy', parameters: Array.from({ length: 60 }, (_, n) => `unit-${n % 10}/meter-${n},F,0`) },
        alarm: {
          type: 'alarms',
          alarms: { mic: { when: 'desk/mic', text: 'The microphone of the presenter is open' } },
        },
        opening: {
          type: 'schedule',
          zone: 'Europe/Berlin',
          entries: {
            'the-office-of-the-house': { days: 'mon-fri', from: '06:00', to: '22:00' },
            night: { from: '22:00', to: '05:15' },
            gong: { at: '*:00' },
          },
        },
        onair: { type: 'xml-file-output', description: 'on-air page', filename: 'onair.xml', template: '<a></b>' },
      },
      rules: [{ name: 'lamp follows the microphone', from: 'desk/mic', to: 'desk/lamp' }, ...rules],
    },
    'dashboards/studio.json5': { columns: 5, widgets: studio },
    'dashboards/numbers.json5': { columns: 4, widgets: numbers },
    'dashboards/blinking.json5': {
      columns: 3,
      widgets: ['neutral', 'info', 'ok', 'warning', 'danger'].map((tone) => ({
        ...lamp,
        tone,
        label: tone,
        blink: true,
      })),
    },
    'dashboards/sign.json5': { columns: 1, widgets: [{ ...lamp, label: 'ON AIR' }] },
    'dashboards/signs.json5': {
      columns: 3,
      widgets: ['ON AIR', 'REHEARSAL', 'Transmission control'].map((label) => ({ ...lamp, label })),
    },
  });
  hub.write(
    'desk/title',
    'A title that takes more room than there is beside the time and the name of who has set it',
    writer,
  );
  const far = { kind: 'client', name: 'api reception-of-studio-1 2001:db8:85a3:8d3:1319:8a2e:370:7348' } as const;
  for (let round = 0; round < 4; round++) hub.write('desk/level', -round * 3.25, far);
  hub.write('desk/level', -12.5, far);
  hub.write('desk/mic', false, far);
  hub.write('desk/mic', true, far);
  hub.write('store/studio/save', 'the evening of the first day', writer);
  const headers = { 'content-type': 'application/json', authorization: `Basic ${btoa('root:root')}` };
  const invitation = { action: 'invite', user: 'reception-of-studio-1', device: 'Kiosk at the reception of the house' };
  await ask(t, hub.port, 'POST /hub/users', { headers, body: JSON.stringify(invitation) });
  return hub;
});

const chosenRule = ['#/flows?as=graph&rule=rule 24 of the studio', '.box.rule[aria-pressed=true]'] as const;
const sights: (readonly [hash: string, ready: string])[] = [
  ['#/start', '[data-trouble]'],
  ['#/alarms', '[data-alarm]'],
  ['#/schedule', '[data-entry]'],
  ['#/connections', '[data-connection=onair]'],
  ['#/parameters', '[data-address="alarm/mic"] small'],
  ['#/parameters?search=desk', '[data-address="desk/level"] .value >> text=-12.5'],
  ['#/parameters?address=desk/level', '.detail canvas'],
  ['#/parameters?address=desk/title', '.detail output'],
  ['#/hubs', 'h1'],
  ['#/log', '.entry'],
  ['#/clients', '[data-client]'],
  ['#/users', '[data-device]'],
  ['#/users?as=matrix', '[data-rights]'],
  ['#/flows?as=graph', '.box.rule'],
  chosenRule,
  ['#/flows?as=list&rule=rule 24 of the studio', '.runs ol'],
  ['#/why?address=desk/lamp', '.cause'],
  ['#/history?address=desk/title', '.event'],
  ['#/history?address=desk/level', '.slot'],
  ['#/audit', '[data-entry]'],
  ['#/snapshots?selection=studio&name=the evening of the first day', '.comparison'],
  ['#/dashboards', '.panels a'],
  ['#/studio?name=studio', '.spot .widget output >> text=-12.5'],
  ['#/dashboards?name=studio', '.widget output >> text=-12.5'],
  ['#/dashboards?name=numbers', '.widget.plot output >> text=12.00'],
];

const openFor = (isForFingers: boolean) =>
  shared(async (t) => {
    const { port } = await start();
    const forHands = { hasTouch: isForFingers, isMobile: isForFingers };
    const page = await openConsole(t, browser, port, '', { ...forHands, reducedMotion: 'reduce' });
    await signIn(page, 'root', 'root');
    return page;
  });
const openDesk = openFor(false);
const openTouchscreen = openFor(true);

/** Shows a view at a size. The views follow the size of the page, but a graph stays where it is: it is shown anew. */
async function show(page: Page, hash: string, ready: string, [width, height]: Screen): Promise<void> {
  await page.setViewportSize({ width, height });
  if (hash.includes('as=graph')) await goTo(page, hash);
  else await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  await page.locator(ready).first().waitFor();
}

/** Reads something from a page once it is drawn and its link is up. */
function read<T>(page: Page, expression: string): Promise<T> {
  return page.evaluate<T>(`new Promise((resolve) => {
    let frames = 0;
    const look = () => {
      frames = document.querySelector('.banner') ? 0 : frames + 1;
      if (frames > 2) resolve(${expression});
      else requestAnimationFrame(look);
    };
    look();
  })`);
}

async function expectInSight(t: ExecutionContext, page: Page, screen: Screen): Promise<void> {
  const isInSight = async () => {
    const rule = (await page.locator(chosenRule[1]).boundingBox())!;
    const canvas = (await page.locator('.canvas').boundingBox())!;
    const isBeside = rule.x >= canvas.x && rule.x + rule.width <= canvas.x + canvas.width;
    return isBeside && rule.y >= canvas.y && rule.y + rule.height <= canvas.y + canvas.height;
  };
  await eventually(isInSight, `the chosen rule to be in sight at ${nameOf(screen)}`); // the graph is drawn again when its ways are known
  t.pass();
}

for (const screens of [screensOfDesks, screensForFingers])
  test.serial(`every view at ${screens.map(nameOf).join(', ')}`, async (t) => {
    const isForFingers = screens === screensForFingers;
    const page = await (isForFingers ? openTouchscreen() : openDesk());
    const inTurn = [...screens];
    const isSeen = sampled(t, 2);
    for (const [index, [hash, ready]] of sights.entries()) {
      for (const screen of inTurn) {
        const isExtreme = screen === screens[0] || screen === screens.at(-1);
        // of the two at the ends, one for each view, and of the two between
        if (!isSeen(index + (screens as readonly unknown[]).indexOf(screen))) continue;
        await show(page, hash, ready, screen);
        t.deepEqual(await read(page, look(isForFingers)), [], `${hash} at ${nameOf(screen)}`);
        t.deepEqual(await read(page, cut), [], `${hash} at ${nameOf(screen)}`);
        for (const colorScheme of isExtreme ? (['dark', 'light'] as const) : []) {
          await page.emulateMedia({ colorScheme });
          t.deepEqual(await read(page, pale()), [], `${hash} at ${nameOf(screen)}, ${colorScheme}`);
        }
        if (hash === chosenRule[0]) await expectInSight(t, page, screen);
      }
      inTurn.reverse(); // the next view begins as this one ended
    }
  });

test.serial('on a sign the words take most of their tile, at every size', async (t) => {
  const page = await openDesk();
  const isSeen = sampled(t, 2);
  for (const [index, name] of ['sign', 'signs', 'studio'].entries())
    for (const screen of [...screensOfDesks, ...screensForFingers].filter((_, at) => isSeen(index + at))) {
      await show(page, `#/dashboards?name=${name}`, '.lit', screen);
      const shares = await read<number[]>(
        page,
        `[...document.querySelectorAll('.widget.lamp .big')].map((label) => {
        const range = document.createRange();
        range.selectNodeContents(label);
        const { width, height } = range.getBoundingClientRect();
        const tile = label.closest('.widget').getBoundingClientRect();
        return Math.max(width / tile.width, height / tile.height);
      })`,
      );
      t.true(shares.length > 0 && shares.every((share) => share >= 0.4), `${name} at ${nameOf(screen)}: ${shares}`);
    }
});

test.serial('blinking text is legible in both halves, in every tone, light and dark', async (t) => {
  const { port } = await start();
  const page = await openConsole(t, browser, port, '', { reducedMotion: 'no-preference' });
  await signIn(page, 'root', 'root');
  await show(page, '#/dashboards?name=blinking', '.lit.blink', screensOfDesks[2]);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const looks = new Set<string>();
    for (const atMs of [100, 600]) {
      t.deepEqual(await read(page, pale(atMs)), [], `${colorScheme}, after ${atMs} ms`);
      looks.add(
        await read(
          page,
          `(() => { for (const one of document.getAnimations()) { one.pause(); one.currentTime = ${atMs}; } return [...document.querySelectorAll('.blink')].map((one) => getComputedStyle(one).backgroundColor).join(); })()`,
        ),
      );
    }
    t.is(looks.size, 2, 'it blinks');
  }
});

test.serial('a phone offers every view that a desk does', async (t) => {
  const page = await openTouchscreen();
  const offered = async () => {
    const links = await page.locator('nav a').all();
    const boxes = await Promise.all(
      links.map(async (link) => ({ name: await link.textContent(), box: await link.boundingBox() })),
    );
    return boxes.filter(({ box }) => box !== null && box.width >= 24 && box.x >= 0).map(({ name }) => name);
  };
  await show(page, '#/connections', 'h1', [1280, 800]);
  const onDesk = await offered();
  t.is(onDesk.length, 15);
  for (const screen of screensForFingers) {
    await show(page, '#/connections', 'h1', screen);
    const more = page.getByRole('button', { name: 'More' });
    const isPhone = (await more.count()) > 0;
    t.is(isPhone, screen[0] <= 600, nameOf(screen));
    if (isPhone) t.is((await offered()).length, 5, nameOf(screen));
    if (isPhone) await more.click();
    t.deepEqual((await offered()).sort(), onDesk.sort(), nameOf(screen));
    if (isPhone) await page.getByRole('button', { name: 'Close' }).click();
    for (const name of isPhone ? [] : onDesk) {
      const { x, width } = (await page.getByRole('link', { name: name!, exact: true }).first().boundingBox())!;
      t.true(x + width <= screen[0], `${name} at ${nameOf(screen)}`);
    }
  }
});

test.serial('the sign-in page, the keys and a question are legible on every screen', async (t) => {
  const { port } = await start();
  const page = await openConsole(t, browser, port, '', { reducedMotion: 'reduce' });
  const isSeen = sampled(t, 2);
  const expectLegible = async (what: string) => {
    for (const [width, height] of [...screensOfDesks, ...screensForFingers].filter((_, index) => isSeen(index))) {
      await page.setViewportSize({ width, height });
      for (const expression of [look(false), cut]) t.deepEqual(await read(page, expression), [], `${what} at ${width}`);
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme });
        t.deepEqual(await read(page, pale()), [], `${what}, ${colorScheme}`);
      }
    }
  };
  await page.getByLabel('User').waitFor();
  await expectLegible('the page to sign in');
  await signIn(page, 'root', 'root');
  await page.keyboard.press('?');
  await page.getByRole('dialog').waitFor();
  await expectLegible('the keys');
  await page.keyboard.press('Escape');
  await show(page, '#/connections', '[data-connection=onair]', screensOfDesks[2]);
  await page.locator('[data-connection=desk]').getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('dialog').waitFor();
  await expectLegible('a question');
  await page.keyboard.press('Escape');
});
