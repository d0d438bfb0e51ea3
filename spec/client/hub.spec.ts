// The client library and a real hub: values, writes and their mistakes, credentials, reloads.

import test from 'ava';
import { firstValueFrom, from, take, toArray } from 'rxjs';
import { WriteError } from '../../lib/client/index.ts';
import { within } from '../support/deadline.ts';
import { api, expectQuietLog, startTestHub, writer } from '../support/hub.ts';
import { startReloading } from '../support/reload.ts';
import { connectClient, until } from '../support/sockets/client.ts';
import { openNetwork } from '../support/system/network.ts';

const connections = {
  api,
  desk: { type: 'dummy', parameters: ['lamp,B,false', 'level,F,0.5', 'text,S', 'go,T', 'n,I,0'] },
  clock: { type: 'timer', pulses: [{ interval: 3_600_000 }] },
};

test('a parameter is there when the hub is live: value, type, access', async (t) => {
  const hub = await startTestHub(t, { connections });
  const client = connectClient(t, hub.port);
  const reported: unknown[] = [];
  for (const address of ['desk/lamp', 'desk/text', 'desk/nope', 'clock/pulse/1'])
    client.param(address).subscribe((value) => reported.push([address, value]));
  await within(client.whenLive(), 'being live');
  t.deepEqual(reported, [['desk/lamp', false]]);
  const shown = ['desk/lamp', 'desk/text', 'desk/nope', 'clock/pulse/1'].map((address) => {
    const { type, access, isKnown, isStale } = client.param(address);
    return [type, access, isKnown, isStale];
  });
  t.deepEqual(shown, [
    ['B', 'read-write', true, false],
    ['S', 'read-write', false, false],
    [undefined, undefined, false, false],
    ['T', 'read-only', false, false],
  ]);
  hub.write('desk/text', 'Grüße "☃" \\ \n', writer);
  t.is(await until(client.param('desk/text'), (value) => value !== undefined, 'the text'), 'Grüße "☃" \\ \n');
  expectQuietLog(t, hub);
});

test('a live hub is live again once all new subscriptions are complete', async (t) => {
  const hub = await startTestHub(t, { connections });
  const client = connectClient(t, hub.port);
  for (const address of ['desk/lamp', 'desk/level']) {
    client.param(address).subscribe(() => {});
    await within(client.whenLive(), 'being live');
    t.true(client.param(address).isKnown, address);
  }
  const selected = client.select({ include: ['desk/n*'] });
  selected.subscribe(() => {});
  await within(client.whenLive(), 'being live');
  t.deepEqual([...selected.parameters.keys()], ['desk/n']);
});

test('set, batch and fire resolve when the hub has executed them, a batch as one turn', async (t) => {
  const rules = [{ name: 'sum', from: { a: 'desk/lamp', b: 'desk/level' }, map: 'a ? b : 0.0', to: 'desk/n' }];
  const hub = await startTestHub(t, { connections, rules });
  const sums: unknown[] = [];
  hub.changes$.subscribe(({ parameter, value }) => parameter.address === 'desk/n' && sums.push(value));
  const client = connectClient(t, hub.port, { delivery: 'all' });
  const fires = firstValueFrom(from(client.fired('desk/go')).pipe(take(3), toArray()));
  const values = firstValueFrom(from(client.param('desk/level')).pipe(take(3), toArray()));
  await within(client.whenLive(), 'being live');
  await client.batch({ 'desk/lamp': true, 'desk/level': 7 });
  t.is(hub.find('desk/lamp')?.value, true);
  t.deepEqual(sums, [7]);
  await client.batch([
    ['desk/go', 1],
    ['desk/level', '8.5'],
    ['desk/go', true],
  ]);
  await client.param('desk/go').fire();
  await client.param('desk/text').set('x');
  t.is(hub.find('desk/text')?.value, 'x');
  t.deepEqual(await within(fires, 'three fires'), [1, 1, 1]);
  t.deepEqual(await within(values, 'three values'), [0.5, 7, 8.5]);
});

test('mistakes are reported by address, and correct values are written', async (t) => {
  const hub = await startTestHub(t, { connections });
  const client = connectClient(t, hub.port);
  await within(client.whenLive(), 'being live');
  const error = await t.throwsAsync(
    client.batch({ 'desk/lamp': true, 'desk/x': 1, 'desk/level': 'loud', 'clock/pulse/1': 1 }),
    { instanceOf: WriteError },
  );
  t.is(hub.find('desk/lamp')?.value, true);
  t.deepEqual(
    error?.mistakes.map(({ address }) => address),
    ['desk/x', 'desk/level', 'clock/pulse/1'],
  );
  t.regex(error!.message, /desk\/x: unknown parameter; desk\/level: .*expected a number, got "loud" \(string\)/);
  t.regex(error!.message, /; clock\/pulse\/1: expected a writable parameter/);
  await t.throwsAsync(client.set('desk/text', 'x'.repeat(65_536)), { message: /at most 65536 bytes, got 655\d\d/ });
  await t.throwsAsync(client.set('desk/text', null as never), { message: /got \["desk\/text",null\]/ });
  await client.set('desk/text', 'x'.repeat(65_500));
  t.is(hub.find('desk/text')?.value, 'x'.repeat(65_500));
  expectQuietLog(t, hub);
});

test('a selection has all matching parameters, and an observer receives its mistakes', async (t) => {
  const parameters = Array.from({ length: 3000 }, (_, index) => `p${index},I,${index}`);
  const hub = await startTestHub(t, { connections: { ...connections, many: { type: 'dummy', parameters } } });
  const client = connectClient(t, hub.port);
  const selection = client.select({ include: ['many/*', /^desk\/L/i], exclude: ['many/p2*'], rate: 100 });
  const { batches } = selection;
  await until(batches, ({ isComplete }) => isComplete, 'the picture').then(() => t.is(selection.parameters.size, 0));
  const end = batches.subscribe(() => {});
  await until(batches, ({ isComplete }) => isComplete, 'the picture again');
  const expected = [...hub.parameters()].filter(({ address }) => /^(many\/p(?!2)|desk\/l)/.test(address));
  t.deepEqual(
    [...selection.parameters.values()].map(({ address, value }) => `${address}=${value}`).sort(),
    expected.map(({ address, value }) => `${address}=${value}`).sort(),
  );
  hub.turn(() => {
    for (const { address } of expected) if (address.startsWith('many/')) hub.write(address, -1, writer);
  });
  await until(batches, () => selection.parameters.get('many/p1999')?.value === -1, 'the new values');
  end.unsubscribe();
  const error = await new Promise((resolve) => client.select({ include: [/(?=x)/] }).subscribe({ error: resolve }));
  t.regex((error as Error).message, /expected a regular expression/);
  t.is(client.state.name, 'live');
});

test('credentials are sent as a subprotocol; wrong ones are not tried twice', async (t) => {
  const secured = { ...api, username: 'me', password: 'ü', token: 'c2VjcmV0' };
  const hub = await startTestHub(t, { connections: { ...connections, api: secured } });
  for (const credentials of [{ token: 'c2VjcmV0' }, { username: 'me', password: 'ü' }])
    await within(connectClient(t, hub.port, credentials).whenLive(), JSON.stringify(credentials));
  for (const credentials of [{}, { token: 'b3RoZXI=' }, { username: 'me', password: 'u' }]) {
    const network = await openNetwork(t, hub.port);
    const client = connectClient(t, network.port, { ...credentials, firstPauseMs: 5000 });
    const refused = { message: 'the connection to the hub is closed: the hub refused these credentials' };
    await t.throwsAsync(within(client.whenLive(), 'being refused'), refused);
    t.true(network.connections <= 3, 'the handshake, and the question why, for which Node.js may connect again');
    await t.throwsAsync(client.set('desk/lamp', true), { message: /closed, the hub refused these credentials/ });
  }
  expectQuietLog(t, hub);
});

test('a reload: parameters come and go', async (t) => {
  const flow = (...parameters: string[]) => ({ connections: { api, desk: { type: 'dummy', parameters } } });
  const { hub, reload } = await startReloading(t, { 'flow.json5': flow('lamp,B,true', 'level,F,1') });
  const client = connectClient(t, hub.port);
  const lamp: unknown[] = [];
  client.param('desk/lamp').subscribe((value) => lamp.push(value));
  const selection = client.select();
  const keys: string[][] = [];
  selection.batches.subscribe(() => keys.push([...selection.parameters.keys()].sort()));
  await within(client.whenLive(), 'being live');
  await reload('flow.json5', flow('level,F,1', 'more,I,3'));
  await until(selection.batches, () => selection.parameters.get('desk/more')?.value === 3, 'the new parameter');
  t.deepEqual(keys.at(-1), ['desk/level', 'desk/more']);
  t.deepEqual(lamp, [true, undefined]);
  t.is(client.param('desk/lamp').type, undefined);
  await reload('flow.json5', flow('lamp,S,on', 'level,F,1'));
  await until(client.param('desk/lamp'), (value) => value === 'on', 'the parameter being back');
  t.is(client.param('desk/lamp').type, 'S');
});
