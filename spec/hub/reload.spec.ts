// What a reload reports, and that nothing happens when the files are as they were, or wrong, or the hub has stopped.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { HubError } from '../../lib/model/error.ts';
import { startReloading } from '../support/reload.ts';

const none = { added: [], removed: [], changed: [] };
const dummy = (...parameters: string[]) => ({ type: 'dummy', parameters });

test('saving unchanged content swaps nothing', async (t) => {
  const flow = { connections: { desk: dummy('a,B') }, rules: [{ from: 'desk/a', to: 'desk/a' }] };
  const { reload } = await startReloading(t, { 'a.json5': flow });
  t.deepEqual(await reload('a.json5', `// a comment\n${JSON.stringify(flow)}`), { connections: none, rules: none });
});

test('the report names what was added, removed and changed', async (t) => {
  const connections = { a: dummy('x', 'y'), b: dummy('x'), c: dummy('x') };
  const { reload, hub } = await startReloading(t, {
    'a.json5': {
      connections,
      rules: [
        { name: 'one', from: 'a/x', to: 'a/y' },
        { name: 'two', from: 'b/x', to: 'c/x' },
        { name: 'three', from: 'a/y', to: 'a/y' },
      ],
    },
  });
  const swapped = await reload('a.json5', {
    connections: { a: connections.a, d: dummy('x'), c: dummy('x', 'y') },
    rules: [
      { name: 'one', from: 'a/x', map: '"1"', to: 'a/y' },
      { name: 'three', from: 'a/y', to: 'a/y' },
      { name: 'four', from: 'd/x', to: 'c/x' },
    ],
  });
  t.deepEqual(swapped, {
    connections: { added: ['d'], removed: ['b'], changed: ['c'] },
    rules: { added: ['four'], removed: ['two'], changed: ['one'] },
  });
  t.deepEqual(
    hub.connections().map(({ id, state }) => `${id} ${state}`),
    ['a running', 'd running', 'c running'],
  );
});

test('a broken file changes nothing, and every mistake is in the log', async (t) => {
  const flow = { connections: { desk: dummy('a', 'b') }, rules: [{ from: 'desk/a', to: 'desk/b' }] };
  const { reload, write, takeChanges, lines } = await startReloading(t, { 'a.json5': flow, 'b.json5': {} });
  const broken = { connections: { desk: dummy('a,X', 'c') }, rules: [{ from: 'desk/a', to: 'desk/c', wen: '' }] };
  const error = await t.throwsAsync(reload('a.json5', broken), { instanceOf: HubError });
  t.is(error.code, 'bad-flow');
  const errors = lines.filter(({ level }) => level === 'error').map(({ message }) => message);
  t.is(errors.length, 3);
  t.regex(errors[0]!, /a\.json5:1:\d+: connections\.desk\.parameters\[0\]: expected a value type/);
  t.regex(errors[1]!, /a\.json5:1:\d+: rules\[0\]\.wen: unknown setting "wen", did you mean "when"\?/);
  t.regex(errors[2]!, /reload failed/);
  write('desk/a', 'x');
  t.deepEqual(takeChanges(), ['desk/a=x', 'desk/b=x']);
  t.deepEqual(await reload('a.json5', flow), { connections: none, rules: none });
  const infos = () => lines.filter(({ level }) => level === 'info').map(({ message }) => message);
  t.is(infos().at(-1), 'reloaded: no changes', 'the mistake is gone');
  await reload('a.json5', flow);
  t.is(infos().filter((message) => message.startsWith('reloaded')).length, 1);
});

test('reloads run one after another, and none after the stop', async (t) => {
  const { hub, folder, save } = await startReloading(t, { 'a.json5': { connections: { a: dummy() } } });
  await save('a.json5', { connections: { b: dummy() } });
  const [first, second] = await Promise.all([hub.reload(), hub.reload()]);
  t.deepEqual(first.connections, { added: ['b'], removed: ['a'], changed: [] });
  t.deepEqual(second.connections, none);
  const late = Promise.allSettled([hub.reload(), hub.reload(), hub.reload()]);
  const stopped = hub.stop();
  await rm(join(folder, 'a.json5')); // whoever reads it now finds that it is gone
  await stopped;
  const [, ...waiting] = await late;
  for (const one of waiting) t.like(one, { status: 'rejected', reason: { message: 'the hub is shutting down' } });
});
