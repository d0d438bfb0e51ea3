// Two hubs of one name that are no pair: the second one says so, and does not drive what the first one has. An earlier run of a hub is
// no second one. Real hubs, and a real server.

import { join } from 'node:path';
import test from 'ava';
import { eventually } from '../../../support/deadline.ts';
import { createFolder } from '../../../support/folder.ts';
import { startTestHub, statusOf } from '../../../support/hub.ts';
import { startNats } from '../../../support/nats/servers.ts';
import { needs } from '../../../support/programs.ts';
import { start as startProcess } from '../../../support/system/process.ts';

needs('nats');

const desk = { type: 'dummy', parameters: ['lamp,I,0'] };
const isThere = /^hub "west" of domain "d" is there already, on /;

test('the second hub of a name is failed, stays so, and leaves alone what the first one has until that has ended', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const flowOf = (more: object) => ({
    connections: { house: { type: 'nats', servers: nats.urls, domain: 'd', hub: 'west' }, ...more },
  });
  const west = await startTestHub(t, flowOf({ desk }));
  await eventually(() => west.mirroring.domain?.().hubs[0]?.connections.includes('desk') === true, 'it has claimed it');
  const copy = await startTestHub(t, flowOf({ desk, shelf: desk }));
  t.is(statusOf(copy, 'house').state, 'degraded');
  t.regex(statusOf(copy, 'house').reason, isThere);
  await eventually(() => statusOf(copy, 'house').state === 'failed' && statusOf(copy, 'shelf').state === 'running');
  const sessions = () => copy.lines.filter(({ message }) => message.startsWith('is connected to')).length;
  await eventually(() => sessions() > 2, 'it has looked again');
  for (const id of ['house', 'desk']) {
    t.is(statusOf(copy, id).state, 'failed');
    t.regex(statusOf(copy, id).reason, isThere);
  }
  const told = copy.lines.flatMap(({ message }) => /^connection "(?:house|desk)" is (\w+)/.exec(message)?.[1] ?? []);
  t.deepEqual(
    told.filter((state) => state === 'running'),
    [],
  );
  t.is(told.filter((state) => state === 'degraded').length, 1, 'later it is failed at once');
  t.is(statusOf(west, 'house').state, 'running');
  t.is(statusOf(west, 'desk').state, 'running');
  await west.stop();
  await eventually(() => statusOf(copy, 'house').state === 'running' && statusOf(copy, 'desk').state === 'running');
});

test('a hub that was killed and starts again is none: it has its lease before it would have waited for it', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const flow = { connections: { house: { type: 'nats', servers: nats.urls, domain: 'd', hub: 'west' }, desk } };
  const edge = await startTestHub(t, {
    connections: { house: { type: 'nats', servers: nats.urls, domain: 'd', hub: 'edge' } },
  });
  const folder = await createFolder(t, { 'flow.json5': flow });
  const killed = startProcess(t, ['run', join(folder, 'flow.json5')]);
  await eventually(() => edge.find('desk/lamp')?.value === 0);
  killed.process.kill('SIGKILL');
  const again = await startTestHub(t, flow);
  await eventually(() => statusOf(again, 'desk').state === 'running');
  t.like(again.mirroring.domain!().lease, { state: 'held', term: 2 });
  t.is(statusOf(again, 'house').state, 'running');
  t.deepEqual(
    again.lines.filter(({ message }) => message.includes('there already')),
    [],
  );
});
