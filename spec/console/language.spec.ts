// The console in German and French: its table of texts is whole, an operator reads and writes in their language, and no text is cut off,
// also on a phone. With SCREENSHOTS=<folder> the spec keeps pictures of the views.

import { glob, readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { languages } from '../../lib/console/language/language.ts';
import { texts } from '../../lib/console/language/texts.ts';
import { openConsole, waitUntil } from '../support/browser/console.ts';
import { cut, look, overlapping } from '../support/browser/legible.ts';
import { browser } from '../support/browser/own-browser.ts';
import { eventually } from '../support/deadline.ts';
import { ask } from '../support/http.ts';
import { api, startHubFrom, writer } from '../support/hub.ts';
import { sampled } from '../support/random.ts';
import { shared } from '../support/shared.ts';

const { SCREENSHOTS: picturesFolder } = process.env;
const sources = resolve(import.meta.dirname, '../../lib/console');
const panels = join(import.meta.dirname, 'panels');

/** The texts in quotes of the console's source, except the table. */
const quoted = shared(async () => {
  const found = new Set<string>();
  for await (const file of glob('**/*.{ts,tsx}', { cwd: sources })) {
    if (file.endsWith('texts.ts')) continue;
    const source = await readFile(join(sources, file), 'utf8');
    for (const [, single, double] of source.matchAll(/'((?:[^'\\\n]|\\.)*)'|"([^"\n]*)"/g))
      found.add(single ?? double!);
  }
  return found;
});

test('every text that the console draws with t() has an entry', async (t) => {
  const known = new Set<string>(texts.map(([english]) => english));
  let count = 0;
  for await (const file of glob('**/*.{ts,tsx}', { cwd: sources })) {
    const source = await readFile(join(sources, file), 'utf8');
    for (const [, text] of source.matchAll(/\bt\(\s*'((?:[^'\\\n]|\\.)*)'/g)) {
      count += 1;
      t.true(known.has(text!), `${file}: no entry for '${text}'`);
    }
  }
  t.true(count > 150, `${count} texts`);
});

test('every entry is used, and is there once', async (t) => {
  const used = await quoted();
  const english = texts.map(([one]) => one);
  t.deepEqual(
    english.filter((one) => !used.has(one)),
    [],
  );
  t.deepEqual(
    english.filter((one, index) => english.indexOf(one) !== index),
    [],
  );
});

test('every entry has all languages, with the same placeholders and forms', (t) => {
  const placeholdersOf = (text: string) => [...new Set(text.match(/\{\d\}/g))].sort();
  for (const row of texts) {
    const [english] = row;
    t.is(row.length, languages.length, english);
    for (const text of row) {
      t.not(text.trim(), '', english);
      t.is(text.split('|').length, english.split('|').length, `forms of '${english}': ${text}`);
      for (const form of text.split('|'))
        t.deepEqual(placeholdersOf(form), placeholdersOf(english), `${english}: ${form}`);
    }
  }
});

const start = shared(async (t) => {
  const users = {
    presenter: { password: 'on air', read: ['**'], dashboards: ['**'], write: ['**'] },
    root: { password: 'root', read: ['**'], write: ['**'], dashboards: ['**'], manage: true, edit: ['**'] },
  };
  const guards = [
    { type: 'button', label: 'Line', address: 'studio/line', mode: 'set', value: 2, pin: '1234', hold: 1 },
    { type: 'select', label: 'Source', address: 'studio/line', pin: '1234', hold: 2, confirm: 'Switch the line?' },
    { type: 'number', label: 'Guest', address: 'studio/guest', digits: 1, size: [2, 1] },
    { type: 'value', label: 'Rack', address: 'rack/level/8', digits: 3 },
    { type: 'alarm', label: 'Silence', address: 'alarm/silence' },
    { type: 'events', addresses: ['studio/guest'], size: [2, 1] },
    { type: 'lamp', label: 'Red', address: 'studio/red-light' },
    { type: 'fader', label: 'Phones', address: 'studio/phones', min: -60, max: 10, confirm: 'Really?', size: [1, 2] },
    { type: 'value', label: 'Gone', address: 'studio/gust' },
    { type: 'schedule', label: 'Booked', address: 'times/booked', next: 2, size: [2, 2] },
    { type: 'radio', label: 'Choice', address: 'studio/left', size: [2, 1] },
    { type: 'link', back: true },
    { type: 'countdown', label: 'Left', address: 'studio/left', unit: 'h' },
  ];
  const files: Record<string, unknown> = {
    'api.json5': { connections: { api: { ...api, title: 'Studio 1', dashboards: 'dashboards', users } } },
    'dashboards/guards.json5': { columns: 4, widgets: guards },
  };
  for (const name of await readdir(panels)) {
    const text = await readFile(join(panels, name), 'utf8');
    files[name === 'house.json5' ? name : `dashboards/${name}`] = text;
  }
  const hub = await startHubFrom(t, files);
  await eventually(() => hub.find('alarm/silence/state')?.value === 'unacknowledged');
  for (const isOn of [false, true]) hub.write('rack/fan', isOn, writer);
  await eventually(() => hub.find('alarm/fan/state')?.value === 'returned');
  return hub;
});

interface Words {
  readonly user: string;
  readonly password: string;
  readonly signIn: string;
  readonly wrong: string;
}
const german: Words = {
  user: 'Benutzer',
  password: 'Passwort',
  signIn: 'Anmelden',
  wrong: 'Benutzer oder Passwort ist falsch.',
};
const french: Words = {
  user: 'Utilisateur',
  password: 'Mot de passe',
  signIn: 'Se connecter',
  wrong: 'Utilisateur ou mot de passe incorrect.',
};

async function open(t: ExecutionContext, words: Words, user: string, password: string, options: BrowserContextOptions) {
  const { port } = await start();
  const page = await openConsole(t, browser, port, '', { reducedMotion: 'reduce', ...options });
  await fill(page, words, user, password);
  await page.locator('[data-trouble]').first().waitFor();
  return page;
}

async function fill(page: Page, words: Words, user: string, password: string): Promise<void> {
  await page.getByLabel(words.user).fill(user);
  await page.getByLabel(words.password).fill(password);
  await page.getByRole('button', { name: words.signIn }).click();
}

test.serial('an operator signs in, acknowledges an alarm and sets a value in German', async (t) => {
  const hub = await start();
  const { port } = hub;
  const page = await openConsole(t, browser, port, '', { locale: 'de-DE' });
  await fill(page, german, 'presenter', 'wrong');
  await page.getByText(german.wrong).waitFor();
  await fill(page, german, 'presenter', 'on air');
  await page.getByRole('heading', { name: /^Störungen/ }).waitFor();
  t.is(await page.evaluate('document.documentElement.lang'), 'de');
  await waitUntil(page, `document.title === '(2) Start · Studio 1'`);
  await page
    .getByRole('navigation', { name: 'Ansichten' })
    .getByRole('link', { name: /^Alarme/ })
    .click();
  await page.getByRole('heading', { level: 1, name: 'Alarme' }).waitFor();
  await waitUntil(page, `document.title === '(2) Alarme · Studio 1'`);
  await page.getByRole('button', { name: '2 Alarme quittieren' }).waitFor();
  await page.getByRole('button', { name: 'Quittieren: Silence on the main programme' }).click();
  await page.locator('[data-alarm="alarm/silence"]').getByText('quittiert', { exact: true }).waitFor();
  t.is(hub.find('alarm/silence/state')?.value, 'acknowledged');
  await page.getByRole('button', { name: '1 h zurückstellen: Silence on the main programme' }).click();
  await page.locator('[data-alarm="alarm/silence"]').getByText('zurückgestellt').waitFor();
  await page.getByRole('button', { name: 'Nicht mehr zurückstellen: Silence on the main programme' }).click();

  await page.evaluate(`location.hash = '#/dashboards?name=guards'`);
  await page.locator('.widget output >> text=-41,125').waitFor();
  const guest = page.getByRole('textbox', { name: 'Guest in dB' });
  await waitUntil(page, () => guest.inputValue().then((text) => text === '-14,5'));
  for (const [typed, value] of [
    ['-12,5', -12.5],
    ['-13.5', -13.5],
    ['1,125', 1.125],
  ] as const) {
    await guest.fill(typed);
    await guest.press('Enter');
    await eventually(() => hub.find('studio/guest')?.value === value, typed);
  }
  await guest.fill('laut');
  await guest.press('Enter');
  await page.getByText('Eine Zahl wie -12,5 wird erwartet, nicht "laut".').waitFor();
  await page.getByText('Parameter nicht vorhanden, vielleicht „studio/guest“?').waitFor();
});

test.serial('the URL and the user choose the language, which the browser keeps', async (t) => {
  const { port } = await start();
  const page = await openConsole(t, browser, port, '?lang=fr#/alarms');
  await fill(page, french, 'presenter', 'on air');
  await page.getByRole('heading', { level: 1, name: 'Alarmes' }).waitFor();
  t.is(await page.evaluate('document.documentElement.lang'), 'fr');
  await page.getByRole('combobox', { name: 'Langue' }).selectOption('EN');
  await page.getByRole('heading', { level: 1, name: 'Alarms' }).waitFor();
  t.is(await page.evaluate('document.documentElement.lang'), 'en');
  await page.goto(`http://127.0.0.1:${port}/hub/?lang=de#/alarms`);
  await page.getByRole('heading', { level: 1, name: 'Alarme' }).waitFor();
  await page.goto(`http://127.0.0.1:${port}/hub/#/alarms`);
  await page.getByRole('heading', { level: 1, name: 'Alarme' }).waitFor();
});

test.serial('the language in the URL stays over the sign-in of a browser that stores nothing', async (t) => {
  const { port } = await start();
  const page = await openConsole(t, browser, port, '');
  await page.addInitScript("Object.defineProperty(window, 'localStorage', { get() { throw new Error('denied'); } })");
  for (const path of ['/hub/?lang=fr#/alarms', '/hub?lang=fr#/alarms']) {
    await page.goto(`http://127.0.0.1:${port}${path}`);
    await fill(page, french, 'presenter', 'on air');
    await page.getByRole('heading', { level: 1, name: 'Alarmes' }).waitFor();
    await page.context().clearCookies();
  }
  await page.reload();
  await page.getByRole('button', { name: french.signIn }).waitFor();
});

test.serial('the console is in English for other languages, and if the texts cannot be loaded', async (t) => {
  const { port } = await start();
  const italian = await openConsole(t, browser, port, '', { locale: 'it-IT' });
  await fill(italian, { ...german, user: 'User', password: 'Password', signIn: 'Sign in' }, 'presenter', 'on air');
  await italian.getByRole('heading', { name: /^Problems/ }).waitFor();
  const page = await openConsole(t, browser, port, '', { locale: 'fr-CA' });
  await page.route('**/texts-*.js', (route) => route.abort());
  await fill(page, french, 'presenter', 'on air');
  await page.getByRole('heading', { name: /^Problems/ }).waitFor();
  t.is(await page.evaluate('document.documentElement.lang'), 'en');
});

const sights = [
  ['#/start', '[data-trouble]'],
  ['#/alarms?all=true', '[data-alarm]'],
  ['#/schedule?entry=times/booked', '.next-times li'],
  ['#/dashboards', '.panels a'],
  ['#/dashboards?name=guards', '.widget .alarm-state'],
  ...['door', 'desk', 'engineering', 'phone', 'corridor'].map((name) => [
    `#/dashboards?name=${name}`,
    '.widget .lit >> text=ON AIR',
  ]),
] as const;
const screens = [
  [320, 568],
  [390, 844],
  [667, 375],
  [768, 1024],
  [1280, 800],
] as const;

for (const [locale, words] of [
  ['de', german],
  ['fr', french],
] as const)
  test.serial(`nothing is cut off on any screen in the language ${locale}`, async (t) => {
    const isSeen = sampled(t, 2);
    const faults: string[] = [];
    for (const isForFingers of [true, false]) {
      const hands = { hasTouch: isForFingers, isMobile: isForFingers };
      const page = await open(t, words, isForFingers ? 'presenter' : 'root', isForFingers ? 'on air' : 'root', {
        locale,
        ...hands,
      });
      for (const [index, [hash, ready]] of sights.entries())
        for (const [at, [width, height]] of screens.entries()) {
          if (width < 1000 !== isForFingers) continue;
          if (picturesFolder === undefined && !isSeen(index + at)) continue;
          await page.setViewportSize({ width, height });
          await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
          await page.locator(ready!).first().waitFor();
          const name = `${hash!.replace(/\W+/g, '-')}-${width}-${locale}`;
          if (picturesFolder) await page.screenshot({ path: join(picturesFolder, `${name}.png`) });
          const isPanel = /name=(?!guards)/.test(hash!); // a fader is locked by a button over it
          for (const expression of [look(isForFingers), cut, ...(isPanel ? [overlapping] : [])])
            for (const fault of await page.evaluate<string[]>(expression)) faults.push(`${name}: ${fault}`);
        }
    }
    t.deepEqual(faults, []);
  });

for (const [locale, words, source] of [
  ['de', german, ['2 s halten', 'Abbrechen', 'Falsche PIN.']],
  ['fr', french, ['Maintenir 2 s', 'Annuler', 'Code erroné.']],
] as const)
  test.serial(`the question before a value is set fits a phone in the language ${locale}`, async (t) => {
    const [hold, cancel, wrong] = source;
    const page = await open(t, words, 'presenter', 'on air', { locale, hasTouch: true, isMobile: true });
    await page.setViewportSize({ width: 320, height: 568 });
    await page.evaluate(`location.hash = '#/dashboards?name=guards'`);
    await page.getByRole('combobox', { name: 'Source' }).selectOption('Telephone 1');
    const button = page.getByRole('dialog').getByRole('button', { name: hold });
    const { x, y, width, height } = (await button.boundingBox())!;
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.mouse.down();
    await page.getByRole('dialog').getByText(wrong, { exact: true }).waitFor();
    await page.mouse.up();
    if (picturesFolder) await page.screenshot({ path: join(picturesFolder, `question-320-${locale}.png`) });
    for (const expression of [look(true), cut]) t.deepEqual(await page.evaluate<string[]>(expression), []);
    await page.getByRole('button', { name: cancel }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

test.serial('a kiosk link chooses the language, and the lost connection is shown in it', async (t) => {
  const hub = await start();
  const headers = { authorization: `Basic ${btoa('root:root')}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ action: 'invite', user: 'presenter', device: 'Reception', dashboard: 'guards' });
  const { link } = JSON.parse(String((await ask(t, hub.port, 'POST /hub/users', { headers, body })).body)) as {
    link: string;
  };
  const page = await openConsole(t, browser, hub.port, '');
  await page.getByLabel('User').waitFor();
  await page.goto(new URL(link.replace('#', '?lang=fr#'), page.url()).href);
  await page.locator('.panel-page .widget').getByText('paramètre inexistant').waitFor();
  await page.reload();
  await page.locator('.panel-page .widget').getByText('paramètre inexistant').waitFor();
  await hub.stop();
  await page
    .getByRole('status')
    .getByText(/^Connexion au hub perdue depuis \d\d:\d\d:\d\d\.\d{3}\. Les valeurs sont périmées\.$/)
    .waitFor();
  t.is(await page.evaluate(`getComputedStyle(document.querySelector('.widget'), '::after').content`), '"hors ligne"');
});
