// The page of a hosted driver module, with modules of our own on the real base packages 1.14.1 and 2.0.4 and a device on TCP: by mouse alone
// from a fresh connection to a lamp that follows and an action that fires, with 100,000 variables, by keys, on a phone, with few rights.

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { type ModuleOptions, moduleFiles } from '../connections/companion/build.ts';
import { expectAccessible } from '../support/browser/accessible.ts';
import { openConsole, phone, signIn, waitUntil } from '../support/browser/console.ts';
import { cut, look, pale } from '../support/browser/legible.ts';
import { browser } from '../support/browser/own-browser.ts';
import { eventually } from '../support/deadline.ts';
import { api, startHubFrom, statusOf, writer } from '../support/hub.ts';

/** A device that reports source 2 first, then what it is sent; it keeps what it was sent. */
async function startDevice(t: ExecutionContext) {
  const sent: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.write('program 2\n');
    socket.on('data', (data) => {
      sent.push(data.toString().trim());
      socket.write(data);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { sent, port: (server.address() as { port: number }).port };
}

/** A hub with a connection `it`, whose module suggests the device; `settings` replaces what is written of it. */
async function start(t: ExecutionContext, options: ModuleOptions, settings?: object, users?: object) {
  const { sent, port } = await startDevice(t);
  const files = await moduleFiles(options);
  files['main.js'] = files['main.js']!.replaceAll('192.0.2.1', '127.0.0.1').replaceAll('9990', String(port));
  const whole = { config: { host: '127.0.0.1', port }, allowHosts: ['127.0.0.1'], memory: 512 };
  const hub = await startHubFrom(t, {
    'flow.json5': `{
  // The studio.
  connections: {
    api: ${JSON.stringify({ ...api, ...(users && { users }) }, undefined, 2)},
    it: ${JSON.stringify({ type: 'companion', module: './module', ...(settings ?? whole) }, undefined, 2)}, // the mixer
  },
}
`,
    ...Object.fromEntries(Object.entries(files).map(([path, text]) => [`module/${path}`, text])),
  });
  return { hub, sent, text: () => readFile(join(hub.folder, 'flow.json5'), 'utf8') };
}

const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: typeof name === 'string' });
const row = (page: Page, item: string) => page.locator(`[data-item="${item}"]`);
const apply = async (page: Page) => {
  await button(page, 'Review and apply').click();
  await button(page, 'Apply').click();
  await page.getByText('Saved and running.').waitFor();
};

for (const version of [1, 2] as const)
  test.serial(
    `API ${version}: by mouse alone, a fresh connection gets its config, a lamp that follows, and an action that fires`,
    async (t) => {
      const { hub, sent, text } = await start(t, { api: version }, {});
      const page = await openConsole(t, browser, hub.port, '#/connections');
      await page.getByRole('link', { name: 'Driver of it' }).click();
      await page.getByText(/also needs host \(textinput, such as "127.0.0.1"\), port/).waitFor();
      await page.locator('[data-field=host]').getByText('missing').waitFor();
      t.is(hub.find('it/program'), undefined);
      await button(page, 'Use the suggested values').click();
      await button(page, 'Allow 127.0.0.1').click();
      await apply(page);
      await eventually(() => statusOf(hub, 'it').state === 'running', 'a running module');

      await button(page, 'Feedbacks').click();
      await row(page, 'program').click();
      await button(page, 'Add to the map').click();
      await button(page, 'Variables').click();
      await row(page, 'label').getByText('source 2').waitFor();
      await row(page, 'label').click();
      await button(page, 'Add to the map').click();
      await button(page, 'Actions').click();
      await row(page, 'program').click();
      await button(page, 'Input: the written value').click();
      await button(page, 'Add to the map').click();
      await page.getByText('3 changes not saved yet.').waitFor();
      await apply(page);
      await eventually(() => hub.find('it/program')?.value === false, 'the feedback');
      await eventually(() => hub.find('it/label')?.value === 'source 2', 'the variable');
      const saved = await text();
      t.true(saved.replaceAll(/\s/g, '').includes('"program":{"feedback":"program","options":{"input":1}}'), saved);
      for (const comment of ['  // The studio.', ' // the mixer']) t.true(saved.includes(comment));

      await page.locator('[data-parameter=program]').getByText('false').waitFor();
      await page.getByRole('link', { name: 'it/program-2' }).click();
      await button(page, 'Fire').click();
      await eventually(() => sent.includes('program 1'), 'the action');
      await eventually(() => hub.find('it/program')?.value === true, 'a lamp that follows');
      t.is(hub.find('it/program')!.type, 'B');
      await page.goBack();
      await page.locator('[data-parameter=program]').getByText('true').waitFor();
    },
  );

test.serial('options are fields by their kind; a value confirms an action; entries change and go', async (t) => {
  const { hub, sent, text } = await start(t, { api: 2 });
  const page = await openConsole(t, browser, hub.port, '#/driver?connection=it&as=actions');
  await row(page, 'say').click();
  await page.getByLabel('Text', { exact: true }).fill('to {value}');
  await page.getByRole('combobox', { name: 'How' }).selectOption('Twice');
  await page.getByLabel('At once', { exact: true }).uncheck();
  await page.getByLabel('Parameter ID').fill('say/it');
  await button(page, 'Add to the map').click();
  await button(page, 'Variables').click();
  await row(page, 'program').click();
  await page.getByRole('combobox', { name: 'Type' }).selectOption('integer');
  await page.getByLabel('Unit').fill('ME');
  await button(page, 'Add to the map').click();
  await button(page, 'Actions').click();
  await row(page, 'program').click();
  await page.getByRole('combobox', { name: 'Confirmed by' }).selectOption('program');
  await button(page, 'Add to the map').click();
  await apply(page);
  await eventually(() => hub.find('it/program')?.value === 2, 'the variable');
  hub.write('it/say/it', 'anna', writer);
  await eventually(() => sent.includes('say to anna 2 false'), 'the text that was said');
  hub.write('it/program', 3, writer);
  t.is(hub.find('it/program')!.wanted?.value, 3);
  await eventually(() => hub.find('it/program')?.value === 3, 'a confirmed value');

  await button(page, 'Change action say/it').click();
  t.is(await page.getByLabel('Text', { exact: true }).inputValue(), 'to {value}');
  t.false(await page.getByLabel('At once', { exact: true }).isChecked());
  await page.getByLabel('Text', { exact: true }).fill('for {value}');
  await button(page, 'Change').click();
  await button(page, 'Review and apply').click();
  await button(page, 'Remove action program').click();
  await button(page, 'Apply').click();
  await page.getByText('Saved and running.').waitFor();
  t.regex(await text(), /"text": ?"for \{value\}"/);
  t.is(hub.find('it/program')!.access, 'read-only');

  await button(page, 'Actions').click();
  await row(page, 'program').click();
  await button(page, 'Input: the written value').click();
  await page.getByRole('spinbutton', { name: 'Input' }).fill('100');
  await button(page, 'Add to the map').click();
  await page.locator('input:invalid').waitFor();
  await page.getByRole('complementary').waitFor(); // it was not added
});

test.serial('100,000 variables are searched and scrolled; definitions may change while the module runs', async (t) => {
  const { hub } = await start(t, { api: 2, mode: 'many at init' });
  const page = await openConsole(t, browser, hub.port, '#/driver?connection=it&as=variables');
  await page.getByText('100,000 variables').waitFor();
  await row(page, 'v0').getByText('as ever').waitFor();
  await page.getByRole('grid').focus();
  await page.keyboard.press('End');
  await row(page, 'v99999').getByText('as ever').waitFor();
  t.true((await page.locator('[data-item]').count()) < 100);
  await page.getByLabel('Search variables').fill('v9999');
  await page.getByText('11 variables').waitFor();
  await row(page, 'v99990').click();
  await page.getByRole('complementary', { name: 'v99990' }).waitFor();

  const other = await start(t, { api: 1, mode: 'late at later' }, undefined);
  const late = await openConsole(t, browser, other.hub.port, '#/driver?connection=it&as=actions');
  await row(late, 'misbehave').click();
  await button(late, 'Add to the map').click();
  await apply(late);
  await button(late, 'Variables').click();
  await late.getByText('2 variables').waitFor();
  // the new map restarts the module, which takes no action meanwhile
  await eventually(async () => {
    other.hub.write('it/misbehave', true, writer);
    await after(300);
    return (await row(late, 'late').getByText('defined later').count()) > 0;
  }, 'a variable that is defined later');
  await late
    .locator('[role=row]')
    .nth(2)
    .getByText(/^<img src=x onerror="pwned=1"> \u202e\{value\}$/)
    .first()
    .waitFor();
  t.is(await late.evaluate('globalThis.pwned'), undefined);
});

test.serial('by keys alone on a phone, light and dark, without serious faults of axe', async (t) => {
  const { hub } = await start(t, { api: 2 });
  for (const colorScheme of ['light', 'dark'] as const) {
    const options = { viewport: phone, hasTouch: true, isMobile: true, colorScheme };
    const page = await openConsole(t, browser, hub.port, '#/driver?connection=it', options);
    const check = async (what: string) => {
      t.deepEqual(await page.evaluate(look(true)), [], `${what}, ${colorScheme}`);
      const parts = (await page.evaluate<string[]>(cut)).filter((fault) => !/"[+-] /.test(fault)); // differences scroll
      t.deepEqual(parts, [], `${what}, ${colorScheme}`);
      t.deepEqual(await page.evaluate(pale()), [], `${what}, ${colorScheme}`);
      await expectAccessible(t, page);
    };
    await page.getByText('spec-device').or(page.getByText('Device 1.2.3')).first().waitFor();
    await page.getByLabel('Port').waitFor();
    await check('module');
    await button(page, 'Actions').focus();
    await page.keyboard.press('Enter');
    await row(page, 'say').waitFor();
    await check('actions');
    await page.getByRole('grid').focus();
    for (const key of ['Home', 'ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
    await page.getByRole('complementary', { name: 'say' }).waitFor();
    await check('form');
    await button(page, 'Add to the map').focus();
    await page.keyboard.press('Enter');
    await button(page, 'Review and apply').focus();
    await page.keyboard.press('Enter');
    await page.locator('.findings').waitFor();
    await check('map');
    await button(page, 'Discard').click();
    await page.context().close();
  }
});

test.serial('who may not edit sees what there is; who may edit but not all of it is refused', async (t) => {
  const all = { read: ['**'], write: ['**'], manage: true };
  const users = {
    olaf: { ...all, password: 'olaf' },
    anna: { ...all, password: 'anna', edit: ['flow.json5'] },
  };
  const { hub, text } = await start(t, { api: 2 }, undefined, users);
  const before = await text();
  for (const [name, edits] of [
    ['olaf', false],
    ['anna', true],
  ] as const) {
    const page = await openConsole(t, browser, hub.port, '#/driver?connection=it&as=variables');
    await signIn(page, name, name);
    await row(page, 'label').getByText('source 2').waitFor();
    await row(page, 'label').click();
    if (edits) {
      await button(page, 'Add to the map').click();
      await button(page, 'Review and apply').click();
      await page.getByText(/expected a user with all rights, because this connection acts outside the hub/).waitFor();
      t.true(await button(page, 'Apply').isDisabled());
    } else {
      await button(page, 'Map').click();
      await page.getByText('You do not have permission to edit flow files.').waitFor();
    }
    await page.context().close();
  }
  t.is(await text(), before);
});

test.serial('a module that is killed says so, with its log; a connection that is none is named', async (t) => {
  const { hub } = await start(t, { api: 1, mode: 'crash at init' });
  const page = await openConsole(t, browser, hub.port, '#/driver?connection=it');
  await page
    .getByText(/it crashes on purpose/)
    .first()
    .waitFor();
  await page.getByText(/^Log, \d+ entr/).click();
  await page
    .locator('pre')
    .getByText(/error {2}ended: .*it crashes on purpose/)
    .first()
    .waitFor();
  await waitUntil(
    page,
    `[...document.querySelectorAll('dd')].some(({ textContent }) => /of \\d+ MiB/.test(textContent))`,
  );
  await page.evaluate(`location.hash = '#/driver?connection=none'`);
  await page.getByText('There is no connection none.').waitFor();
});
