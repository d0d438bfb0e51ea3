// The leaders of the streams of a lease, in a real cluster: each gets a server of its own, so the end of any one ends no pair.

import { connect, type NatsConnection } from '@nats-io/transport-node';
import test from 'ava';
import { leasePlace, pairParts } from '../../../../lib/connections/nats/lease/lease-record.ts';
import { findCrowded } from '../../../../lib/connections/nats/lease/spread-leaders.ts';
import { nats as type } from '../../../../lib/connections/nats/nats.ts';
import { eventually } from '../../../support/deadline.ts';
import { startTestHub } from '../../../support/hub.ts';
import { startNats } from '../../../support/nats/servers.ts';
import { needs } from '../../../support/programs.ts';

needs('nats');

const name = { domain: 'd', hub: 'west' };
const streams = pairParts.map((part) => leasePlace(name, part).stream);

test('of streams that one server leads, another leader is asked for as long as a server leads none', (t) => {
  const servers = ['a', 'b', 'c'];
  const placed = (leaders: readonly string[], there = servers) =>
    leaders.map((leader) => ({ leader, followers: there.filter((server) => server !== leader) }));
  const of = (...leaders: string[]) => findCrowded(placed(leaders), 'a');
  t.is(of('a', 'b', 'c'), undefined);
  t.is(of('a', 'a', 'c'), 1);
  t.is(of('a', 'b', 'b'), 2);
  t.is(of('c', 'c', 'c'), 1);
  t.is(of('a', 'b', 'c', 'b', 'b', 'c'), undefined);
  t.is(of('b', 'a', 'c', 'b', 'a'), 4, 'the server that the hub asks leads no more than one');
  t.is(findCrowded(placed(['a', 'b'], ['a', 'b']), 'a'), undefined, 'there is no third one');
  t.is(findCrowded(placed(['b', 'c', 'b'], ['b', 'c']), 'a'), undefined);
  t.is(findCrowded([undefined, ...placed(['a', 'a'])], 'a'), 2);
  t.is(findCrowded([...placed(['a']), undefined, ...placed(['b'])], 'a'), undefined);
});

test('the holder of a pair spreads its leaders with the permissions that are printed for it, and outlives any one of them', async (t) => {
  const settings = type.settingsSchema.parse({ ...name, pair: true, credentials: { user: 'west' } });
  const users = `${type.permissions!(settings)}, { user: admin }`;
  const nats = await startNats(3, { configuration: `authorization { timeout: 60, users: [\n${users}\n] }` });
  t.teardown(() => nats.end());
  const house = { type: 'nats', servers: nats.urls, ...name, pair: true, credentials: { user: 'west' } };
  const hub = await startTestHub(t, {
    connections: { house, desk: { type: 'dummy', parameters: ['lamp,I'] } },
  });
  const dial = () => connect({ servers: [...nats.urls], user: 'admin', maxReconnectAttempts: -1 });
  const admin = await dial();
  t.teardown(() => admin.close());
  await eventually(() => hub.leadership.term !== undefined, 'a leader of each stream');
  let leaders: (string | undefined)[] = [];
  const spread = async () => {
    leaders = await leadersOf(admin);
    const led = new Map(leaders.map((leader) => [leader, leaders.filter((one) => one === leader).length]));
    return !led.has(undefined) && led.size === nats.servers.length && [...led.values()].includes(1);
  };
  await eventually(spread, 'spread leaders');
  const only = leaders.findIndex((leader) => leaders.filter((one) => one === leader).length === 1);
  await admin.request(`$JS.API.STREAM.LEADER.STEPDOWN.${streams[only]}`, '', { timeout: 5000 });
  t.false(await spread());
  await eventually(spread, 'spread leaders again');

  const [leader] = leaders;
  const server = nats.servers[Number(leader!.split('-')[1])]!;
  const terms: (number | undefined)[] = [];
  const looking = setInterval(() => terms.push(hub.leadership.term?.number), 20);
  t.teardown(() => clearInterval(looking));
  await server.kill();
  await eventually(async () => ![undefined, leader].includes((await leadersOf(admin))[0]), 'another leader');
  await server.start();
  await eventually(spread, 'spread leaders once more');
  t.deepEqual([...new Set(terms)], [1], 'nobody has seen anything of it');
  t.deepEqual(
    hub.lines.filter(({ message }) => message.startsWith('the server reports')),
    [],
  );
  await hub.stop();
});

async function leadersOf(admin: NatsConnection): Promise<(string | undefined)[]> {
  return Promise.all(
    streams.map(async (stream) => {
      const reported = await admin
        .request(`$JS.API.STREAM.INFO.${stream}`, '', { timeout: 1000 })
        .catch(() => undefined);
      return reported?.json<{ cluster?: { leader?: string } }>().cluster?.leader;
    }),
  );
}
