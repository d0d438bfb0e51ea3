// Servers of which one is left, so that nobody can read a lease or the claims: a hub that starts then tells what it has all the same, unless
// another one is heard to have it. Real hubs, and real servers.

import { join } from 'node:path';
import { connect, type Msg } from '@nats-io/transport-node';
import test from 'ava';
import { eventually } from '../../../support/deadline.ts';
import { createFolder } from '../../../support/folder.ts';
import { confirmed, startTestHub, statusOf, writer } from '../../../support/hub.ts';
import { startNats } from '../../../support/nats/servers.ts';
import { needs } from '../../../support/programs.ts';
import { idleTimeOf } from '../../../support/system/machine.ts';
import { start as startProcess } from '../../../support/system/process.ts';

needs('nats');

const lamp = (value: number) => ({ type: 'dummy', parameters: [`lamp,I,${value}`] });

test('a hub that starts without a leader announces itself after 2 s; a second hub of its name does not, nor connections of another hub', async (t) => {
  const nats = await startNats(3);
  t.teardown(() => nats.end());
  const house = (hub: string) => ({ house: { type: 'nats', servers: [nats.urls[0]], domain: 'd', hub } });
  const flow = { connections: { ...house('west'), desk: lamp(1) } };
  const folder = await createFolder(t, { 'flow.json5': flow });
  const west = startProcess(t, ['run', join(folder, 'flow.json5')]);
  const edge = await startTestHub(t, { connections: house('edge') });
  await eventually(() => edge.find('desk/lamp')?.value === 1, 'the servers have leaders');
  const others = nats.servers.slice(1);
  for (const { pid } of others) process.kill(pid, 'SIGSTOP');
  west.process.kill('SIGKILL');
  await eventually(() => edge.find('desk/lamp')!.remote!.staleSince !== undefined);

  const again = await startTestHub(t, { connections: { ...house('west'), desk: lamp(2) } });
  const isHeardOf = () => edge.find('desk/lamp')!.remote!.staleSince === undefined;
  const ms = await idleTimeOf(() => eventually(isHeardOf, 'it is heard of'));
  t.true(ms < 3000, `after ${Math.round(ms)} ms`);
  t.is(edge.find('desk/lamp')!.value, 2);
  const parameter = edge.find('desk/lamp')!;
  const write = () => edge.writeRemote(parameter.remote!, [{ parameter, input: 3 }], writer);
  t.deepEqual(await confirmed(write), [3]);
  t.is(again.mirroring.domain!().lease!.state, 'unknown');

  const copy = await startTestHub(t, { connections: { ...house('west'), desk: lamp(7), shelf: lamp(7) } });
  const rival = await startTestHub(t, { connections: { ...house('east'), desk: lamp(8), rack: lamp(8) } });
  await eventually(() => edge.find('rack/lamp')?.value === 8);
  t.like(statusOf(rival, 'desk'), { state: 'failed', reason: 'hub "west" also has a connection "desk"' });
  t.is(statusOf(rival, 'rack').state, 'running');
  t.false(
    rival.lines.some(({ message }) => message === 'connection "desk" is running'),
    'it has never started',
  );
  t.true(rival.lines.some(({ message }) => message === 'connection "rack" is running'));
  await eventually(() => copy.leadership.term !== undefined, 'it serves its own');
  const values = () => ['desk/lamp', 'shelf/lamp'].map((address) => edge.find(address)?.value);
  t.deepEqual(values(), [3, undefined]);

  for (const { pid } of others) process.kill(pid, 'SIGCONT');
  await eventually(() => again.mirroring.domain?.().lease?.state === 'held', 'leaders are elected');
  await eventually(() => statusOf(copy, 'house').state === 'failed' && statusOf(copy, 'shelf').state === 'running');
  t.deepEqual(values(), [3, undefined]);
  t.is(statusOf(rival, 'desk').state, 'failed');
  t.is(statusOf(again, 'desk').state, 'running');
  t.is(edge.find('desk/lamp')!.remote!.staleSince, undefined);
});

test('of two hubs of the same name that start together without a leader, one announces itself, and the other one after the end of the first', async (t) => {
  const nats = await startNats(3);
  t.teardown(() => nats.end());
  const house = (hub: string) => ({ house: { type: 'nats', servers: [nats.urls[0]], domain: 'd', hub } });
  const edge = await startTestHub(t, { connections: house('edge') });
  await eventually(() => edge.mirroring.domain?.().lease?.state === 'held', 'the servers have leaders');
  for (const { pid } of nats.servers.slice(1)) process.kill(pid, 'SIGSTOP');
  const values = [1, 2];
  const hubs = await Promise.all(
    values.map((value) => startTestHub(t, { connections: { ...house('west'), desk: lamp(value) } })),
  );
  await eventually(() => edge.find('desk/lamp') !== undefined, 'one is heard of');
  await oneTells(nats.urls[0]!);
  const report: unknown[] = [];
  edge.changes$.subscribe(({ parameter, value }) => parameter.address === 'desk/lamp' && report.push(value));
  const first = edge.find('desk/lamp')!.value as number;
  await oneTells(nats.urls[0]!);
  t.deepEqual(report, [], 'they do not take turns');
  await hubs[values.indexOf(first)]!.stop();
  await eventually(() => edge.find('desk/lamp')?.value === 3 - first);
  t.deepEqual(report, [3 - first]);
});

/** Resolves when one run of west has told something six times in a row, which takes it 2.5 s, and no other one meanwhile. */
async function oneTells(url: string): Promise<void> {
  const connection = await connect({ servers: url });
  try {
    let last = { epoch: '', times: 0 };
    const callback = (_: Error | null, message: Msg) => {
      const { epoch } = message.json<{ epoch: string }>();
      last = { epoch, times: epoch === last.epoch ? last.times + 1 : 1 };
    };
    connection.subscribe('patchbay.d.west.turns', { callback });
    await eventually(() => last.times >= 6, 'one tells, and no other one');
  } finally {
    await connection.close();
  }
}
