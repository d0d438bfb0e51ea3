// Rules and connections that somebody has switched for a term: it lasts over saves of their file, reloads and restarts, and then ends.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { startHub } from '../../lib/hub/index.ts';
import { VirtualClock } from '../../lib/testing/virtual-clock.ts';
import { createLogRecorder } from '../support/connection.ts';
import { eventually } from '../support/deadline.ts';
import { createFolder } from '../support/folder.ts';
import { api, writer } from '../support/hub.ts';
import { start as startProcess } from '../support/system/process.ts';

const flow = {
  connections: {
    desk: { type: 'dummy', parameters: ['a,B', 'b,B'] },
    other: { type: 'dummy', parameters: ['x,B'] },
  },
  rules: [{ name: 'copy', from: 'desk/a', to: 'desk/b' }],
};
const hourMs = 3_600_000;
/** A store has kept what is older than 500 ms. */
const storedMs = 1500;
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

for (const [where, more] of [
  ['in the store', store],
  ['in a file beside the flows', {}],
] as const) {
  test(`a rule that is off for an hour stays so over saves, a reload and restarts, and then runs again, ${where}`, async (t) => {
    const written = { ...flow, connections: { ...flow.connections, ...more } };
    const folder = await createFolder(t, { 'flow.json5': JSON.stringify(written) });
    const begin = async () => {
      const clock = new VirtualClock();
      const hub = await startHub({ paths: [folder], log: createLogRecorder(), scheduler: clock });
      t.teardown(() => hub.stop());
      return { hub, clock };
    };
    const first = await begin();
    const until = Date.now() + hourMs;
    first.hub.switchRule('copy', undefined, false, writer, { until, reason: 'repairs' });
    first.clock.advanceTo(hourMs / 2);
    const file = join(folder, 'flow.json5');
    const rights = {
      ...{ user: 'ann', via: 'api', isOwner: true },
      ...{ mayEdit: () => true, mayRead: () => true, mayWrite: () => true },
    };
    const { etag } = await first.hub.editing!.source(file, rights);
    const ops = [{ path: 'rules[0].map', set: '!value' }];
    const edit = { files: [{ file, base: etag, ops }], mode: 'save', comment: '' } as const;
    t.true((await first.hub.editing!.edit(edit, writer, rights)).isSaved);
    t.is(stateOf(first.hub), 'disabled', 'after a save in the browser');
    await writeFile(file, JSON.stringify({ ...written, rules: [{ ...flow.rules[0], map: 'value' }] }));
    await first.hub.reload();
    t.is(stateOf(first.hub), 'disabled', 'after a save of an editor');
    first.clock.advanceTo(hourMs - 60_000);
    t.is(stateOf(first.hub), 'disabled', 'before the hour is over');
    first.hub.write('desk/a', true, writer);
    t.is(first.hub.find('desk/b')?.value, undefined);
    await first.hub.stop();

    const { hub, clock } = await begin();
    t.is(stateOf(hub), 'disabled', 'after a restart');
    t.like(hub.overrides()[0], { name: 'copy', isOn: false, by: 'spec', reason: 'repairs', isLasting: true, until });
    await hub.reload();
    clock.advanceTo(hourMs - 60_000);
    t.is(stateOf(hub), 'disabled');
    clock.advanceTo(hourMs + 1);
    t.is(stateOf(hub), 'running', 'once it is over');
    t.deepEqual(hub.overrides(), []);
    hub.write('desk/a', true, writer);
    hub.write('desk/a', false, writer);
    t.is(hub.find('desk/b')?.value, false);
    await hub.stop();
    t.is(stateOf((await begin()).hub), 'running', 'after another restart');
  });

  test(`a rule that is off until a time stays so over a kill, and runs again when it is over meanwhile, ${where}`, async (t) => {
    const connections = { ...flow.connections, api, ...more };
    const folder = await createFolder(t, { 'flow.json5': { ...flow, connections } });
    const begin = async () => {
      const process = startProcess(t, ['run', folder]);
      const [, port] = await process.shows(/listening on .*:(\d+)\//);
      const ask = async <T>(path: string, body?: object) => {
        const headers = { 'content-type': 'application/json' };
        const sent = body && { method: 'POST', headers, body: JSON.stringify(body) };
        return (await (await fetch(`http://127.0.0.1:${port}/hub/${path}`, sent)).json()) as T;
      };
      const state = async () => (await ask<{ name: string; state: string }[]>('rules'))[0]!.state;
      const end = async () => {
        if ('store' in more) await setTimeout(storedMs);
        process.process.kill('SIGKILL');
        await process.ended();
      };
      return { ask, state, end };
    };
    const off = (ms: number) => ({ rule: 'copy', enabled: false, until: new Date(Date.now() + ms).toISOString() });
    const first = await begin();
    await first.ask('rules', off(hourMs));
    await first.end();
    const second = await begin();
    t.is(await second.state(), 'disabled');
    t.is((await second.ask<{ overrides: object[] }>('overrides')).overrides.length, 1);
    await second.ask('rules', off(1000));
    await second.end();
    await setTimeout(1000);
    const third = await begin();
    await eventually(async () => (await third.state()) === 'running', 'the rule');
    t.deepEqual(await third.ask('overrides'), { overrides: [] });
    await third.end();
  });
}

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
