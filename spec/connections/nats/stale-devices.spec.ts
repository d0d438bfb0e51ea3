// A device that is away is away at every hub: its values are stale there as well, and fresh again with the device, over breaks of the link.

import test, { type ExecutionContext } from 'ava';
import { staleSinceOf } from '../../../lib/model/parameter.ts';
import { eventually } from '../../support/deadline.ts';
import { api, type HubUnderTest, portsOf, startHubFrom, startTestHub, writer } from '../../support/hub.ts';
import { startNats } from '../../support/nats/servers.ts';
import { startPeer } from '../../support/peer.ts';
import { needs } from '../../support/programs.ts';
import { openV1 } from '../../support/sockets/v1.ts';

needs('nats');

const description = `{ about: 'It', frame: { end: '\\n' }, poll: '50ms', timeout: '200ms', parameters: {
  level: { type: 'I', ask: { send: 'L?', reply: 'L={value:int}' }, write: { send: 'L={value:int}', reply: 'OK', then: 'ask' } },
  model: { type: 'S', ask: { send: 'M?', reply: 'M={value}' } } } }`;

const isStale = (hub: HubUnderTest, address: string) => staleSinceOf(hub.find(address)!) !== undefined;

async function startHouse(t: ExecutionContext) {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const house = (hub: string) => ({ type: 'nats', servers: nats.urls, domain: 'house', hub });
  const rig = { level: 7 };
  const peer = await startPeer(t, {
    end: '\n',
    answer(request) {
      if (request === 'M?') return 'M=X\n';
      if (request === 'L?') return `L=${rig.level}\n`;
      rig.level = Number(request.slice(2));
      return 'OK\n';
    },
  });
  const it = { type: 'device', tcp: `127.0.0.1:${peer.port}`, protocol: './it.device.json5' };
  const desk = { type: 'dummy', parameters: ['lamp,B,true'] };
  const connections = { house: house('west'), it, desk };
  const west = await startHubFrom(t, { 'flow.json5': { connections }, 'it.device.json5': description });
  const startEast = (name = 'east') =>
    startTestHub(t, {
      connections: { house: house(name), api, panel: { type: 'dummy', parameters: ['ping,T', 'ok,B'] } },
      rules: [{ from: 'panel/ping', map: "fresh('it/level')", to: 'panel/ok' }],
    });
  return { nats, peer, rig, west, startEast };
}

test('stale with the device, its value kept; fresh with the newest value; told over HTTP, patchbay.v1 and in expressions', async (t) => {
  const { peer, rig, west, startEast } = await startHouse(t);
  const east = await startEast();
  await eventually(() => east.find('it/level')?.value === 7);
  const [port] = portsOf(east) as [number];
  const client = await openV1(t, port);
  await client.subscribe({ sub: 1, include: ['it/**', 'desk/**'] });
  t.false(isStale(east, 'it/level'));

  await peer.stop();
  await eventually(() => isStale(east, 'it/level') && isStale(east, 'it/model'));
  t.false(isStale(east, 'desk/lamp'), 'another connection of that hub');
  t.is(east.find('it/level')!.value, 7);
  t.true(Math.abs(staleSinceOf(east.find('it/level')!)! - staleSinceOf(west.find('it/level')!)!) < 1000);
  await eventually(() => client.picture.stale.size === 2, 'patchbay.v1 tells it');
  const list = await (await fetch(`http://127.0.0.1:${port}/hub/parameters?filter=^it/`)).text();
  t.is(list.match(/"staleSince":"20/g)?.length, 2, list);
  east.write('panel/ping', true, writer);
  t.false(east.find('panel/ok')!.value);
  const update = await fetch(`http://127.0.0.1:${port}/update?parameter=it/level&value=1`);
  t.is(update.status, 503);

  const late = await startEast('north');
  await eventually(() => late.find('it/level') !== undefined && isStale(late, 'it/level'), 'a hub that comes later');

  const seen: unknown[] = [];
  rig.level = 9;
  const watching = setInterval(() => {
    if (!isStale(east, 'it/level')) seen.push(east.find('it/level')!.value);
  }, 1);
  t.teardown(() => clearInterval(watching));
  await peer.start();
  await eventually(() => !isStale(east, 'it/level') && !isStale(late, 'it/level'));
  await eventually(() => seen.length > 3);
  t.deepEqual([...new Set(seen)], [9], 'never fresh with the value from before');
  await eventually(() => client.picture.stale.size === 0);
  east.write('panel/ping', true, writer);
  t.true(east.find('panel/ok')!.value);
});

test('the link to the other hub is cut and comes back while the device is away', async (t) => {
  const { nats, peer, startEast } = await startHouse(t);
  const east = await startEast();
  await eventually(() => east.find('it/level')?.value === 7);
  await nats.servers[0]!.kill('SIGKILL');
  await eventually(() => isStale(east, 'it/level') && isStale(east, 'desk/lamp'), 'no contact with the hub');
  await peer.stop();
  await nats.servers[0]!.start();
  await eventually(() => !isStale(east, 'desk/lamp'), 'the hub is there again');
  await eventually(() => isStale(east, 'it/level'), 'its device is not');
  await peer.start();
  await eventually(() => !isStale(east, 'it/level'));
  t.is(east.find('it/level')!.value, 7);
});
