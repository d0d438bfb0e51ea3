// Recipes of the cookbook, as `patchbay init --recipe` copies them: what comes of it has no mistake and passes its tests, and nothing that
// is there is touched.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import json5 from 'json5';
import { check } from '../../lib/command/check-command.ts';
import { type InitOptions, init } from '../../lib/command/init.ts';
import { recipes } from '../../lib/command/recipe.ts';
import { test as testFlows } from '../../lib/command/test.ts';
import { makePasswordText } from '../../lib/connections/rest-api/users/passwords.ts';
import { startHub } from '../../lib/hub/index.ts';
import { listRecipes } from '../../lib/hub/recipes.ts';
import { isAddress } from '../../lib/model/address.ts';
import { createLogRecorder } from '../support/connection.ts';
import { createFolder } from '../support/folder.ts';
import { portsOf } from '../support/hub.ts';
import { sampled } from '../support/random.ts';
import { readReadme } from '../support/repository/readme.ts';
import { call } from '../support/system/process.ts';

const all = await listRecipes();
const first = 'tally/two-microphones';

const make = (folder: string, recipe: string, options: Omit<InitOptions, 'recipe'> = {}) =>
  call((console) => init(folder, 'patchbay', console, { recipe, ...options }));
const reasonOf = async (
  t: ExecutionContext,
  folder: string,
  recipe: string,
  options: Omit<InitOptions, 'recipe'> = {},
) => (await t.throwsAsync(make(folder, recipe, options)))!.message;

/** Has the commands look at a folder, and expects that all is well. */
async function isWell(t: ExecutionContext, folder: string, title: string, together = false): Promise<void> {
  const checked = await call((console) => check([join(folder, 'flows')], console));
  t.deepEqual([checked.status, checked.errors], [0, ''], title);
  await passes(t, folder, title, together);
}

async function passes(t: ExecutionContext, folder: string, title: string, together = false): Promise<void> {
  const flows = [join(folder, 'flows')];
  const tested = await call((console) => testFlows(flows, { together }, console));
  t.is(tested.status, 0, `${title}\n${tested.output}${tested.errors}`);
  t.regex(tested.output, /^[1-9]\d* tests? passed$/m, title);
}

test('each recipe creates a valid folder that passes its tests, with a panel and a page', async (t) => {
  t.true(all.length >= 45);
  const folder = await createFolder(t);
  const isTested = sampled(t, 3); // `init` has checked it, and each recipe is tested where it comes from (spec/flows)
  for (const [index, { name }] of all.entries()) {
    const own = join(folder, name);
    await make(own, name);
    if (isTested(index)) await isWell(t, own, name);
    const { connections } = json5.parse(readFileSync(join(own, 'flows/hub.json5'), 'utf8'));
    const dashboards = join(own, 'flows/dashboards');
    t.is(existsSync(dashboards), connections.api !== undefined, name);
    if (existsSync(dashboards)) t.deepEqual(readdirSync(dashboards), [`${name.split('/')[1]}.json5`]);
  }
});

test('each recipe accepts other addresses and times, under another name; none of its own remain', async (t) => {
  const folder = await createFolder(t);
  const isMade = sampled(t, 3); // the test before makes all of them
  for (const [index, { name, about, variables }] of all.entries()) {
    t.is(about.length, 3, name);
    t.true(variables.length > 0, name);
    const given = variables.flatMap(({ name, about, usual }) => {
      t.true(about !== '', name);
      if (isAddress(usual)) return [[usual, `${name}=my-${name.toLowerCase()}/place/${name}`]];
      return /^\d+(?:s|m|h)$/.test(usual) ? [[usual, `${name}=7s`]] : [];
    });
    if (!isMade(index)) continue;
    const own = join(folder, name);
    await make(own, name, { set: given.map(([, set]) => set!), as: 'mine' });
    await passes(t, own, name); // it was checked before it was made
    const texts = readdirSync(join(own, 'flows'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== 'hub.json5')
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8').replace(/^\/\/.*$/gm, ''));
    for (const [usual] of given) t.false(texts.join('\n').includes(`'${usual}'`), `${name}: ${usual}`);
  }
});

test('recipes with the same devices can be combined, also the same recipe twice; existing parameters get no dummy', async (t) => {
  const folder = await createFolder(t);
  const made = ['timers/lamp-stays-on', 'buttons/enter-a-code', 'tally/many-studios', 'operations/show-a-panel'];
  for (const name of [first, ...made, 'operations/set-lamps-at-the-start']) await make(folder, name);
  const twice = await make(folder, first, { as: 'second', set: ['light=studio/second'] }).catch(
    ({ message }) => message,
  );
  t.is(
    twice,
    '--set light: unknown parameter "studio/second" of connection studio, use an existing parameter, or declare it there first',
  );
  await make(folder, first, { as: 'second', set: ['mic1=desk/mic1', 'light=hall/light'] });
  const text = readFileSync(join(folder, 'flows/second.json5'), 'utf8');
  t.deepEqual(Object.keys(json5.parse(text).connections), ['second-desk', 'hall']);
  t.true(text.includes("mic1: 'desk/mic1', // the first microphone is open"));
  t.true(text.includes("mic2: 'second-desk/mic2', //"));
  await isWell(t, folder, 'together', true);
  const { output } = await make(folder, first, { as: 'third', set: ['mic1=desk/mic1'] });
  t.regex(output, /^patchbay test --together$/m);
  const alone = await call((console) => testFlows([join(folder, 'flows')], {}, console));
  t.is(alone.status, 1);
  t.regex(alone.output, /test the files as one installation: add --together$/m);
  t.regex(
    await reasonOf(t, folder, first, { as: 'fourth', set: ['mic1=desk/mick1'] }),
    /unknown parameter "desk\/mick1".*did you mean "desk\/mic1"\?$/,
  );
});

test('a prompt offers the address that the copy uses if it is accepted', async (t) => {
  const folder = await createFolder(t);
  const offered: string[][] = [];
  const ask: InitOptions['ask'] = async ({ variables }) => {
    offered.push(variables.map(({ usual }) => usual));
    return new Map();
  };
  for (const as of ['one', 'two']) {
    await make(folder, first, { as, ask });
    const { variables } = json5.parse(readFileSync(join(folder, `flows/${as}.json5`), 'utf8'));
    t.deepEqual(Object.values(variables), offered.at(-1), as);
  }
  t.deepEqual(offered, [
    ['desk/mic1', 'desk/mic2', 'studio/red-light'],
    ['two-desk/mic1', 'two-desk/mic2', 'two-studio/red-light'],
  ]);
  t.regex(
    readFileSync(join(folder, 'flows/dashboards/one.json5'), 'utf8'),
    /'lamp', label: 'Red light'.* tone: 'danger'/,
  );
});

test('the examples of the documentation work as printed', async (t) => {
  const folder = await createFolder(t);
  const lines = [...readReadme('docs/commands.md').matchAll(/^patchbay init studio --recipe (\S+)(.*)$/gm)];
  t.is(lines.length, 2);
  for (const [, recipe = '', options = ''] of lines) {
    const set = [...options.matchAll(/--set (\S+)/g)].map(([, one = '']) => one);
    const [, as] = /--as (\S+)/.exec(options) ?? [];
    await make(join(folder, 'studio'), recipe, { set, ...(as === undefined ? {} : { as }) });
  }
  await isWell(t, join(folder, 'studio'), 'docs/commands.md');
  const text = readFileSync(join(folder, 'studio/flows/second-studio.json5'), 'utf8');
  t.true(text.includes('second-studio-desk/mic2'));
});

test('an unknown recipe or variable, or an invalid address, is refused with the nearest name, and nothing is created', async (t) => {
  const folder = await createFolder(t);
  const rows: [recipe: string, options: Omit<InitOptions, 'recipe'>, reason: string | RegExp][] = [
    [
      'tally/two-microfones',
      {},
      '--recipe: unknown recipe "tally/two-microfones", did you mean "tally/two-microphones"?',
    ],
    ['two-microphones', {}, '--recipe: unknown recipe "two-microphones", did you mean "tally/two-microphones"?'],
    ['01-tally', {}, '--recipe: unknown recipe "01-tally": `patchbay recipes` lists all recipes'],
    ['', {}, '--recipe: unknown recipe "": `patchbay recipes` lists all recipes'],
    ['../init/studio', {}, /^--recipe: unknown recipe/],
    ['tally/_many-studios', {}, /did you mean "tally\/many-studios"\?$/],
    [first, { set: ['mci1=desk/a'] }, '--set mci1: unknown variable "mci1", did you mean "mic1"?'],
    [first, { set: ['lamp=desk/a'] }, '--set lamp: unknown variable "lamp", expected one of mic1, mic2, light'],
    [first, { set: ['mic1'] }, '--set: expected <name>=<value>, got "mic1" (string)'],
    [first, { set: ['mic1='] }, '--set mic1: expected a value (the first microphone is open), got none'],
    [first, { set: ['mic1=desk'] }, '--set mic1: expected <Connection ID>/<Parameter ID>, got "desk" (string)'],
    [first, { set: ['mic1=Desk/a'] }, /^--set mic1: expected a Connection ID/],
    [first, { set: ['mic1=desk/a', 'mic1=desk/b'] }, '--set mic1: expected one value, got two'],
    [
      first,
      { set: ['mic1=desk/a', 'mic2=desk/a'] },
      '--set mic2: expected an address other than the address of mic1, got desk/a',
    ],
    [first, { as: 'Two Mics' }, '--as: expected 1 to 48 characters a-z, 0-9 and -, other than hub, got "Two Mics"'],
    [first, { as: '../x' }, /^--as: expected/],
    [first, { as: 'hub' }, /^--as: expected .* other than hub, got "hub"$/],
    [first, { bindIp: 'all' }, /^--bind-ip: expected an IP address/],
    [
      'timers/lamp-stays-on',
      { set: ['hold=soon'] },
      /flows\/lamp-stays-on\.json5:\d+:\d+: .*got "soon".*\nnothing was created$/s,
    ],
    [
      'timers/lamp-stays-on',
      { set: ['mic=lamp-stays-on-core/a'] },
      /expected "lamp-stays-on-core" once|expected each key once/,
    ],
  ];
  for (const [recipe, options, reason] of rows) {
    const message = await reasonOf(t, folder, recipe, options);
    if (typeof reason === 'string') t.is(message, reason);
    else t.regex(message, reason);
  }
  for (const options of [{ set: ['a=b'] }, { as: 'x' }])
    await t.throwsAsync(init(folder, 'patchbay', { print: t.fail }, options), {
      message: / requires --recipe$/,
    });
  t.deepEqual(readdirSync(folder), []);
});

test('a recipe changes no existing file: neither its own, nor others, nor flow files with mistakes', async (t) => {
  const folder = await createFolder(t, { 'flows/two-microphones.json5': '{}', 'flows/_many-studios.json5': '{}' });
  await make(folder, 'timers/run-a-sequence');
  const twice = /run-a-sequence\.json5: file already exists; nothing was created$/;
  t.regex(await reasonOf(t, folder, 'timers/run-a-sequence'), twice);
  const before = readdirSync(folder, { recursive: true });
  t.regex(await reasonOf(t, folder, first), /two-microphones\.json5: file already exists; nothing was created$/);
  t.regex(await reasonOf(t, folder, 'tally/many-studios'), /_many-studios\.json5: file already exists/);
  writeFileSync(join(folder, 'flows/two-microphones.json5'), '{ connection: {} }');
  t.regex(
    await reasonOf(t, folder, 'timers/lamp-stays-on'),
    /two-microphones\.json5:1:3: .*did you mean "connections"\?\ncannot add a recipe to flow files with errors/,
  );
  t.deepEqual(readdirSync(folder, { recursive: true }), before);
});

test('a recipe uses the folders of a container or a unit', async (t) => {
  const folder = await createFolder(t);
  const place = { data: '/var/lib/patchbay', bindIp: '' };
  for (const name of [first, 'operations/keep-scenes', 'operations/grant-rights']) {
    await make(join(folder, name), name, place);
    const flows = readdirSync(join(folder, name, 'flows')).filter((file) => file.endsWith('.json5'));
    const connections = flows.map(
      (file) => json5.parse(readFileSync(join(folder, name, 'flows', file), 'utf8')).connections,
    );
    t.like(Object.assign({}, ...connections), { api: { bindIp: '' }, store: { folder: '/var/lib/patchbay' } }, name);
  }
  t.regex(
    await reasonOf(t, join(folder, first), 'timers/lamp-stays-on', place),
    /^--data: this setting is not part of the recipe/,
  );
});

test('the list names each recipe with its purpose, and a recipe with its variables', async (t) => {
  const { output } = await call((console) => recipes(undefined, console));
  const lines = output.trimEnd().split('\n');
  t.is(lines.length, all.length);
  for (const { name, about } of all)
    t.true(
      lines.some((line) => line.startsWith(name) && line.endsWith(about[0]!)),
      name,
    );
  const one = await call((console) => recipes(first, console));
  t.regex(one.output, /^mic1=desk\/mic1 +the first microphone is open$/m);
  await t.throwsAsync(
    call((console) => recipes('tally/two', console)),
    { message: /did you mean "tally\/two-microphones"\?$/ },
  );
});

test('the recipe for permissions lets everybody press the button, and only the engineer change the gain', async (t) => {
  const folder = await createFolder(t);
  await make(folder, 'operations/grant-rights', { set: [`password=${await makePasswordText('a long secret')}`] });
  const flow = join(folder, 'flows/grant-rights.json5');
  writeFileSync(flow, readFileSync(flow, 'utf8').replace('port: 17011', 'port: 0'));
  const log = createLogRecorder();
  const hub = await startHub({ paths: [join(folder, 'flows')], log });
  t.teardown(() => hub.stop());
  const url = `http://127.0.0.1:${portsOf(log)[0]}`;
  const write = async (parameter: string, value: string, headers: Record<string, string> = {}) =>
    (await fetch(`${url}/update`, { method: 'POST', body: new URLSearchParams({ parameter, value }), headers })).status;
  t.is(await write('desk/mic-button', '1'), 200);
  t.is(hub.find('desk/mic')!.value, true);
  t.is(await (await fetch(`${url}/parameters/mixer/gain`)).text(), '0');
  t.is(await write('mixer/gain', '-6'), 403);
  const authorization = `Basic ${btoa('engineer:a long secret')}`;
  t.is(await write('mixer/gain', '-6', { authorization }), 200);
  t.is(hub.find('mixer/gain')!.value, -6);
});
