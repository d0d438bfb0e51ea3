// A parameter that is renamed in the browser: its value and its history are found under the new name, also after a restart.

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test, { type ExecutionContext } from 'ava';
import type { EditAnswer } from '../../../../lib/connections/editing.ts';
import type { Rename } from '../../../../lib/connections/persistence.ts';
import { eventually } from '../../../support/deadline.ts';
import { writer } from '../../../support/hub.ts';
import { type Installation, install, type StoredHub } from '../../../support/store/store.ts';

const desk = { type: 'dummy', parameters: ['mic,F,0', 'lamp,B'] };
const rights = {
  ...{ user: 'ann', via: 'api', isOwner: true },
  ...{ mayEdit: () => true, mayRead: () => true, mayWrite: () => true },
};

/** Saves another name of the first parameter. */
async function rename(
  hub: StoredHub,
  { folder }: Installation,
  name: string,
  renames: readonly Rename[],
): Promise<EditAnswer> {
  const file = join(folder, 'flow.json5');
  const { etag } = await hub.editing!.source(file, rights);
  const ops = [{ path: 'connections.desk.parameters[0]', set: `${name},F,0` }];
  return hub.editing!.edit({ files: [{ file, base: etag, ops }], mode: 'save', comment: '', renames }, writer, rights);
}

/** Returns the recorded values of each parameter with a number, by address. */
function recorded({ folder }: Installation): Record<string, number[]> {
  const database = new DatabaseSync(join(folder, 'data', 'history.db'), { readOnly: true, timeout: 10_000 });
  try {
    const rows = database.prepare("SELECT address, value FROM event WHERE type = 'F' ORDER BY time, revision").all();
    const values: Record<string, number[]> = {};
    for (const { address, value } of rows)
      values[String(address)] = [...(values[String(address)] ?? []), Number(value)];
    return values;
  } finally {
    database.close();
  }
}

async function isRecorded(t: ExecutionContext, hub: StoredHub, from: Installation, expected: object) {
  await eventually(async () => {
    await hub.persistence.archive?.history?.flush();
    return hub.persistence.archive?.history?.status().lagMs === 0;
  });
  t.deepEqual(recorded(from), expected);
}

test('a renamed parameter keeps its value and its history, with changes around the rename, over restarts and back', async (t) => {
  const installation = await install(t, { desk });
  let hub = await installation.start();
  hub.write('desk/mic', 1, writer);
  await isRecorded(t, hub, installation, { 'desk/mic': [0, 1] });
  hub.write('desk/mic', 2, writer);
  t.true((await rename(hub, installation, 'host', [{ from: 'desk/mic', to: 'desk/host' }])).isSaved);
  t.is(hub.find('desk/mic'), undefined);
  t.is(hub.find('desk/host')!.value, 2);
  hub.write('desk/host', 3, writer);
  await isRecorded(t, hub, installation, { 'desk/host': [0, 1, 2, 2, 3] });

  await hub.stop();
  await installation.closed();
  hub = await installation.start();
  t.is(hub.find('desk/host')!.value, 3);
  t.true((await rename(hub, installation, 'mic', [{ from: 'desk/host', to: 'desk/mic' }])).isSaved);
  t.is(hub.find('desk/mic')!.value, 3);
  hub.write('desk/mic', 4, writer);
  await eventually(async () => {
    await hub.persistence.archive?.history?.flush();
    return recorded(installation)['desk/mic']?.at(-1) === 4;
  });
  const { 'desk/mic': values, ...others } = recorded(installation);
  t.deepEqual([values!.slice(0, 5), others], [[0, 1, 2, 2, 3], {}]);
});

test('a rename that the change set does not make is refused, and one without `renames` is another parameter', async (t) => {
  const installation = await install(t, { desk });
  const hub = await installation.start();
  hub.write('desk/mic', 1, writer);
  for (const renames of [
    [{ from: 'desk/mic', to: 'desk/lamp' }],
    [{ from: 'desk/lamp', to: 'desk/host' }],
    [{ from: 'desk/none', to: 'desk/host' }],
  ])
    await t.throwsAsync(rename(hub, installation, 'host', renames), {
      message: /^renames: expected a change set that removes desk\/\w+ and declares desk\/\w+/,
    });
  t.is(hub.find('desk/mic')!.value, 1);
  t.true((await rename(hub, installation, 'host', [])).isSaved);
  t.is(hub.find('desk/host')!.value, 0);
  await isRecorded(t, hub, installation, { 'desk/mic': [0, 1], 'desk/host': [0] });
});

test('a rename that is reverted moves the value and the history back, after which it can be made again', async (t) => {
  const installation = await install(t, { desk });
  const hub = await installation.start();
  hub.write('desk/mic', 1, writer);
  const forth = [{ from: 'desk/mic', to: 'desk/host' }];
  const { revision } = await rename(hub, installation, 'host', forth);
  hub.write('desk/host', 2, writer);
  t.true((await hub.editing!.revert(revision!, 'save', '', writer, rights)).isSaved);
  t.is(hub.find('desk/mic')!.value, 2);
  t.true((await rename(hub, installation, 'host', forth)).isSaved);
  t.is(hub.find('desk/host')!.value, 2);
  await isRecorded(t, hub, installation, { 'desk/host': [0, 1, 1, 2, 2, 2] });
});
