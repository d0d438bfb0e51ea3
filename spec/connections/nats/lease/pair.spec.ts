// Main and standby, and who has a Connection ID: real hubs, and a real server that is stopped and goes on.

import test, { type ExecutionContext } from 'ava';
import { eventually } from '../../../support/deadline.ts';
import { type HubUnderTest, startTestHub, statusOf, writer } from '../../../support/hub.ts';
import { startNats } from '../../../support/nats/servers.ts';
import { needs } from '../../../support/programs.ts';

needs('nats');

const desk = { type: 'dummy', parameters: ['in,I,0', 'out,I,0', 'starts,I,0'] };
const rules = [
  { name: 'copies', from: 'desk/in', to: 'desk/out' },
  { name: 'counts', from: 'hub/started', map: "param('desk/starts') + 1", to: 'desk/starts' },
];

async function startDomain(t: ExecutionContext) {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const start = (house: object, flow: object = {}) =>
    startTestHub(t, {
      connections: { house: { type: 'nats', servers: nats.urls, domain: 'd', ...house }, ...flow },
      rules: 'desk' in flow ? rules : [],
    });
  return { server: nats.servers[0]!, start };
}

const valueAt = (hub: HubUnderTest, address: string) => hub.find(address)?.value;
const runs = (hub: HubUnderTest) => hub.duty.watch !== undefined;

test('the standby mirrors, takes over what was and no rule runs by that; a pair without servers stops and heals', async (t) => {
  const { start, server } = await startDomain(t);
  const pair = { hub: 'west', pair: true };
  const main = await start(pair, { desk });
  await eventually(() => runs(main));
  t.is(valueAt(main, 'desk/starts'), 1);
  const other = await start({ hub: 'edge' });
  const standby = await start(pair, { desk });
  await eventually(() => standby.find('desk/in')?.remote !== undefined && valueAt(standby, 'desk/starts') === 1);
  t.like(statusOf(standby, 'desk'), { state: 'disabled' });
  t.regex(statusOf(standby, 'desk').reason, /^stands by for /);

  standby.write('desk/in', 5, writer);
  await eventually(() => valueAt(standby, 'desk/out') === 5 && valueAt(other, 'desk/out') === 5);
  await main.stop();
  await eventually(() => runs(standby));
  t.is(standby.duty.watch!.term, 2);
  t.deepEqual(
    ['in', 'out', 'starts'].map((id) => valueAt(standby, `desk/${id}`)),
    [5, 5, 1],
  );
  await eventually(() => other.find('desk/in')?.remote?.staleSince === undefined);
  other.write('desk/in', 6, writer);
  await eventually(() => valueAt(other, 'desk/out') === 6);

  process.kill(server.pid, 'SIGSTOP');
  await eventually(() => !runs(standby));
  t.regex(statusOf(standby, 'desk').reason, /the lease could not be renewed in time/);
  const parameter = standby.find('desk/in')!;
  t.not(parameter.remote?.staleSince, undefined);
  const [refusal] = await standby.writeRemote(parameter.remote!, [{ parameter, input: 1 }], writer);
  t.regex(String(refusal), /no hub runs the connections of "west"/);
  process.kill(server.pid, 'SIGCONT');
  await eventually(() => runs(standby));
  t.is(standby.duty.watch!.term, 2, 'nobody was between');
  t.deepEqual(
    ['in', 'out', 'starts'].map((id) => valueAt(standby, `desk/${id}`)),
    [6, 6, 1],
  );
});

test('a Connection ID is that of one hub, and the next one gets it when it is free; so is the name of a hub', async (t) => {
  const { start } = await startDomain(t);
  const west = await start({ hub: 'west' }, { desk });
  await eventually(() => statusOf(west, 'desk').state === 'running');
  const east = await start({ hub: 'east' }, { desk, shelf: desk });
  await eventually(() => statusOf(east, 'desk').state === 'failed');
  t.is(statusOf(east, 'desk').reason, 'hub "west" has a connection "desk" too');
  t.is(statusOf(east, 'shelf').state, 'running');
  const parameter = east.find('desk/in')!;
  t.is(parameter.remote?.hub, 'west');
  const [refusal] = await east.writeRemote(parameter.remote!, [{ parameter, input: 1 }], writer);
  t.is((refusal as Error).message, 'desk/in: hub "west" has a connection "desk" too');
  const second = await start({ hub: 'east' });
  await eventually(() => statusOf(second, 'house').state === 'failed');
  t.regex(statusOf(second, 'house').reason, /^hub "east" of domain "d" is there already, on /);
  await west.stop();
  await eventually(() => statusOf(east, 'desk').state === 'running' && parameter.remote === undefined);
  t.is(east.write('desk/in', 3, writer), 3);
  t.is(statusOf(east, 'house').state, 'running');
});
