// The way back to a real hub: after a cut, after a silence, after another run of the hub, and after many cuts under load.

import test from 'ava';
import { connect } from '../../lib/client/index.ts';
import { within } from '../support/deadline.ts';
import { api, type HubUnderTest, startTestHub, writer } from '../support/hub.ts';
import type { ClientUnderTest } from '../support/sockets/client.ts';
import { connectClient, until } from '../support/sockets/client.ts';
import { openNetwork } from '../support/system/network.ts';
import { freePort } from '../support/system/port.ts';

const many = (count: number) => ({
  type: 'dummy',
  parameters: Array.from({ length: count }, (_, index) => `p${index},I,0`),
});

async function comesBack(client: ClientUnderTest): Promise<void> {
  await until(client.stale$, (isStale) => isStale, 'being stale');
  await until(client.stale$, (isStale) => !isStale, 'being back');
}

test('when a hub is gone, its client continues at the next address, with a complete snapshot', async (t) => {
  const flow = (last: number) => ({
    connections: { api, few: { type: 'dummy', parameters: ['a,I,1', `b,I,${last}`] } },
  });
  const [one, other] = [await startTestHub(t, flow(2)), await startTestHub(t, flow(3))];
  const client = connect([`ws://127.0.0.1:${one.port}`, `ws://127.0.0.1:${other.port}`], { firstPauseMs: 10 });
  t.teardown(() => client.close());
  const reported: unknown[] = [];
  client.select({ include: ['few/**'] }).subscribe(({ address, value }) => reported.push([address, value]));
  await within(client.whenLive(), 'being live');
  const isStale = until(client.stale$, (stale) => stale, 'being stale');
  await one.stop();
  await isStale;
  await until(client.stale$, (stale) => !stale, 'being at the other hub');
  t.deepEqual(reported, [
    ['few/a', 1],
    ['few/b', 2],
    ['few/b', 3],
  ]);
});

test('after a cut only changes are sent, and observers receive only those', async (t) => {
  const hub = await startTestHub(t, { connections: { api, many: many(2000) } });
  const network = await openNetwork(t, hub.port);
  const client = connectClient(t, network.port);
  const selection = client.select({ include: ['many/**'] });
  const reported: unknown[] = [];
  selection.subscribe(({ address, value }) => reported.push([address, value]));
  const single: unknown[] = [];
  client.param('many/p7').subscribe((value) => single.push(value));
  await within(client.whenLive(), 'being live');
  t.is(selection.parameters.size, 2000);
  const bytesAtFirst = network.bytes;
  reported.length = 0;
  client.reported.length = 0;
  const back = comesBack(client);
  network.cut();
  for (const value of [1, 2, 3]) hub.write('many/p7', value, writer);
  await back;
  t.deepEqual(reported, [['many/p7', 3]]);
  t.deepEqual(single, [0, 3]);
  t.deepEqual(
    client.reported.flatMap(({ mode }) => mode ?? []),
    ['resume', 'resume'],
  );
  t.true(network.bytes - bytesAtFirst < 2000, `${network.bytes - bytesAtFirst} bytes`);
});

test('a silent link is stale within the deadline, refuses writes, and recovers', async (t) => {
  const hub = await startTestHub(t, { connections: { api, many: many(1) } });
  const network = await openNetwork(t, hub.port);
  const client = connectClient(t, network.port, { pingAfterMs: 100, answerWithinMs: 100, connectWithinMs: 200 });
  client.param('many/p0').subscribe(() => {});
  await within(client.whenLive(), 'being live');
  await until(client.param('many/p0'), (value) => value === 0, 'the value');
  network.freeze();
  const pending = client.set('many/p0', 1);
  const lost = t.throwsAsync(pending, { message: /the connection to the hub was lost before the answer/ });
  await until(client.stale$, (isStale) => isStale, 'being stale');
  t.true(client.param('many/p0').isStale);
  await lost;
  await t.throwsAsync(client.set('many/p0', 2), { message: /not written: the connection to the hub is/ });
  network.cut(); // what was on its way is gone
  network.thaw();
  await until(client.stale$, (isStale) => !isStale, 'being back');
  t.false(client.param('many/p0').isStale);
  await client.set('many/p0', 3);
  t.is(hub.find('many/p0')?.value, 3);
});

test('another run of the hub on the same port: removed parameters are reported, the others are there', async (t) => {
  const port = await freePort();
  const run = (parameters: string[]) =>
    startTestHub(t, { connections: { api: { ...api, port }, desk: { type: 'dummy', parameters } } });
  const first = await run(['a,I,1', 'b,I,2', 'c,I,3']);
  const client = connectClient(t, port);
  const reported: Record<string, unknown[]> = { a: [], b: [], c: [], d: [] };
  for (const [id, list] of Object.entries(reported)) client.param(`desk/${id}`).subscribe((value) => list.push(value));
  await within(client.whenLive(), 'being live');
  const reasons: unknown[] = [];
  client.state$.subscribe((state) => 'reason' in state && reasons.push(state.reason));
  await first.stop();
  await until(client.stale$, (isStale) => isStale, 'being stale');
  t.is(reasons[0], 'the hub is shutting down');
  await run(['d,I,4', 'c,I', 'a,I,1']);
  await until(client.stale$, (isStale) => !isStale, 'being back');
  t.deepEqual(reported, { a: [1], b: [2, undefined], c: [3, undefined], d: [4] });
});

test('after each of thirty random cuts under load, the client has the values of the hub', async (t) => {
  const hub = await startTestHub(t, { connections: { api, many: many(500) } });
  const network = await openNetwork(t, hub.port);
  const client = connectClient(t, network.port, { rate: 100 });
  const selection = client.select({ include: ['many/**'], exclude: ['many/p1*'] });
  const folded = new Map<string, unknown>();
  selection.subscribe(({ address, value }) => folded.set(address, value));
  const single = new Map<string, unknown>();
  for (let index = 0; index < 500; index += 3)
    client.param(`many/p${index}`).subscribe((value) => single.set(`many/p${index}`, value));
  await within(client.whenLive(), 'being live');
  let seed = 1;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  let count = 0;
  const load = setInterval(() => {
    for (let index = 0; index < 50; index++) hub.write(`many/p${random(500)}`, ++count, writer);
  }, 1);
  t.teardown(() => clearInterval(load));
  for (let cut = 0; cut < 30; cut++) {
    const messages = client.reported.length + random(20);
    const back = comesBack(client);
    await until(selection.batches, () => client.reported.length > messages, 'some messages');
    network.cut();
    await back;
  }
  clearInterval(load);
  await until(selection.batches, () => isCaughtUp(hub, folded), 'the last values');
  for (const { address, value } of hub.parameters()) {
    if (!address.startsWith('many/')) continue;
    if (folded.has(address)) t.is(folded.get(address), value, address);
    if (single.has(address)) t.is(single.get(address), value, address);
    t.is(folded.has(address), !address.startsWith('many/p1'), address);
  }
});

function isCaughtUp(hub: HubUnderTest, folded: ReadonlyMap<string, unknown>): boolean {
  return [...folded].every(([address, value]) => hub.find(address)?.value === value);
}
