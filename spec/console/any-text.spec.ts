// Texts of people are shown as they are, in every view and every widget: names that every object of JavaScript knows, letters of all
// kinds and halves of them, markup, and texts of ten thousand letters. Nothing fails, and nothing of them is code.

import test from 'ava';
import type { Page } from 'playwright-core';
import { openConsole, signIn, waitUntil } from '../support/browser/console.ts';
import { browser } from '../support/browser/own-browser.ts';
import { ask } from '../support/http.ts';
import { api, startHubFrom, writer } from '../support/hub.ts';
import { sampled } from '../support/random.ts';
import { shared } from '../support/shared.ts';

const known = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', 'prototype', 'isPrototypeOf'];
const letters = [
  '😀👩‍👩‍👧‍👦',
  'שלום עולם',
  '\u202eabc\u202c',
  'e\u0301\u0302\u0303'.repeat(20),
  '%2e%2f',
  '\'"`$\\{x}',
];
const markup = ['<img src=x onerror="pwned=1">', '<script>pwned=1<\u002fscript>', '&lt;b&gt;', 'javascript:pwned=1'];
const texts = [...known, ...letters, ...markup];
/** Values may be more than names: halves of characters, control characters, spaces, length. */
const values = [
  ...texts,
  ...[
    '\ud800',
    'a\udc00b',
    '\u0000\u0007\u001b[31m',
    '',
    ' ',
    '\n\n',
    'w'.repeat(10_000),
    'w w '.repeat(2500),
    'NaN',
    '-0',
  ],
];
const ids = texts.map((text) => text.replaceAll('/', '∕'));
const addresses = ids.map((id) => `desk/${id}`);
const snapshotNames = texts.filter((text) => /^[\p{L}\p{N}][^/]{0,63}$/u.test(text));
const fileNames = ids.filter((id) => !/^[._]/.test(id) || id === '__proto__');

const widgetsFor = (text: string, address: string) => [
  { type: 'label', label: text },
  { type: 'value', label: text, address, unit: text.slice(0, 3), texts: Object.fromEntries([[text, text]]) },
  { type: 'lamp', label: text, address, equals: text },
  { type: 'button', label: text, address, mode: 'set', value: text, lamp: address },
  { type: 'fader', label: text, address, unit: text.slice(0, 3) },
  { type: 'meter', label: text, address },
  { type: 'plot', label: text, addresses: [address, 'desk/text'] },
  { type: 'group', label: text, widgets: [{ type: 'value', address }] },
  { type: 'select', label: text, address, choices: Object.fromEntries([[text, text]]) },
  { type: 'radio', label: text, address, choices: Object.fromEntries([[text, text]]), confirm: text },
  { type: 'number', label: text, address, unit: text.slice(0, 3) },
  { type: 'text', label: text, address },
  { type: 'gauge', label: text, address, unit: text.slice(0, 3) },
  { type: 'countdown', label: text, address, done: text.slice(0, 20) },
  { type: 'link', label: text, to: text },
  { type: 'icon', label: text, icon: 'mic', address, tones: Object.fromEntries([[text, 'ok']]) },
  { type: 'events', label: text, addresses: [address, 'desk/text'] },
  { type: 'matrix', label: text, lamps: [{ address, label: text.slice(0, 40) }, { address }], equals: text },
  { type: 'alarm', label: text, address: 'alarm/a0' },
  { type: 'image', label: text, src: '/none.svg' },
  { type: 'schedule', label: text, address: address.replace('desk/', 'opening/') },
  { type: 'tabs', label: text, tabs: [{ label: text, widgets: [{ type: 'lamp', label: text, address }] }] },
];
const widgetCount = widgetsFor('', '').length + 2;
const userNames = known.filter((name) => /^[\w]+$/.test(name));
const rights = { read: ['**'], write: ['**'], dashboards: ['**'] };
const files = {
  'flow.json5': JSON.stringify({
    connections: {
      api: { ...api, dashboards: 'dashboards' },
      desk: {
        type: 'dummy',
        description: markup[0],
        parameters: [...ids.map((id) => `${id},S,${id}`), 'text,S,x', 'number,F,0', 'on,B,true'],
      },
      alarm: {
        type: 'alarms',
        alarms: Object.fromEntries(texts.map((text, index) => [`a${index}`, { when: 'desk/on', text }])),
      },
      opening: { type: 'schedule', zone: 'UTC', entries: Object.fromEntries(ids.map((id) => [id, {}])) },
      constructor: { type: 'dummy', parameters: ids.map((id) => `a/${id}/b,S`) },
      store: { type: 'store', folder: './data', snapshots: { constructor: { include: ['desk/**'] } } },
    },
    rules: addresses.map((from, index) => ({
      name: texts[index],
      from,
      map: "value + '!'",
      to: `constructor/a/${ids[index]}/b`,
    })),
  }).replace(
    '"dashboards":"dashboards"',
    `"dashboards":"dashboards","users":{"root":${JSON.stringify({ password: 'root', ...rights, manage: true, edit: ['**'] })},${userNames
      .map((name) => `${JSON.stringify(name)}:${JSON.stringify({ token: `token-${name}`, ...rights })}`)
      .join()}}`,
  ),
  'dashboards/all.json5': {
    columns: 20,
    widgets: texts.flatMap((text, index) => widgetsFor(text, addresses[index]!)),
  },
  'dashboards/value.json5': `{ columns: 4, widgets: [
    { type: 'value', address: 'desk/text', texts: { constructor: 'A constructor', "__proto__": 'A prototype' } },
    { type: 'value', address: 'desk/text' }, { type: 'lamp', address: 'desk/text', equals: 'constructor' }, { type: 'button', address: 'desk/text' },
    { type: 'meter', address: 'desk/text' }, { type: 'fader', address: 'desk/text' }, { type: 'plot', addresses: ['desk/text'] },
    { type: 'group', label: '', widgets: [{ type: 'value', address: 'desk/text' }] } ] }`,
  ...Object.fromEntries(
    fileNames.map((name) => [`dashboards/${name}.json5`, { title: name, widgets: [{ type: 'label', label: name }] }]),
  ),
};

const start = shared(async (t) => {
  const hub = await startHubFrom(t, files);
  for (const [index, address] of addresses.entries()) hub.write(address, `${texts[index]} again`, writer);
  for (const name of snapshotNames) hub.write('store/constructor/save', name, writer);
  const headers = { 'content-type': 'application/json', authorization: `Basic ${btoa('root:root')}` };
  for (const device of texts)
    await ask(t, hub.port, 'POST /hub/users', {
      headers,
      body: JSON.stringify({ action: 'invite', user: 'constructor', device }),
    });
  return hub;
});
const open = shared(async (t) => {
  const hub = await start();
  const page = await openConsole(t, browser, hub.port);
  await signIn(page, 'root', 'root');
  return { hub, page };
});

const query = (name: string, value: string) => `${new URLSearchParams({ [name]: value })}`;

/** Nothing has failed, and no text has become an element or has run. */
async function isWhole(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => [
    ...[...document.querySelectorAll('.fault')].map((one) => one.textContent),
    ...(document.body.innerText.includes('This view failed') ? [document.body.innerText] : []),
    ...(globalThis.pwned === undefined ? [] : ['text was run']),
    ...(document.querySelector('main img:not(.image-widget *), main script') ? ['text has become an element'] : []),
  ])()`);
}

test.serial('every widget shows every value', async (t) => {
  const { hub, page } = await open();
  await page.evaluate(`location.hash = '#/dashboards?name=value'`);
  const shown = page.locator('.widget.value output').nth(1);
  await shown.waitFor();
  for (const value of values) {
    hub.write('desk/text', value, writer);
    const begins = value.toWellFormed().slice(0, 40).replace(/\s+/g, '');
    await waitUntil(page, async () => ((await shown.textContent()) ?? '').replace(/\s+/g, '').startsWith(begins));
    t.deepEqual(await isWhole(page), [], value.slice(0, 40));
    t.is(await page.locator('.widget').count(), 9);
  }
  for (const [value, text] of [
    ['constructor', 'A constructor'],
    ['__proto__', 'A prototype'],
    ['toString', 'toString'],
  ] as const) {
    hub.write('desk/text', value, writer);
    await page.locator('.widget.value output').first().getByText(text, { exact: true }).waitFor();
  }
});

test.serial('every widget has every label, and every address', async (t) => {
  const { page } = await open();
  await page.evaluate(`location.hash = '#/dashboards?name=all'`);
  await waitUntil(page, async () => (await page.locator('.widget').count()) === texts.length * widgetCount);
  await waitUntil(
    page,
    `[...document.querySelectorAll('.widget .big')].some((one) => one.textContent.includes('again'))`,
  );
  t.deepEqual(await isWhole(page), []);
  const labels = await page.locator('.widget.label .big').allTextContents();
  for (const [index, text] of texts.entries()) t.is(labels[index]!.replace(/\s/g, ''), text.replace(/\s/g, ''));
  t.is(await page.locator('.trouble:not(.image-widget *)').count(), 0);
});

test.serial('the studio shows every label, address and choice, and a panel of any name', async (t) => {
  const { page } = await open();
  await page.evaluate(`location.hash = '#/studio?name=all'`);
  await waitUntil(page, async () => (await page.locator('.spot').count()) === texts.length * widgetCount);
  t.deepEqual(await isWhole(page), []);
  const isChosen = sampled(t, 3);
  for (const [index, text] of texts.entries()) {
    if (!isChosen(index)) continue;
    const label = page.locator(`[data-path="widgets[${index * widgetsFor('', '').length}]"]`);
    await label.focus();
    const field = page.locator('.side input[aria-label=label]');
    await waitUntil(page, async () => (await field.inputValue()) === text);
    t.deepEqual(await isWhole(page), [], text);
    await page.locator('.palette [data-address]').first().waitFor();
  }
  for (const name of fileNames.filter((one) => !one.startsWith('_')).slice(0, 3)) {
    await page.evaluate(`location.hash = ${JSON.stringify(`#/studio?${query('name', name)}`)}`);
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    await page.locator('.spot').first().waitFor();
    t.deepEqual(await isWhole(page), [], name);
  }
});

test.serial('a dashboard has any name', async (t) => {
  const { page } = await open();
  await page.evaluate(`location.hash = '#/dashboards'`);
  await page.locator('.panels a').first().waitFor();
  const listed = await page.locator('.panels a').allTextContents();
  const isOpened = sampled(t, 2);
  for (const [index, name] of fileNames.filter((one) => !one.startsWith('_')).entries()) {
    t.true(listed.includes(name), name);
    if (!isOpened(index)) continue;
    await page.evaluate(`location.hash = '#/dashboards'`);
    await page.locator('.panels a').getByText(name, { exact: true }).click();
    await page.locator('.widget.label').waitFor();
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    t.deepEqual(await isWhole(page), []);
  }
});

const sights: readonly (readonly [hash: string, ready: string])[] = [
  ['#/start', '[data-trouble]'],
  ['#/alarms', '[data-alarm]'],
  ['#/schedule', '[data-entry]'],
  ['#/connections', '[data-connection=constructor]'],
  ['#/parameters', '[data-address]'],
  ['#/parameters?as=tree', '[data-address]'],
  ['#/flows?as=graph', '.box'],
  ['#/flows?as=list', '.rules'],
  ['#/audit', '[data-entry]'],
  ['#/log', '.entry'],
  ['#/snapshots', 'section[aria-label="Snapshots of constructor"]'],
  ['#/clients', '[data-client]'],
  ['#/hubs', 'h1'],
  ['#/users', '[data-link]'],
  ...ids.flatMap((id, index): [string, string][] => [
    [`#/parameters?${query('search', id)}&${query('address', `desk/${id}`)}`, '.detail output'],
    [`#/why?${query('address', `constructor/a/${id}/b`)}`, '.cause'],
    [`#/history?${query('address', `desk/${id}`)}`, '.event'],
    [`#/flows?as=list&${query('rule', texts[index]!)}`, '.runs li'],
    [`#/flows?as=graph&${query('search', texts[index]!)}`, 'h1'],
    [`#/audit?${query('address', `desk/${id}`)}&${query('search', id)}&${query('user', id)}`, 'h1'],
    [`#/log?${query('search', texts[index]!)}&${query('level', id)}`, 'h1'],
  ]),
  ...snapshotNames.map((name): [string, string] => [`#/snapshots?selection=constructor&${query('name', name)}`, 'h1']),
  ...texts.map((text): [string, string] => [`#/${text}`, 'h1']),
  ...texts.map((text): [string, string] => [`#/parameters?${query(text, text)}&${text}`, 'h1']),
];

test.serial('every view shows every name, address and text', async (t) => {
  const { page } = await open();
  const isSeen = sampled(t, 3);
  for (const [index, [hash, ready]] of sights.entries()) {
    if (index > 11 && !isSeen(index)) continue; // the first ones are the views themselves; of the others, a run has each text and each view
    await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await t.notThrowsAsync(page.locator(ready).first().waitFor(), hash);
    t.deepEqual(await isWhole(page), [], hash);
  }
  await page.evaluate(`location.hash = '#/parameters?search=desk'`);
  await page.locator('[data-address]').first().waitFor();
  for (const text of ['constructor', '__proto__', markup[0]!])
    await page.getByText(`desk/${text}`, { exact: true }).waitFor();
});

test.serial('any text can be the name of the current user', async (t) => {
  const { hub } = await open();
  for (const name of ['constructor', '__proto__', 'toString']) {
    const { status, text } = await ask(t, hub.port, 'GET /hub/me', {
      headers: { authorization: `Bearer token-${name}` },
    });
    t.is(status, 200);
    t.is((JSON.parse(text) as { user: string }).user, name);
  }
});
