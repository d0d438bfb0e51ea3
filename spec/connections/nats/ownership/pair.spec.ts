// Main and standby, and who has a Connection ID: real hubs, and a real server that is stopped and goes on.

import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Domain } from '../../../../lib/wire/http/operation.ts';
import { eventually } from '../../../support/deadline.ts';
import { createFolder } from '../../../support/folder.ts';
import { api, confirmed, type HubUnderTest, startTestHub, statusOf, writer } from '../../../support/hub.ts';
import { startNats } from '../../../support/nats/servers.ts';
import { needs } from '../../../support/programs.ts';
import { connectClient } from '../../../support/sockets/client.ts';
import { start as startProcess } from '../../../support/system/process.ts';

needs('nats');

const desk = { type: 'dummy', parameters: ['in,I,0', 'out,I,0', 'starts,I,0'] };
const rules = [
  { name: 'copies', from: 'desk/in', to: 'desk/out' },
  { name: 'counts', from: 'hub/started', map: "param('desk/starts') + 1", to: 'desk/starts' },
];

async function startDomain(t: ExecutionContext) {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const flowOf = (house: object, connections: object = {}) => ({
    connections: { house: { type: 'nats', servers: nats.urls, domain: 'd', ...house }, ...connections },
    rules: 'desk' in connections ? rules : [],
  });
  const start = (house: object, connections?: object) => startTestHub(t, flowOf(house, connections));
  return { server: nats.servers[0]!, start, flowOf };
}

/** Saves other connections in the flow file of a hub, and reloads. */
async function reload(hub: HubUnderTest, flow: object): Promise<void> {
  await writeFile(join(hub.folder, 'flow.json5'), JSON.stringify(flow));
  await hub.reload();
}

async function statusAt({ port }: HubUnderTest, path: string): Promise<number> {
  return (await fetch(`http://127.0.0.1:${port}${path}`)).status;
}

const valueAt = (hub: HubUnderTest, address: string) => hub.find(address)?.value;
const runs = (hub: HubUnderTest) => hub.leadership.term !== undefined;

test('the standby mirrors, and takes over the values without running a rule; a pair without servers stops and recovers', async (t) => {
  const { start, flowOf, server } = await startDomain(t);
  const pair = { hub: 'west', pair: true };
  const main = await start(pair, { desk });
  await eventually(() => runs(main));
  t.is(valueAt(main, 'desk/starts'), 1);
  const other = await start({ hub: 'edge' }, { api });
  const seen = async () => {
    const { hubs } = JSON.parse(await (await fetch(`http://127.0.0.1:${other.port}/hub/hubs`)).text()) as Domain;
    const mirror = hubs.find(({ hub }) => hub === 'west')?.mirror;
    return `${mirror?.machine} ${mirror?.term}`;
  };
  await eventually(async () => (await seen()) === `${hostname()} 1`);
  const standby = await start(pair, { desk, api });
  await eventually(() => standby.find('desk/in')?.remote !== undefined && valueAt(standby, 'desk/starts') === 1);
  t.like(statusOf(standby, 'desk'), { state: 'disabled' });
  t.regex(statusOf(standby, 'desk').reason, /^standby of /);

  const page = connectClient(t, standby.port);
  const shown: unknown[] = [];
  const out = page.param('desk/out');
  out.subscribe((value) => shown.push(value));
  await page.whenLive();
  const states: string[] = [];
  page.state$.subscribe(({ name }) => states.push(name));
  t.is(await statusAt(standby, '/hub/'), 200);
  t.is(await statusAt(standby, '/hub/health/ready'), 200);
  await confirmed(() => page.set('desk/in', 5));
  await eventually(() => shown.at(-1) === 5 && valueAt(other, 'desk/out') === 5);

  const added = { desk: { ...desk, parameters: [...desk.parameters, 'late,I,0'] } };
  await reload(standby, flowOf(pair, { ...added, api }));
  const late = standby.find('desk/late')!;
  t.is(late.remote?.hub, 'west', 'it is that of who runs the connection, who has not got it yet');
  await reload(main, flowOf(pair, added));
  await eventually(() => late.remote !== undefined && late.remote.staleSince === undefined);
  await confirmed(() => page.set('desk/late', 3));
  t.is(valueAt(main, 'desk/late'), 3);
  await main.stop();
  await eventually(() => runs(standby));
  t.is(standby.leadership.term!.number, 2);
  await eventually(async () => (await seen()) === `${hostname()} 2`);
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
  await t.throwsAsync(page.set('desk/in', 1), {
    message: 'desk/in: no hub currently runs the connections of "west"',
  });
  t.is(await statusAt(standby, '/parameters/desk/out'), 200);
  await eventually(() => out.isStale);
  process.kill(server.pid, 'SIGCONT');
  await eventually(() => runs(standby));
  t.is(standby.leadership.term!.number, 2, 'nobody was between');
  t.deepEqual(
    ['in', 'out', 'starts'].map((id) => valueAt(standby, `desk/${id}`)),
    [6, 6, 1],
  );
  await eventually(() => !out.isStale);
  await confirmed(() => page.set('desk/in', 7));
  await eventually(() => shown.at(-1) === 7);
  t.deepEqual(shown, [0, 5, 6, 7]);
  t.deepEqual(states, ['live'], 'the page has never lost its hub');
});

test('other settings of its domain cause no new start of a pair, neither for the holder nor for the standby', async (t) => {
  const { start, flowOf } = await startDomain(t);
  const pair = { hub: 'west', pair: true };
  const settled = (hub: HubUnderTest) => eventually(() => runs(hub) && statusOf(hub, 'desk').state === 'running');
  const main = await start(pair, { desk });
  await settled(main);
  t.is(valueAt(main, 'desk/starts'), 1);
  await reload(main, flowOf({ ...pair, mirror: ['rack/**'] }, { desk }));
  await settled(main);
  t.is(main.leadership.term!.number, 2);
  t.is(valueAt(main, 'desk/starts'), 1);
  const standby = await start(pair, { desk });
  await eventually(
    () => standby.find('desk/starts')?.remote?.staleSince === undefined && valueAt(standby, 'desk/starts') === 1,
  );
  await main.stop();
  await settled(standby);
  t.is(valueAt(standby, 'desk/starts'), 1);
});

test('the standby shows connections that only the holder declares, while the holder has them, and whether they run', async (t) => {
  const { start, flowOf } = await startDomain(t);
  const pair = { hub: 'west', pair: true };
  const shelf = { ...desk, statusParameter: true };
  const rack = { type: 'dummy', parameters: ['light,B,false'] };
  const main = await start(pair, { shelf });
  await eventually(() => runs(main));
  await reload(main, flowOf(pair, { shelf, rack }));
  const standby = await start(pair, { shelf });
  await eventually(() => standby.find('rack/light')?.remote !== undefined);
  const connected = standby.find('shelf/_status/connected')!;
  await eventually(() => connected.remote !== undefined && connected.value === true);
  await reload(standby, flowOf(pair, { shelf: { ...shelf, parameters: [...desk.parameters, 'more,I,0'] } }));
  t.is(connected.value, true, 'it runs, though not here');
  await reload(main, flowOf(pair, { shelf }));
  await eventually(() => standby.find('rack/light') === undefined);
  await reload(main, flowOf(pair, { shelf, rack }));
  await eventually(() => standby.find('rack/light')?.remote !== undefined);
  await main.stop();
  await eventually(() => runs(standby));
  t.is(standby.find('rack/light'), undefined);
  t.is(connected.value, true);
});

test('parameters withdrawn by the holder cannot be written on the standby, until the holder has them again', async (t) => {
  const { start, flowOf } = await startDomain(t);
  const pair = { hub: 'west', pair: true };
  const both = { desk, shelf: { type: 'dummy', parameters: ['moved,I,0', 'stays,I,0'] } };
  const less = { desk, shelf: { type: 'dummy', parameters: ['moved,F,0', 'stays,I,0'] } };
  const main = await start(pair, both);
  await eventually(() => runs(main));
  const standby = await start(pair, { ...both, api });
  const moved = standby.find('shelf/moved')!;
  const isFresh = () => moved.remote !== undefined && moved.remote.staleSince === undefined;
  await eventually(isFresh);
  const update = () => statusAt(standby, '/update?parameter=shelf/moved&value=1');
  const beforeMs = Date.now();
  await reload(main, flowOf(pair, less));
  await eventually(() => !isFresh());
  t.is(await update(), 503);
  t.true(moved.remote!.staleSince! >= beforeMs, 'it was fresh until then');
  t.is(moved.value, 0);
  t.is(standby.find('shelf/stays')!.remote?.staleSince, undefined);
  await reload(main, flowOf(pair, both));
  await eventually(isFresh);
  await eventually(async () => (await update()) === 200, 'somebody writes it again');
  t.is(valueAt(main, 'shelf/moved'), 1);
});

test('D-33: a Connection ID belongs to one hub, and to the next one after a kill or an end; so does the name of a hub', async (t) => {
  const { start, flowOf } = await startDomain(t);
  const folder = await createFolder(t, { 'flow.json5': flowOf({ hub: 'west' }, { desk }) });
  const west = startProcess(t, ['run', join(folder, 'flow.json5')]);
  const edge = await start({ hub: 'edge' });
  await eventually(() => edge.find('desk/in')?.remote?.hub === 'west');
  const east = await start({ hub: 'east' }, { desk, shelf: desk, api });
  await eventually(() => statusOf(east, 'desk').state === 'failed');
  const shown = connectClient(t, east.port).param('desk/in');
  shown.subscribe(() => {});
  await eventually(() => shown.isKnown && shown.isStale);
  t.is(statusOf(east, 'desk').reason, 'hub "west" also has a connection "desk"');
  t.is(statusOf(east, 'shelf').state, 'running');
  const parameter = east.find('desk/in')!;
  t.is(parameter.remote?.hub, 'west');
  const [refusal] = await east.writeRemote(parameter.remote!, [{ parameter, input: 1 }], writer);
  t.is((refusal as Error).message, 'desk/in: hub "west" also has a connection "desk"');
  const second = await start({ hub: 'east' });
  await eventually(() => statusOf(second, 'house').state === 'failed');
  t.regex(statusOf(second, 'house').reason, /^hub "east" of domain "d" already exists, on /);
  west.process.kill('SIGKILL');
  await eventually(() => statusOf(east, 'desk').state === 'running' && parameter.remote === undefined);
  await eventually(() => !shown.isStale);
  t.is(east.write('desk/in', 3, writer), 3);
  await eventually(() => edge.find('desk/in')?.remote?.hub === 'east' && valueAt(edge, 'desk/in') === 3);
  t.is(edge.find('desk/in')!.remote!.staleSince, undefined, 'a third hub shows where it is now');
  t.is(statusOf(east, 'house').state, 'running');
  const north = await start({ hub: 'north' }, { desk });
  await eventually(() => statusOf(north, 'desk').reason === 'hub "east" also has a connection "desk"');
  const south = await startTestHub(t, { ...flowOf({ hub: 'south' }, { desk }), rules: [] });
  await eventually(() => statusOf(south, 'desk').state === 'failed' && south.find('shelf/in')?.remote?.hub === 'east');
  await reload(south, flowOf({ hub: 'south' }));
  await eventually(() => valueAt(south, 'desk/in') === 3, 'it shows what it has no longer for itself');
  await east.stop();
  await eventually(() => statusOf(north, 'desk').state === 'running');
});
