// Two hubs of one name that are no pair: the second one says so, and does not drive what the first one has. An earlier run of a hub is
// no second one. Real hubs, and a real server.

import { join } from 'node:path';
import test from 'ava';
import { Namesake } from '../../../../lib/connections/nats/ownership/namesake.ts';
import { eventually } from '../../../support/deadline.ts';
import { createFolder } from '../../../support/folder.ts';
import { startTestHub, statusOf } from '../../../support/hub.ts';
import { startNats } from '../../../support/nats/servers.ts';
import { needs } from '../../../support/programs.ts';
import { start as startProcess } from '../../../support/system/process.ts';
import { Servers, SimulatedHub } from '../support/simulated-hub.ts';
import { Time } from '../support/time.ts';

needs('nats');

/** One that goes by the name in no term, as it is heard of. */
const waiting = { term: 0, epoch: 'of the other one' };

/** A hub without the name, which hears of another one that goes by it, in a simulated time. */
function beginBeside() {
  const time = new Time();
  const servers = new Servers();
  servers.areThere = false;
  const namesake = new Namesake(time);
  const goesFirst = (answeredMs: number) => namesake.waitsForLease(answeredMs);
  const hub = new SimulatedHub(time, [servers], 0, () => 5, { isExclusive: false, goesFirst });
  /** The other one is heard of until then, or not. */
  const run = async (untilMs: number, isPresent: boolean) => {
    for (let ms = time.now(); ms < untilMs; ms += 500) {
      await time.run(ms);
      if (isPresent) namesake.note(waiting);
      namesake.look();
    }
    await time.run(untilMs);
  };
  hub.start();
  return { time, servers, namesake, hub, run };
}

test('a hub has 10 s to take the lease of its name after servers return, after any outage', async (t) => {
  const { servers, hub, run } = beginBeside();
  await run(60_000, true);
  servers.areThere = true;
  await run(69_000, true);
  t.false(hub.lease.isHeld(), 'it is to have the lease first');
  servers.areThere = false;
  await run(90_000, true);
  servers.areThere = true;
  await run(99_000, true);
  t.false(hub.lease.isHeld(), 'the time begins anew');
  await run(103_000, true);
  t.true(hub.lease.isHeld(), 'it cannot take it');
  hub.lease.stop();
});

test('a hub does not wait for a namesake that was silent for 2 s', async (t) => {
  const { servers, hub, run } = beginBeside();
  await run(20_000, true);
  servers.areThere = true;
  await run(22_000, true);
  t.false(hub.lease.isHeld());
  await run(23_500, false);
  t.false(hub.lease.isHeld(), 'it may be slow');
  await run(26_000, false);
  t.true(hub.lease.isHeld());
  hub.lease.stop();
});

test('a stopped process has not missed a namesake', (t) => {
  const time = new Time();
  const namesake = new Namesake(time);
  namesake.note(waiting);
  time.frame += 60_000;
  namesake.look(); // before it has read what has come
  t.true(namesake.isPresent);
  namesake.note(waiting);
  for (let looks = 0; looks < 4; looks++) namesake.look();
  t.true(namesake.isPresent);
  namesake.look();
  t.false(namesake.isPresent);
});

const desk = { type: 'dummy', parameters: ['lamp,I,0'] };
const isThere = /^hub "west" of domain "d" already exists, on /;

test('the second hub of a name fails, stays failed, and leaves everything to the first until its end', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const flowOf = (more: object) => ({
    connections: { house: { type: 'nats', servers: nats.urls, domain: 'd', hub: 'west' }, ...more },
  });
  const west = await startTestHub(t, flowOf({ desk }));
  await eventually(() => west.mirroring.domain?.().hubs[0]?.connections.includes('desk') === true, 'it has claimed it');
  const copy = await startTestHub(t, flowOf({ desk, shelf: desk }));
  await eventually(() => isThere.test(statusOf(copy, 'house').reason), 'it has found the first one');
  await eventually(() => statusOf(copy, 'house').state === 'failed' && statusOf(copy, 'shelf').state === 'running');
  const sessions = () => copy.lines.filter(({ message }) => message.startsWith('connected to')).length;
  await eventually(() => sessions() > 2, 'it has looked again');
  for (const id of ['house', 'desk']) {
    t.is(statusOf(copy, id).state, 'failed');
    t.regex(statusOf(copy, id).reason, isThere);
  }
  const report = copy.lines.flatMap(({ message }) => /^connection "(?:house|desk)" is (\w+)/.exec(message)?.[1] ?? []);
  t.deepEqual(
    report.filter((state) => state === 'running'),
    [],
  );
  t.is(report.filter((state) => state === 'degraded').length, 1, 'later it is failed immediately');
  t.is(statusOf(west, 'house').state, 'running');
  t.is(statusOf(west, 'desk').state, 'running');
  await west.stop();
  await eventually(() => statusOf(copy, 'house').state === 'running' && statusOf(copy, 'desk').state === 'running');
});

test('a hub that is killed and restarts is no namesake: it has its lease before the end of the wait', async (t) => {
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
