// People can read the console on every size of screen: nothing is cut off at the sides, letters have at least 11 pixels, fingers meet
// 44 pixels, words are not broken, and people read a sign across the room.

import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { goTo, openConsole, signIn } from '../support/browser/console.ts';
import { browser } from '../support/browser/own-browser.ts';
import { api, startHubFrom, writer } from '../support/hub.ts';
import { shared } from '../support/shared.ts';

const leastLetters = 11;
const leastTarget = 44;
const screensOfDesks = [
  [1920, 1080],
  [1280, 800],
] as const;
const screensForFingers = [
  [768, 1024],
  [390, 844],
  [667, 375],
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
const users = {
  root: { password: 'root', read: ['**'], write: ['**'], manage: true },
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
          parameters: ['mic,B,true', 'lamp,B,true', 'level,F,-12.5', 'go,T', 'title,S,Morning show'],
        },
        store: { type: 'store', folder: './data', snapshots: { studio: { include: ['desk/**'] } } },
        rack: { type: 'dummy', parameters: Array.from({ length: 60 }, (_, n) => `unit-${n % 10}/meter-${n},F,0`) },
        onair: { type: 'xml-file-output', description: 'on-air page', filename: 'onair.xml', template: '<a></b>' },
      },
      rules: [{ name: 'lamp follows the microphone', from: 'desk/mic', to: 'desk/lamp' }, ...rules],
    },
    'dashboards/studio.json5': { columns: 5, widgets: studio },
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
  hub.write('store/studio/save', 'the evening of the first day', writer);
  return hub;
});

const chosenRule = ['#/flows?as=graph&rule=rule 24 of the studio', '.box.rule[aria-pressed=true]'] as const;
const sights: (readonly [hash: string, ready: string])[] = [
  ['#/connections', '[data-connection=onair]'],
  ['#/parameters', '[data-address="desk/level"] .value >> text=-12.5'],
  ['#/parameters?address=desk/level', '.detail canvas'],
  ['#/log', '.entry'],
  ['#/clients', '[data-client]'],
  ['#/users', '[data-device]'],
  ['#/flows?as=graph', '.box.rule'],
  chosenRule,
  ['#/flows?as=list&rule=rule 24 of the studio', '.runs ol'],
  ['#/why?address=desk/lamp', '.cause'],
  ['#/history?address=desk/title', '.event'],
  ['#/history?address=desk/level', '.slot'],
  ['#/audit', '[data-entry]'],
  ['#/snapshots?selection=studio&name=the evening of the first day', '.comparison'],
  ['#/dashboards', '.panels a'],
  ['#/dashboards?name=studio', '.widget output >> text=-12.5'],
];

/** Says what is wrong with the page in view, a line each. */
const look = `((leastLetters, leastTarget, isForFingers) => {
  const faults = new Set();
  const nameOf = (element) => element.tagName.toLowerCase() + '.' + element.className + ' ' + (element.textContent || element.ariaLabel || '').trim().slice(0, 30);
  const scaleOf = (element) => (element.offsetWidth ? element.getBoundingClientRect().width / element.offsetWidth : 1) || 1;
  const isSeen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !element.closest('svg, .skip, dialog:not([open])') && !getComputedStyle(element).clipPath.includes('inset');
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode;
    const element = text.parentElement;
    if (text.data.trim() === '' || !isSeen(element)) continue;
    const size = parseFloat(getComputedStyle(element).fontSize) * scaleOf(element.closest('.box') ?? document.body);
    if (size < leastLetters - 0.05) faults.add('letters of ' + size.toFixed(1) + ' px: ' + nameOf(element));
    for (const { 0: word, index } of text.data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      if (new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top))).size > 1)
        faults.add('a word in two: ' + word);
    }
  }
  for (const element of document.querySelectorAll('button, a.button, nav a, input, select, textarea, .cap')) {
    if (!isSeen(element) || element.closest('.canvas .plane')) continue;
    const { left, right, width, height, top, bottom } = element.getBoundingClientRect();
    if (left < -1 || right > innerWidth + 1) faults.add('cut off at the side: ' + nameOf(element));
    const scroller = element.closest('.scroll, .bar, .detail, .rule-panel, .panel-page');
    if (scroller && right > scroller.getBoundingClientRect().right + 1) faults.add('cut off: ' + nameOf(element));
    if (isForFingers && (element.type === 'range' || element.type === 'checkbox')) continue;
    const least = element.closest('nav') ? 38 : leastTarget; // seven views share the height of a phone on its side
    if (isForFingers && (width < 24 || height < least - 0.5)) faults.add('small for a finger, ' + width.toFixed() + ' × ' + height.toFixed() + ': ' + nameOf(element));
  }
  for (const name of document.querySelectorAll('.row .name'))
    if (isSeen(name) && name.clientWidth < 150) faults.add('an address has ' + name.clientWidth + ' px');
  for (const name of document.querySelectorAll('.widget .name'))
    if (name.textContent.trim() && name.clientHeight < leastLetters) faults.add('a name has ' + name.clientHeight + ' px: ' + name.textContent);
  for (const scroller of document.querySelectorAll('.scroll, .bar, main, .panel-page, .detail'))
    if (scroller.scrollWidth > scroller.clientWidth + 1) faults.add('it scrolls to the side: ' + nameOf(scroller));
  if (document.documentElement.scrollWidth > innerWidth) faults.add('the page scrolls to the side');
  return [...faults];
})`;

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
  const rule = (await page.locator(chosenRule[1]).boundingBox())!;
  const canvas = (await page.locator('.canvas').boundingBox())!;
  const inSight = `the chosen rule is in sight at ${nameOf(screen)}`;
  t.true(rule.x >= canvas.x && rule.x + rule.width <= canvas.x + canvas.width, inSight);
  t.true(rule.y >= canvas.y && rule.y + rule.height <= canvas.y + canvas.height, inSight);
}

for (const screens of [screensOfDesks, screensForFingers])
  test.serial(`every view at ${screens.map(nameOf).join(', ')}`, async (t) => {
    const isForFingers = screens === screensForFingers;
    const page = await (isForFingers ? openTouchscreen() : openDesk());
    const inTurn = [...screens];
    for (const [hash, ready] of sights) {
      for (const screen of inTurn) {
        await show(page, hash, ready, screen);
        const faults = await read(page, `${look}(${leastLetters}, ${leastTarget}, ${isForFingers})`);
        t.deepEqual(faults, [], `${hash} at ${nameOf(screen)}`);
        if (hash === chosenRule[0]) await expectInSight(t, page, screen);
      }
      inTurn.reverse(); // the next view begins as this one ended
    }
  });

test.serial('on a sign the words take most of their tile, at every size', async (t) => {
  const page = await openDesk();
  for (const name of ['sign', 'signs', 'studio'])
    for (const screen of [...screensOfDesks, ...screensForFingers]) {
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
