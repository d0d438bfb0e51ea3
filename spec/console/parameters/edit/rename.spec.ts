// A parameter gets another name, and with it every use in rules, dashboards, alarms and tests: in one change set, or not at all.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { expectAccessible } from '../../../support/browser/accessible.ts';
import { goTo, openConsole, waitUntil } from '../../../support/browser/console.ts';
import { browser } from '../../../support/browser/own-browser.ts';
import { eventually } from '../../../support/deadline.ts';
import { ask } from '../../../support/http.ts';
import { api, startHubFrom } from '../../../support/hub.ts';
import { shared } from '../../../support/shared.ts';

const flow = `{
  connections: {
    api: { type: 'rest-api', port: 0, interface: '127.0.0.1', dashboards: 'dashboards' },
    desk: { type: 'dummy', parameters: [
      'mic,B,false', // the presenter
      'mic2,B,false',
      'lamp,B,false',
    ] },
    alarm: { type: 'alarms', alarms: { open: { when: 'desk/mic' } } },
  },
  describe: {
    // on the wall
    'desk/mic': { label: 'Mic' },
  },
  rules: [
    { name: 'follow', from: 'desk/mic', to: 'desk/lamp' },
    { name: 'both', from: 'desk/mic2', when: "param('desk/mic') && value", to: 'desk/lamp' },
  ],
  tests: [{ name: 'lamp', steps: [{ set: { 'desk/mic': true } }, { expect: { 'desk/lamp': true } }] }],
}
`;
const panel = `{
  widgets: [
    { type: 'lamp', address: 'desk/mic', toneBy: "param('desk/mic') ? 'danger' : 'ok'" }, // red
  ],
}
`;

const start = shared(async (t) => {
  const hub = await startHubFrom(t, {
    'flow.json5': flow.replace(
      "{ type: 'rest-api', port: 0, interface: '127.0.0.1', dashboards: 'dashboards' }",
      JSON.stringify({ ...api, dashboards: 'dashboards' }),
    ),
    'dashboards/wall.json5': panel,
  });
  const page = await openConsole(t, browser, hub.port, '#/connections');
  page.setDefaultTimeout(30_000);
  const read = (name: string) => readFile(join(hub.folder, name), 'utf8');
  return { hub, page, read };
});

test.serial('a parameter says what uses it', async (t) => {
  const { page } = await start();
  await goTo(page, '#/parameters?address=desk/mic');
  const used = page.getByRole('region', { name: 'Used by' });
  await used.getByRole('link', { name: 'wall' }).waitFor();
  await used.getByRole('link', { name: 'alarm' }).waitFor();
  await used.getByText(/^lamp \(.*flow.json5/).waitFor();
  await page.getByRole('region', { name: 'Rules' }).getByRole('link', { name: 'both', exact: true }).waitFor();
  t.is(await used.getByRole('listitem').count(), 3);
});

test.serial('a new name is shown at each of its places, and written to all of them', async (t) => {
  const { hub, page, read } = await start();
  const before = await read('flow.json5');
  await goTo(page, '#/parameters?address=desk/mic');
  await page.getByRole('button', { name: 'Rename' }).click();

  await page.getByText('8 places will change:').waitFor();
  t.true(await page.getByRole('button', { name: 'Rename' }).isDisabled(), 'the name is the same');
  const field = page.getByLabel('New name');
  await field.fill('a//b');
  await page.getByRole('alert').first().waitFor();
  t.true(await page.getByRole('button', { name: 'Rename' }).isDisabled());
  await field.fill('presenter/mic');
  await page.locator('.places').getByText('dashboards/wall.json5:3').first().waitFor();
  await expectAccessible(t, page);
  await page.getByRole('button', { name: 'Rename' }).click();
  await eventually(() => hub.find('desk/presenter/mic') !== undefined);
  t.is(hub.find('desk/mic'), undefined);
  t.is(
    await read('flow.json5'),
    before.replace("'mic,B,false'", "'presenter/mic,B,false'").replaceAll("'desk/mic'", "'desk/presenter/mic'"),
  );
  t.is(await read('dashboards/wall.json5'), panel.replaceAll("'desk/mic'", "'desk/presenter/mic'"));
  await waitUntil(page, () => page.url().endsWith('address=desk/presenter/mic'));
  await page.getByRole('complementary', { name: 'desk/presenter/mic' }).waitFor();
  await ask(t, hub.port, 'POST /hub/revisions/1/revert', {
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  t.is(await read('flow.json5'), before, 'one revision reverts both files');
  t.is(await read('dashboards/wall.json5'), panel);
});

test.serial('a name that is taken, and a file that has changed meanwhile, leave everything as it was', async (t) => {
  const { hub, page, read } = await start();
  const [flowBefore, wallBefore] = [await read('flow.json5'), await read('dashboards/wall.json5')];
  await goTo(page, '#/parameters?address=desk/lamp');
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByLabel('New name').fill('mic2');
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByText(/Nothing was written/).waitFor();
  t.is(await read('flow.json5'), flowBefore);
  t.is(await read('dashboards/wall.json5'), wallBefore);
  const changed = flowBefore.replace(
    "to: 'desk/lamp' },\n    { name: 'both'",
    "to: ['desk/lamp'] },\n    { name: 'both'",
  );
  t.not(changed, flowBefore);
  await writeFile(join(hub.folder, 'flow.json5'), changed);
  await page.getByLabel('New name').fill('light');
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.locator('.rename [role=alert]').waitFor();
  t.is(await read('flow.json5'), changed);
  t.is(await read('dashboards/wall.json5'), wallBefore);
});

test.serial('what no file declares by its name is not renamed', async (t) => {
  const { page } = await start();
  await goTo(page, '#/parameters?address=alarm/open');
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByText(/No flow file that you can read declares alarm\/open by name/).waitFor();
  t.true(await page.getByRole('button', { name: 'Rename' }).isDisabled());
});

test.serial('a new name may contain what stands for a match in replacements', async (t) => {
  const { hub, page, read } = await start();
  const before = await read('flow.json5');
  await goTo(page, '#/parameters?address=desk/mic');
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByLabel('New name').fill('mi$&c');
  await page.getByRole('button', { name: 'Rename' }).click();
  await eventually(() => hub.find('desk/mi$&c') !== undefined);
  t.is(
    await read('flow.json5'),
    before.replace("'mic,B,false'", () => "'mi$&c,B,false'").replaceAll("'desk/mic'", () => "'desk/mi$&c'"),
  );
});
