// A connection type is known in its own folder and in the registry, and nowhere else: adding one takes no further edit.

import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import test from 'ava';
import { loadConnectionTypes } from '../../lib/connections/connection-types.ts';
import { loadFlows } from '../../lib/hub/index.ts';
import { connectionTypes } from '../support/connection-types.ts';
import { createFolder } from '../support/folder.ts';

const lib = resolve(import.meta.dirname, '../../lib');

/** The registry, the files that contain, show or write flow files, and those in which a word is a setting, a view, a widget or a list. */
const flows = [
  'command/run/run.ts',
  'command/drivers.ts',
  'command/init.ts',
  'hub/recipes.ts',
  'connections/mqtt/abbreviations.ts',
  'connections/mqtt/documents.ts',
  'connections/registry.ts',
  'connections/rest-api/endpoints/alarms.ts',
  'connections/rest-api/endpoints/connections.ts',
  'connections/satellite/settings.ts',
  'console/alarms/alarm-form.tsx',
  'console/alarms/alarms-view.tsx',
  'console/dashboard/readings/schedule.tsx',
  'console/dashboard/widget-place.tsx',
  'console/editor/item-form.tsx',
  'console/history/no-store.tsx',
  'console/schedule/schedule-view.tsx',
  'console/start/navigation.tsx',
  'console/start/start-view.tsx',
  'console/users/users-view.tsx',
  'console/views.ts',
  'dashboard/format.ts',
  'flow/check/tests/tests.ts',
  'flow/run/connections/supervisor.ts',
  'testing/test-flow.ts',
];

for (const type of connectionTypes.keys()) {
  const folder = `connections/${type}/`;

  test(`${type} has a folder of its name, with a file of its name and a README`, (t) => {
    for (const file of [`${type}.ts`, 'README.md']) t.true(existsSync(join(lib, folder, file)), `${folder}${file}`);
  });

  test(`no file outside of its folder calls ${type} by its name`, async (t) => {
    const files = (await readdir(lib, { recursive: true })).filter((name) => /\.tsx?$/.test(name));
    const others = files.filter((name) => !name.startsWith(folder) && !flows.includes(name));
    t.true(others.length < files.length);
    for (const name of others)
      t.false((await readFile(join(lib, name), 'utf8')).includes(`'${type}'`), `${name} has '${type}'`);
  });
}

test('each type has its name in the registry', (t) => {
  for (const [name, { type }] of connectionTypes) t.is(type, name);
});

test('only the named types are loaded, and all types when a name is unknown', async (t) => {
  const names = async (...wanted: unknown[]) => [...(await loadConnectionTypes(new Set(wanted))).keys()];
  t.deepEqual(await names('timer', 'dummy'), ['dummy', 'timer']);
  t.deepEqual(await names(), []);
  for (const unknown of ['timr', undefined, 'constructor'])
    t.deepEqual(await names('dummy', unknown), [...connectionTypes.keys()]);
});

test('a misspelt type gets the nearest name of all types, not only of those that the files use', async (t) => {
  const folder = await createFolder(t, {
    'a.json5': { connections: { desk: { type: 'dummy' }, core: { type: 'virtual-cor' } } },
  });
  await t.throwsAsync(loadFlows([folder]), { message: /did you mean "virtual-core"\?/ });
});
