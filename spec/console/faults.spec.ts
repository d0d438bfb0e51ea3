// A fault in one part of the console takes no other part along: a widget, a row, a plot, a view. What failed says so in its place, and
// comes back with the next value.

import test from 'ava';
import type { Page } from 'playwright-core';
import { goTo, openConsole, waitUntil } from '../support/browser/console.ts';
import { browser } from '../support/browser/own-browser.ts';
import { desk, wall, widgetCount, widgetsOfAllKinds } from '../support/browser/wall.ts';
import { api, startHubFrom, writer } from '../support/hub.ts';
import { sampled } from '../support/random.ts';
import { shared } from '../support/shared.ts';

const start = shared(async (t) => {
  const hub = await startHubFrom(t, {
    'flow.json5': {
      connections: {
        api: { ...api, dashboards: 'dashboards' },
        desk,
        alarm: { type: 'alarms', alarms: { mic: { when: 'desk/mic' } } },
        opening: { type: 'schedule', zone: 'UTC', entries: { office: { from: '06:00' }, gong: { at: '*:00' } } },
        mixer: { type: 'companion', module: 'none.tgz', simulate: true },
        store: { type: 'store', folder: './data', snapshots: { studio: { include: ['desk/**'] } } },
      },
      rules: [
        { name: 'copy', from: 'desk/mic', to: 'desk/lamp' },
        { name: 'other', from: 'desk/level', to: 'desk/text' },
      ],
    },
    'dashboards/wall.json5': { columns: 4, widgets: widgetsOfAllKinds },
    'dashboards/second.json5': { widgets: [] },
  });
  hub.write('desk/mic', true, writer);
  hub.write('store/studio/save', 'evening', writer);
  hub.write('desk/text', 'News', writer);
  return hub;
});

const open = shared(async (t) => openConsole(t, browser, (await start()).port, '#/parameters'));
const fault = (page: Page) => page.getByText('This cannot be shown');

/** Has a page draw nothing of the text: what is wrong with it is not known before. */
const refuse = (text: string) => `(() => {
  const own = Object.hasOwn;
  Object.hasOwn = (object, key) => {
    if (key === ${JSON.stringify(text)}) throw new Error('a fault of a widget');
    return own(object, key);
  };
})()`;

test.serial('a widget that fails affects no other, shows its error, and recovers with the next value', async (t) => {
  const hub = await start();
  const page = await openConsole(t, browser, hub.port, wall);
  const value = page.locator('.widget.value');
  await value.getByText('News').waitFor();
  await page.evaluate(refuse('boom'));
  hub.write('desk/text', 'boom', writer);
  await value.getByText('This cannot be shown: a fault of a widget').waitFor();
  t.is(await page.locator('.widget').count(), widgetCount);
  for (const type of ['label', 'lamp', 'button', 'fader', 'meter', 'plot', 'select-widget', 'gauge-widget'])
    await page.locator(`.widget.${type}`).first().waitFor();
  hub.write('desk/level', 0.25, writer);
  await page.locator('.widget.meter output').getByText('0.25').waitFor();
  await page.getByRole('button', { name: 'Mic' }).click();
  await waitUntil(page, () => hub.find('desk/mic')?.value === false);
  for (let round = 0; round < 3; round++) {
    hub.write('desk/text', `back ${round}`, writer);
    await value.getByText(`back ${round}`).waitFor();
    t.is(await fault(page).count(), 0);
    hub.write('desk/text', 'boom', writer);
    await fault(page).waitFor();
  }
});

/** What cannot be made text. */
const odd = { toString: null };
type Lists = Record<string, Record<string, unknown>[]>;
/** Answers of the hub in which one item cannot be drawn; and what is seen of the others. */
const rows: readonly (readonly [hash: string, path: RegExp, spoil: (data: Lists) => void, neighbour: string])[] = [
  [
    '#/connections',
    /\/hub\/connections$/,
    ({ connections }) => put(connections!, { id: 'odd', parameters: odd }),
    '[data-connection=store]',
  ],
  [
    '#/alarms?all=true',
    /\/hub\/alarms/,
    ({ alarms }) => put(alarms!, { address: 'odd/odd', text: odd, since: odd }),
    '[data-alarm]',
  ],
  [
    '#/schedule',
    /\/hub\/schedules/,
    ({ schedules }) => put(schedules!, { connection: 'odd', entries: [null] }),
    '[data-entry="opening/office"]',
  ],
  ['#/clients', /\/hub\/clients$/, ({ clients }) => put(clients!, { id: odd }), '[data-client]'],
  ['#/audit', /\/hub\/audit/, ({ entries }) => put(entries!, { n: odd }), '[data-entry]'],
  [
    '#/snapshots',
    /\/hub\/snapshots$/,
    ({ selections }) => put(selections!, { name: 'odd', saved: [null] }),
    'section[aria-label="Snapshots of studio"]',
  ],
  [
    '#/driver?connection=mixer&as=variables',
    /\/hub\/drivers\//,
    (data) => Object.assign(data, { total: 2, items: [{ id: odd }, { id: 'gain', name: 'Gain', value: 3 }] }),
    '[data-item=gain]',
  ],
  ['#/dashboards', /\/hub\/dashboards$/, ({ dashboards }) => dashboards!.unshift(odd), '.panels a'],
  ['#/history?address=desk/text', /\/hub\/events\//, ({ events }) => put(events!, { source: null }), '.event'],
  ['#/why?address=desk/lamp', /\/hub\/explain\//, ({ chain }) => put(chain!, { origin: null }), '.cause'],
  ['#/flows?as=list', /\/hub\/rules$/, (rules) => put(rules as never, { from: [odd], name: 'odd' }), '.rule-row'],
  [
    '#/flows?as=list&rule=copy',
    /\/hub\/trace/,
    (traces) => put((traces as never as { runs: object[] }[])[0]!.runs, { result: odd, outcome: 'wrote' }),
    '.runs li',
  ],
];

/** Puts an item before the others that is the first of them but for what it is given. */
function put(list: object[], change: object): void {
  list.unshift({ ...list[0], ...change });
}

for (const [hash, path, spoil, neighbour] of rows)
  test.serial(`${hash}: an item that cannot be drawn is marked, and the others stay`, async (t) => {
    const page = await open();
    await page.route(path, async (route) => {
      const response = await route.fetch({ headers: { ...route.request().headers(), 'if-none-match': '' } });
      const data = (await response.json()) as Lists;
      spoil(data);
      await route.fulfill({ response, json: data });
    });
    await goTo(page, hash);
    await page.locator(neighbour).first().waitFor();
    await fault(page).first().waitFor();
    t.true((await page.locator(neighbour).count()) > 0);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await expectNavigation(page);
  });

async function expectNavigation(page: Page): Promise<void> {
  const navigation = page.getByRole('navigation');
  for (const name of ['Parameters', 'Why']) {
    await navigation.getByRole('link', { name }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
  }
}

const views = [
  ['start', /\/hub\/(audit|clients|dashboards)/],
  ['alarms', /\/hub\/alarms/],
  ['schedule', /\/hub\/schedules/],
  ['connections', /\/hub\/connections$/],
  ['flows', /\/hub\/rules$/],
  ['audit', /\/hub\/audit/],
  ['log', /\/hub\/log/],
  ['snapshots', /\/hub\/snapshots$/],
  ['clients', /\/hub\/clients$/],
  ['hubs', /\/hub\/hubs$/],
  ['users', /\/hub\/users$/],
  ['dashboards', /\/hub\/dashboards$/],
  ['recipes', /\/hub\/recipes$/],
  ['revisions', /\/hub\/revisions$/],
  ['overrides', /\/hub\/overrides$/],
  ['driver', /\/hub\/drivers\//],
  ['studio', /\/hub\/(sources|dashboard-schema)$/],
] as const;
/** What no view is made for. */
const oddAnswers = [
  null,
  7,
  'text',
  [],
  [null],
  {},
  { connections: 7, entries: [null], clients: {}, dashboards: null, selections: [7] },
];

for (const [view, [name, path]] of views.entries())
  test.serial(
    `${name}: after any answer of the hub, the other views can be opened, and this one recovers`,
    async (t) => {
      const page = await open();
      const isGiven = sampled(t, 2);
      for (const [index, json] of oddAnswers.entries()) {
        if (!isGiven(view + index)) continue;
        await page.route(path, (route) => route.fulfill({ json }));
        await page.evaluate(`location.hash = '#/${name}'`);
        await page.waitForRequest(path);
        await expectNavigation(page);
        await page.unroute(path);
      }
      await page.evaluate(`location.hash = '#/${name}'`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await waitUntil(page, async () => !(await page.getByText(/This view failed|cannot be shown/).count()));
      t.pass();
    },
  );

test.serial('a malformed dashboard leaves the navigation, and another one can be opened', async (t) => {
  const page = await open();
  const path = /\/hub\/dashboards\/wall$/;
  const spoilt = [
    null,
    7,
    {},
    { title: 'x', columns: 2, rows: 2, widgets: null },
    {
      title: 'x',
      columns: 2,
      rows: 1,
      widgets: [{ type: 'value', address: 'desk/text', at: [1, 1], size: [1, 1] }, ...[null, 7]],
    },
    { title: { toString: null }, columns: 2, rows: 1, widgets: [] },
  ];
  for (const json of spoilt) {
    await page.route(path, (route) => route.fulfill({ json }));
    await page.evaluate(`location.hash = '${wall}'`);
    await page.waitForRequest(path);
    await page.unroute(path);
    await page.evaluate(`location.hash = '#/connections'`);
    await expectNavigation(page);
  }
  await page.evaluate(`location.hash = '${wall}'`);
  await page.locator('.widget.value').waitFor();
  t.pass();
});

test.serial('studio: settings of any kind leave the other widgets, the form and the text', async (t) => {
  const page = await open();
  const path = /\/hub\/source\//;
  const spoilt = { toString: null };
  const widgets = [
    ...[null, 7, [], {}].map((label) => ({ type: 'label', label, at: label })),
    { type: spoilt, label: spoilt, address: spoilt, size: 'x' },
    { type: 'group', label: spoilt, widgets: [{ type: 'fader', address: 'desk/level', min: spoilt, tone: spoilt }] },
    { type: 'tabs', label: spoilt, tabs: [null, 7, { label: spoilt }, { widgets: [spoilt, null] }] },
    { type: 'value', address: 'desk/text', texts: spoilt, zones: [null], unit: spoilt },
    ...[null, 7, []],
    { type: 'value', address: 'desk/text' },
  ];
  await page.route(path, async (route) => {
    const response = await route.fetch();
    const source = (await response.json()) as object;
    const text = JSON.stringify({ title: spoilt, columns: 'x', widgets });
    await route.fulfill({ response, json: { ...source, text } });
  });
  await page.evaluate(`location.hash = '#/studio?name=wall'`);
  const last = page.locator(`[data-path="widgets[${widgets.length - 1}]"]`);
  await last.locator('.widget.value').waitFor();
  for (const index of widgets.keys()) {
    const one = page.locator(`[data-path="widgets[${index}]"]`);
    if ((await one.count()) > 0) await one.first().focus();
    await page.getByRole('region', { name: 'Settings' }).getByRole('heading').first().waitFor();
  }
  t.is(await page.getByText(/This view failed/).count(), 0);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await expectNavigation(page);
});
