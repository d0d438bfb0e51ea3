// Rules and connections that somebody has switched for a term: it lasts over saves of their file, reloads and restarts, and then ends.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { startHub } from '../../lib/hub/index.ts';
import { createLogRecorder } from '../support/connection.ts';
import { eventually } from '../support/deadline.ts';
import { createFolder } from '../support/folder.ts';
import { writer } from '../support/hub.ts';

const flow = {
  connections: {
    desk: { type: 'dummy', parameters: ['a,B', 'b,B'] },
    other: { type: 'dummy', parameters: ['x,B'] },
  },
  rules: [{ name: 'copy', from: 'desk/a', to: 'desk/b' }],
};
const store = { store: { type: 'store', folder: 'data' } };

async function start(t: ExecutionContext, folder: string) {
  const hub = await startHub({ paths: [folder], log: createLogRecorder() });
  t.teardown(() => hub.stop());
  return hub;
}

const stateOf = (hub: Awaited<ReturnType<typeof start>>) => hub.rules().find(({ name }) => name === 'copy')?.state;
const connectionOf = (hub: Awaited<ReturnType<typeof start>>) =>
  hub.connections().find(({ id }) => id === 'other')?.state;

for (const [where, more] of [
  ['in the store', store],
  ['in a file beside the flows without one', {}],
] as const)
  test(`a rule and a connection that are off for good stay so, ${where}`, async (t) => {
    const written = { ...flow, connections: { ...flow.connections, ...more } };
    const folder = await createFolder(t, { 'flow.json5': written });
    const hub = await start(t, folder);
    hub.switchRule('copy', undefined, false, writer, { until: null, reason: 'repairs' });
    hub.control('other', 'stop', writer, { until: null, reason: '' });
    const changed = {
      ...written,
      connections: { ...written.connections, other: { type: 'dummy', parameters: ['x,B', 'y,B'] } },
      rules: [{ name: 'copy', from: 'desk/a', map: '!value', to: 'desk/b' }],
    };
    await writeFile(join(folder, 'flow.json5'), JSON.stringify(changed));
    await hub.reload();
    t.deepEqual([stateOf(hub), connectionOf(hub)], ['disabled', 'disabled'], 'after a reload that changes their texts');
    await hub.stop();
    const again = await start(t, folder);
    t.deepEqual([stateOf(again), connectionOf(again)], ['disabled', 'disabled'], 'after a restart');
    t.like(
      again.overrides().find(({ kind }) => kind === 'rule'),
      {
        kind: 'rule',
        name: 'copy',
        isOn: false,
        by: 'spec',
        reason: 'repairs',
        isLasting: true,
      },
    );
    again.write('desk/a', true, writer);
    t.is(again.find('desk/b')?.value, undefined);
    again.switchRule('copy', undefined, true, writer);
    again.control('other', 'start', writer);
    t.deepEqual(again.overrides(), []);
    await again.stop();
    const last = await start(t, folder);
    t.deepEqual([stateOf(last), connectionOf(last)], ['running', 'running']);
  });

test('a switch until a time ends then, also after a restart', async (t) => {
  const folder = await createFolder(t, { 'flow.json5': flow });
  const hub = await start(t, folder);
  hub.switchRule('copy', undefined, false, writer, { until: Date.now() + 700, reason: '' });
  hub.control('other', 'stop', writer, { until: Date.now() + 700, reason: '' });
  t.is(stateOf(hub), 'disabled');
  await hub.stop();
  const again = await start(t, folder);
  await eventually(
    () => stateOf(again) === 'running' && connectionOf(again) === 'running',
    'the rule and the connection',
  );
  t.deepEqual(again.overrides(), []);
});

test('a switch without a term ends with a reload that changes the text, as before', async (t) => {
  const folder = await createFolder(t, { 'flow.json5': flow });
  const hub = await start(t, folder);
  hub.switchRule('copy', undefined, false, writer);
  t.like(hub.overrides()[0], { isLasting: false });
  await writeFile(
    join(folder, 'flow.json5'),
    JSON.stringify({ ...flow, rules: [{ ...flow.rules[0], map: '!value' }] }),
  );
  await hub.reload();
  t.is(stateOf(hub), 'running');
});
