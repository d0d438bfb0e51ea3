// Rules made and changed in the browser, by keys and mouse, against a real hub: the file has afterwards what a person would have written.

import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { expectAccessible } from '../support/browser/accessible.ts';
import { desktop, goTo, openConsole, phone, signIn, waitUntil } from '../support/browser/console.ts';
import { browser } from '../support/browser/own-browser.ts';
import { api, type HubUnderTest, startHubFrom, writer } from '../support/hub.ts';
import { shared } from '../support/shared.ts';

const text = `// Studio 1
{
  connections: {
    api: ${JSON.stringify(api)},
    desk: { type: 'dummy', parameters: ['mic1,B,false', 'mic2,B,false', 'level,F,-12', 'lamp,B,false', 'red-1,B,false', 'red-2,B,false'] },
  },
  rules: [
    // over the door
    { name: 'level', from: 'desk/level', when: 'value >= -20 && value <= -3', map: 'value > -10', to: 'desk/red-1' }, // loud
    { each: { n: [1, 2] }, rules: [{ name: 'red \${n}', from: 'desk/mic\${n}', to: 'desk/red-\${n}' }] },
  ],
}
`;

const start = shared(async (t) => {
  const hub = await startHubFrom(t, { 'studio.json5': text });
  return { hub, page: await openConsole(t, browser, hub.port) };
});

interface Studio {
  readonly hub: HubUnderTest;
  readonly page: Page;
  readonly file: string;
  read(): Promise<string>;
}

/** Shows a view over the text above. */
async function open(hash: string): Promise<Studio> {
  const { hub, page } = await start();
  const file = join(hub.folder, 'studio.json5');
  await writeFile(file, text);
  await hub.reload();
  await page.setViewportSize(desktop);
  await goTo(page, hash);
  return { hub, page, file, read: () => readFile(file, 'utf8') };
}

async function type(page: Page, label: string, typed: string): Promise<void> {
  await page.getByLabel(label, { exact: true }).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type(typed);
  await page.keyboard.press('Tab');
}

/** Opens the sheet of a rule from the list. */
async function edit(page: Page, rule: string): Promise<void> {
  await page.getByRole('link', { name: `Edit ${rule}` }).click();
  await page.getByRole('heading', { level: 1, name: 'Rule' }).waitFor();
}

async function takeOver(t: ExecutionContext, page: Page): Promise<void> {
  await page.getByText('No errors').waitFor();
  await page.getByRole('button', { name: 'Apply', exact: true }).click();
  await page.getByText(/^Saved/).waitFor();
  t.pass();
}

test.serial(
  'a tally of two microphones whose lamp stays on is made by keys, tried in shadow, and taken over',
  async (t) => {
    const { hub, page, read } = await open('#/flows?as=list');
    await page.getByRole('link', { name: '+ Rule' }).click();
    await page.getByText('Choose a parameter under “When” and another').waitFor();
    await type(page, 'Name', 'tally');
    await type(page, 'Source 1', 'desk/mic1');
    await page.getByText('Choose a parameter under “to”.').waitFor();
    t.is(await page.locator('.error').count(), 0); // a field that nobody has reached yet is no error
    await page.getByRole('button', { name: '+ Source' }).click();
    await page.getByLabel('Source 2', { exact: true }).click();
    await page.keyboard.type('desk/mic2');
    await waitUntil(
      // an address counts without a further key
      page,
      `document.querySelector('[aria-label="JSON5 of the rule"]').value.includes("mic2: 'desk/mic2'")`,
    );
    await page.getByRole('button', { name: '+ Delay, hold, debounce …' }).click();
    await type(page, 'Step 1: time, such as 2s or 1m30s', '3s');
    await type(page, 'Destination 1', 'desk/lamp');
    await page.getByText('starts: tally').waitFor();
    await expectAccessible(t, page);
    await page.getByRole('button', { name: 'Try in shadow' }).click();
    await page.getByText('In shadow since').waitFor();
    hub.write('desk/mic2', true, writer);
    await page.getByText('is false, would be true').waitFor();
    t.is(hub.find('desk/lamp')!.value, false);
    await type(page, 'Comment', 'as ordered');
    await takeOver(t, page);
    await waitUntil(page, `document.activeElement.innerText === 'Saved and running.'`); // the keys go on there
    const rule = `    {
      name: 'tally',
      from: { mic1: 'desk/mic1', mic2: 'desk/mic2' },
      map: 'mic1 || mic2',
      pipe: [{ offDelay: '3s' }],
      to: 'desk/lamp',
    },
`;
    t.is(
      await read(),
      text.replace("'desk/red-${n}' }] },\n", (line) => line + rule),
    );
    hub.write('desk/mic1', true, writer);
    t.is(hub.find('desk/lamp')!.value, true);
    hub.write('desk/mic1', false, writer);
    hub.write('desk/mic2', false, writer);
    await goTo(page, '#/revisions');
    await page.getByText('as ordered').waitFor();
    await page
      .getByRole('button', { name: /Undo revision/ })
      .first()
      .click();
    await page.getByText('Undo restores only this text').waitFor();
    await page.getByRole('button', { name: 'Undo', exact: true }).click();
    await page.getByText(/undid revision/).waitFor();
    t.is(await read(), text);
  },
);

test.serial('rows, expression and JSON5 follow one another; comments and layout stay', async (t) => {
  const { page, read } = await open('#/flows?as=list');
  await edit(page, 'level');
  await page.getByText('now -12: holds').waitFor();
  await type(page, 'Row 1: value 2', '-5');
  const json5 = page.getByLabel('JSON5 of the rule');
  await waitUntil(page, async () => (await json5.inputValue()).includes('value <= -5'));
  await page
    .getByRole('group', { name: 'Condition: rows or expression' })
    .first()
    .getByRole('button', { name: 'Expression' })
    .click();
  await type(page, 'Condition as an expression', 'value > -50');
  await page
    .getByRole('group', { name: 'Condition: rows or expression' })
    .first()
    .getByRole('button', { name: 'Rows' })
    .click();
  await waitUntil(page, async () => (await json5.inputValue()).includes("when: 'value > -50'"));
  await json5.fill((await json5.inputValue()).replace("'value > -10'", "'value < -1'"));
  await page.getByText('now -12: holds').nth(1).waitFor();
  await takeOver(t, page);
  t.is(
    await read(),
    text.replace("'value >= -20 && value <= -3', map: 'value > -10'", "'value > -50', map: 'value < -1'"),
  );
});

test.serial('an option chosen by typed letters keeps what options on the way to it would replace', async (t) => {
  const { page } = await open('#/flows?as=list');
  await edit(page, 'level');
  const kinds = page.getByLabel('What it writes', { exact: true });
  const json5 = page.getByLabel('JSON5 of the rule');
  await kinds.focus();
  await page.keyboard.type('an e'); // by way of “always the same”
  await page.keyboard.press('Tab');
  t.is(await page.evaluate('document.activeElement.ariaLabel'), 'Expression to write');
  t.is(await kinds.inputValue(), 'expression');
  t.is(await page.getByLabel('Expression to write').inputValue(), 'value > -10');
  await kinds.focus();
  await page.keyboard.type('al');
  await waitUntil(page, async () => (await json5.inputValue()).includes("map: 'true'"));
  await page.keyboard.press('F6');
  t.is(await page.evaluate('document.activeElement.textContent'), '+ Delay, hold, debounce …');
  await page.keyboard.press('F6');
  t.is(await page.evaluate('document.activeElement.ariaLabel'), 'Destination 1');
  await page.keyboard.press('Shift+F6');
  await page.keyboard.press('Shift+F6');
  t.is(await page.evaluate('document.activeElement.ariaLabel'), 'What it writes');
});

test.serial('whoever leaves a sheet while its file is read again after a save is not led back', async (t) => {
  const { hub, page, read } = await open('#/flows?as=list');
  await edit(page, 'level');
  await type(page, 'Destination 1', 'desk/lamp');
  await page.getByText('No errors').waitFor();
  const held = Promise.withResolvers<void>();
  const wasAsked = Promise.withResolvers<void>();
  await page.route('**/hub/source/**', async (request) => {
    wasAsked.resolve();
    await held.promise;
    await request.continue();
  });
  await page.getByRole('button', { name: 'Apply', exact: true }).click();
  await page.getByText(/^Saved/).waitFor();
  await wasAsked.promise;
  await page.getByRole('navigation').getByRole('link', { name: 'Connections' }).click();
  await page.getByRole('heading', { level: 1, name: 'Connections' }).waitFor();
  const answered = page.waitForResponse(/\/hub\/source\//);
  held.resolve();
  await (await answered).finished();
  await page.unrouteAll({ behavior: 'wait' });
  await page.evaluate('new Promise((resolve) => setTimeout(resolve, 50))'); // a page that is led back needs less
  t.is(await page.evaluate('location.hash'), '#/connections');
  t.true((await read()).includes("to: 'desk/lamp'"));
  t.is(hub.rules().length, 3);
});

test.serial('an error stands at its part, and nothing can be taken over', async (t) => {
  const { page, read } = await open('#/flows?as=list');
  await edit(page, 'level');
  await type(page, 'Destination 1', 'desk/lmap');
  await page
    .getByRole('group', { name: 'to', exact: true })
    .getByText(/did you mean "desk\/lamp"/)
    .waitFor();
  t.true(await page.getByRole('button', { name: 'Apply', exact: true }).isDisabled());
  t.is(await read(), text);
});

test.serial('a rule that each makes says so: it is changed with its siblings, or made separate', async (t) => {
  const { page, read } = await open('#/flows?as=list');
  await edit(page, 'red 2');
  await page.getByText('One of 2 rules created by each: red 1, red 2.').waitFor();
  await page.getByRole('button', { name: 'Make “red 2” separate' }).click();
  await type(page, 'Destination 1', 'desk/lamp');
  await takeOver(t, page);
  const separate = "    { each: { n: [1] }, rules: [{ name: 'red ${n}', from: 'desk/mic${n}', to: 'desk/red-${n}' }] },\n    { name: 'red 2', from: 'desk/mic2', to: 'desk/lamp' },\n"; // biome-ignore format: a file
  t.is(
    await read(),
    text.replace(/ {4}\{ each: .*\n/, () => separate),
  );
});

test.serial('a rule of an instance is made separate with its instance, which becomes a file', async (t) => {
  const { hub, page } = await open('#/flows?as=list');
  const [template, list, own] = ['_door.json5', 'doors.json5', 'd2.json5'].map((name) => join(hub.folder, name));
  const rules = "{ rules: [{ name: 'door', from: 'desk/mic1', map: '${map}', to: 'desk/lamp' }] }";
  await writeFile(template!, rules);
  await writeFile(
    list!,
    "{ instances: { template: './_door.json5', each: { d1: { map: 'value' }, d2: { map: '!value' } } } }",
  );
  t.teardown(async () => {
    await Promise.all([template, list, own].map((path) => rm(path!, { force: true })));
    await hub.reload();
  });
  await hub.reload();
  await goTo(page, '#/flows?as=list');
  await edit(page, 'd2: door');
  await page.getByText('One of 2 rules created by instances: d1: door, d2: door.').waitFor();
  await page.getByRole('button', { name: 'Make “d2: door” separate' }).click();
  await page.getByText('The instance gets its own file.').waitFor();
  await takeOver(t, page);
  await page.getByText('in d2.json5').waitFor();
  await type(page, 'Destination 1', 'desk/red-2');
  await takeOver(t, page);
  t.is(await readFile(template!, 'utf8'), rules);
  t.regex(await readFile(own!, 'utf8'), /variables: \{ map: '!value' \}[\s\S]*to: 'desk\/red-2'/);
  t.regex(await readFile(list!, 'utf8'), /each: \{ d1: \{ map: 'value' \} \}/);
});

test.serial('two people change one place: both texts are shown, and one is put onto the other', async (t) => {
  const { page, file, read } = await open('#/flows?as=list');
  await edit(page, 'level');
  await type(page, 'Destination 1', 'desk/lamp');
  await page.getByText('No errors').waitFor();
  await writeFile(file, text.replace("to: 'desk/red-1' }", "to: 'desk/red-2' }"));
  await page.getByRole('button', { name: 'Apply', exact: true }).click();
  const conflict = page.getByRole('alert', { name: 'Changed by somebody else' });
  await conflict.getByText("to: 'desk/lamp'").waitFor();
  await conflict.getByText("to: 'desk/red-2'").waitFor();
  await conflict.getByRole('button', { name: 'Apply my change to theirs' }).click();
  await conflict.waitFor({ state: 'hidden' });
  await takeOver(t, page);
  t.is(await read(), text.replace("to: 'desk/red-1' }", "to: 'desk/lamp' }"));
});

test.serial('a recipe becomes a file with tests, on a phone', async (t) => {
  const { hub, page } = await open('#/recipes');
  await page.setViewportSize(phone);
  await page.getByRole('link', { name: 'Escalate silence' }).click();
  await type(page, 'The level of the programme in dB', 'desk/level');
  await type(page, 'Name of the new file', 'silence');
  await page.getByText('No errors').waitFor();
  t.true((await page.evaluate<number>('document.documentElement.scrollWidth')) <= phone.width);
  await expectAccessible(t, page);
  await page.getByRole('button', { name: 'Apply', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Flows' }).waitFor();
  t.true((await readFile(join(hub.folder, 'silence.json5'), 'utf8')).includes("level: 'desk/level'"));
  t.true(hub.rules().some(({ name }) => name === 'buzzer'));
});

test.serial(
  'a rule is off for an hour with a reason: counted, over a save of its file, and undone in the list',
  async (t) => {
    const { hub, page, file } = await open('#/flows?rule=level');
    const panel = page.getByRole('complementary');
    await panel.getByRole('button', { name: 'Switch level off for a while' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('lamp is repaired');
    await expectAccessible(t, page);
    await dialog.getByRole('button', { name: 'Switch off', exact: true }).click();
    await panel.getByText(/off by .* until .*: lamp is repaired/).waitFor();
    t.false(hub.rules().find(({ name }) => name === 'level')!.enabled);
    await writeFile(file, text.replace("'value > -10'", "'value > -11'"));
    await hub.reload();
    t.false(hub.rules().find(({ name }) => name === 'level')!.enabled);
    await page.getByRole('navigation').getByRole('link', { name: 'Overrides 1' }).click();
    await page.getByText('lamp is repaired').waitFor();
    await page.locator('.overrides .ends').getByText('value > -11').waitFor();
    await expectAccessible(t, page);
    await page.getByRole('button', { name: 'Switch on again: level' }).click();
    await page.getByText('Everything runs as defined in the flow files.').waitFor();
    t.true(hub.rules().find(({ name }) => name === 'level')!.enabled);
  },
);

test.serial('the last runs stand beside those of the new rule; another person with the rule is named', async (t) => {
  const { hub, page } = await open('#/flows?as=list');
  for (const level of [-12.5, -5.5, -15.5]) hub.write('desk/level', level, writer);
  await edit(page, 'level');
  const rows = page.getByRole('region', { name: 'Recent runs, newest first' }).getByRole('row');
  await rows.nth(3).waitFor();
  await type(page, 'Row 1: value 2', '-9');
  await page.getByText(/would have differed/).waitFor();
  t.deepEqual(
    (await rows.allTextContents()).slice(1, 4).map((row) => row.replace(/^[\d:.]+/, '')),
    ['desk/level -15.5falsefalse', 'desk/level -5.5truestopped', 'desk/level -12.5falsefalse'],
  );
  const other = await openConsole(t, browser, hub.port, new URL(page.url()).hash, { viewport: phone });
  await other.getByText(/has had this rule open since \d\d:\d\d\./).waitFor();
  await expectAccessible(t, other);
  t.true((await other.evaluate<number>('document.documentElement.scrollWidth')) <= phone.width);
});

test.serial('a variable of a template is one piece for the keys; removing it leaves the cursor in place', async (t) => {
  const { page, read } = await open('#/flows?as=list');
  await edit(page, 'red 2');
  await expectAccessible(t, page);
  const focused = () => page.evaluate<string>('document.activeElement.ariaLabel');
  await page.getByLabel('Source 1, text 1', { exact: true }).focus();
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowRight');
  t.is(await focused(), 'n 2: a variable, press Delete to remove it');
  await page.keyboard.press('ArrowRight');
  t.is(await focused(), 'Source 1, text 2');
  await page.keyboard.press('Backspace');
  await page.keyboard.type('1');
  await page.keyboard.press('Tab');
  t.is(await page.getByLabel('Source 1', { exact: true }).inputValue(), 'desk/mic1');
  await takeOver(t, page);
  t.is(await read(), text.replace("'desk/mic${n}'", "'desk/mic1'"));
});

test.serial(
  'a user without the right to edit is offered no edit, and reads why not where somebody has sent him',
  async (t) => {
    const users = {
      owner: { password: 'owner', read: ['**'], write: ['**'], manage: true, edit: ['**'] },
      reader: { password: 'reader', read: ['**'], manage: true },
      other: { password: 'other', read: ['**'], manage: true, edit: ['other.json5'] },
    };
    const file = text.replace(JSON.stringify(api), JSON.stringify({ ...api, users }));
    const hub = await startHubFrom(t, { 'studio.json5': file, 'other.json5': '{ rules: [] }' });
    for (const user of ['reader', 'other'] as const) {
      const page = await openConsole(t, browser, hub.port);
      await signIn(page, user, user);
      await goTo(page, '#/flows?as=list');
      await page.getByText('desk/level', { exact: true }).first().waitFor();
      if (user === 'reader') t.is(await page.getByRole('link', { name: /^Edit / }).count(), 0);
      const place = `${join(hub.folder, 'studio.json5')}:9:5`;
      await goTo(page, `#/rule?${new URLSearchParams({ rule: 'level', place })}`);
      await page
        .getByText(/expected a (?:file that you|user who) may edit/)
        .first()
        .waitFor();
      t.is(await page.getByLabel('JSON5 of the rule').count(), 0);
    }
    t.is(await readFile(join(hub.folder, 'studio.json5'), 'utf8'), file);
  },
);
