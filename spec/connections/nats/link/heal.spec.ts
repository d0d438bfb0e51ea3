// A server that was gone for seconds and is back: hubs are up to date within a second, and tell no reason that is none any more.
// Real hubs, and a real server.

import { setTimeout as after } from 'node:timers/promises';
import test from 'ava';
import { eventually } from '../../../support/deadline.ts';
import { startTestHub, statusOf, writer } from '../../../support/hub.ts';
import { startNats } from '../../../support/nats/servers.ts';
import { needs } from '../../../support/programs.ts';
import { idleTimeOf } from '../../../support/system/machine.ts';

needs('nats');

const desk = { type: 'dummy', parameters: ['lamp,I,0'] };
/** Pauses that double would be longer than a second by then. */
const awayMs = 4500;

test('hubs are fresh within a second after servers return, and give no earlier reason', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const house = (hub: string) => ({ type: 'nats', servers: nats.urls, domain: 'd', hub });
  const west = await startTestHub(t, { connections: { house: house('west'), desk } });
  const east = await startTestHub(t, { connections: { house: house('east') } });
  await eventually(() => east.find('desk/lamp')?.value === 0);
  const lamp = east.find('desk/lamp')!;
  await nats.servers[0]!.kill();
  await after(awayMs);
  t.not(lamp.remote!.staleSince, undefined);
  west.write('desk/lamp', 1, writer);
  const before = [west, east].map(({ lines }) => lines.length);
  await nats.servers[0]!.start();
  const ms = await idleTimeOf(() => eventually(() => lamp.remote!.staleSince === undefined && lamp.value === 1));
  t.true(ms < 1000, `fresh after ${Math.round(ms)} ms`);
  const areWell = () => [west, east].every((hub) => statusOf(hub, 'house').state === 'running');
  await eventually(areWell);
  const since = [west, east].flatMap(({ lines }, index) => lines.slice(before[index]));
  t.deepEqual(
    since.map(({ message }) => message).filter((message) => message.includes('there is no connection')),
    [],
  );
});
