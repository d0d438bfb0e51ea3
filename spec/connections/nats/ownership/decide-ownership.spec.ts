// A hub that does not know yet what is its own tells nothing and takes no writes: what others have of it stays as it was. Real hubs,
// and a real server.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, createInbox } from '@nats-io/transport-node';
import test from 'ava';
import { leasePlace, pairParts } from '../../../../lib/connections/nats/lease/lease-record.ts';
import { deadlineMs, eventually } from '../../../support/deadline.ts';
import { createFolder } from '../../../support/folder.ts';
import { confirmed, startTestHub, statusOf, writer } from '../../../support/hub.ts';
import { startNats } from '../../../support/nats/servers.ts';
import { needs } from '../../../support/programs.ts';
import { start as startProcess } from '../../../support/system/process.ts';

needs('nats');

const desk = { type: 'dummy', parameters: ['lamp,I,0', 'out,I,0'] };
const readsNoClaims = `authorization { users: [
  { user: "all", password: "all" },
  { user: "some", password: "some", permissions: { publish: { deny: "$JS.API.STREAM.MSG.GET.patchbay+d" } } },
] }`;
const signIn = (user: string) => ({ credentials: { user, password: user } });

test('parameters of a restarting hub that cannot read the claims stay, and belong to the new run', async (t) => {
  const nats = await startNats(1, { configuration: readsNoClaims });
  t.teardown(() => nats.end());
  const house = (hub: string, user: string) => ({
    house: { type: 'nats', servers: nats.urls, domain: 'd', hub, ...signIn(user) },
  });
  const flow = { connections: { ...house('west', 'all'), desk } };
  const folder = await createFolder(t, { 'flow.json5': flow });
  const west = startProcess(t, ['run', join(folder, 'flow.json5')]);
  const edge = await startTestHub(t, { connections: house('edge', 'all') });
  await eventually(() => edge.find('desk/lamp')?.value === 0);
  const lamp = edge.find('desk/lamp')!;
  const gone: string[] = [];
  edge.removed$.subscribe(({ address }) => gone.push(address));
  west.process.kill('SIGKILL');
  const after = { desk: { ...desk, parameters: ['lamp,I,5', 'out,I,0'] } };
  const again = await startTestHub(t, { connections: { ...house('west', 'some'), ...after } });
  await eventually(() => again.lines.some(({ message }) => message.includes('patchbay+d"')), 'it may not read them');
  await eventually(() => again.leadership.term !== undefined);
  await eventually(() => (lamp.value === 5 && lamp.remote!.staleSince === undefined) || gone.length > 0);
  t.deepEqual(gone, []);
  t.is(edge.find('desk/lamp'), lamp);
});

test('a second hub of the same name receives no writes of others', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const start = (hub: string, more: object) =>
    startTestHub(t, { connections: { house: { type: 'nats', servers: nats.urls, domain: 'd', hub }, ...more } });
  const west = await start('west', { desk });
  const edge = await start('edge', {});
  await eventually(() => edge.find('desk/lamp')?.value === 0);
  const copy = await start('west', { desk });
  let count = 0;
  await eventually(async () => {
    const parameter = edge.find('desk/lamp')!;
    count++;
    const write = () => edge.writeRemote(parameter.remote!, [{ parameter, input: count }], writer);
    t.deepEqual(await confirmed(write), [count]);
    t.is(west.find('desk/lamp')!.value, count);
    return statusOf(copy, 'house').state === 'failed';
  });
  t.is(copy.find('desk/lamp')!.value, 0);
  t.is(edge.find('desk/lamp')!.remote!.staleSince, undefined);
});

test('a reload that adds a connection of another hub never starts it, and starts others immediately', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const [server] = nats.servers;
  const flowOf = (hub: string, more: object) => ({
    connections: { house: { type: 'nats', servers: nats.urls, domain: 'd', hub }, ...more },
  });
  const west = await startTestHub(t, flowOf('west', { desk }));
  const east = await startTestHub(t, flowOf('east', { shelf: desk }));
  await eventually(() => east.find('desk/lamp')?.value === 0 && west.find('shelf/lamp')?.value === 0);
  process.kill(server!.pid, 'SIGSTOP');
  const added = {
    shelf: desk,
    desk: { ...desk, parameters: ['lamp,I,7'] },
    rack: desk,
  };
  await writeFile(join(east.folder, 'flow.json5'), JSON.stringify(flowOf('east', added)));
  await east.reload();
  const hasWest = { state: 'failed', reason: 'hub "west" also has a connection "desk"' };
  t.like(statusOf(east, 'desk'), hasWest);
  t.is(statusOf(east, 'rack').state, 'running');
  await eventually(() => east.find('desk/lamp')!.remote?.hub === 'west', 'nobody writes it here');
  process.kill(server!.pid, 'SIGCONT');
  await eventually(() => west.find('rack/lamp')?.value === 0);
  t.like(statusOf(east, 'desk'), hasWest);
  t.is(west.find('desk/lamp')!.remote, undefined);
  await west.stop();
  await eventually(() => statusOf(east, 'desk').state === 'running' && east.find('desk/lamp')!.remote === undefined);
});

test('a member of a pair whose lease cannot be written answers until it hears from its successor', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const house = { type: 'nats', servers: nats.urls, domain: 'd', hub: 'west', pair: true };
  const west = await startTestHub(t, { connections: { house, desk } });
  await eventually(() => west.leadership.term !== undefined);
  const other = await connect({ servers: nats.urls[0]! });
  t.teardown(() => other.close());
  const { streams } = await jetstreamManager(other, { timeout: deadlineMs });
  const { stream, subject: last_by_subj } = leasePlace(house, 1);
  const { holder } = (await streams.getMessage(stream, { last_by_subj }))!.json<{ holder: string }>();
  /** The terms in which it has answered by the time when it answers what it is asked next. */
  const ask = async () => {
    const terms: number[] = [];
    const inbox = createInbox();
    const answers = other.subscribe(inbox, {
      callback: (_, answer) => void terms.push(answer.json<{ term: number }>().term),
    });
    other.publish('patchbay.d.west.walk', '{"from":0}', { reply: inbox });
    await other.request(`patchbay.d.west.life.${holder}`, '', { timeout: deadlineMs });
    answers.unsubscribe();
    return terms;
  };
  const sealed: object = { sealed: true }; // which servers take, and the types of their client leave out
  for (const part of pairParts) await streams.update(leasePlace(house, part).stream, sealed);
  await eventually(() => west.leadership.term === undefined, 'it has come to its fence');
  t.deepEqual(await ask(), [1]);

  const report = { hub: 'west', structure: 0, clock: 0, prev: 0, rev: 0, turns: [] };
  const subject = 'patchbay.d.west.turns';
  other.publish(subject, JSON.stringify({ ...report, epoch: 'of an earlier run', term: 1 }));
  t.deepEqual(await ask(), [1]);
  other.publish(subject, JSON.stringify({ ...report, epoch: 'of the other one', term: 2 }));
  t.deepEqual(await ask(), []);
});
