// One address may have so many sockets and so many wrong credentials. Of IPv6 a /64 counts as one.

import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { NetworkCounts, networkOf } from '../../../../lib/connections/rest-api/limits/network.ts';
import { ask, openWire, request } from '../../../support/http.ts';
import { api, expectHits, portsOf, startTestHub } from '../../../support/hub.ts';
import { handshake, opcodes, openClient, openRawClient } from '../../../support/sockets/socket.ts';

const desk = { type: 'dummy', parameters: ['i,I,7'] };
const basic = (password: string) => ({ authorization: `Basic ${Buffer.from(`op:${password}`).toString('base64')}` });

test('the network of an address is the address, or the /64 of IPv6', (t) => {
  t.is(networkOf('192.0.2.7'), '192.0.2.7');
  t.is(networkOf('2001:0db8:0001:0002:0003:0004:0005:0006'), '2001:0db8:0001:0002::/64');
});

test('the counts of a network are forgotten with its last client', (t) => {
  const counts = new NetworkCounts();
  counts.add('2001:0db8:0001:0002:0003:0004:0005:0006');
  counts.add('2001:0db8:0001:0002:0000:0000:0000:0001');
  counts.add('192.0.2.7');
  t.is(counts.of('2001:0db8:0001:0002:ffff:0000:0000:0000'), 2);
  t.is(counts.of('2001:0db8:0001:0003:0000:0000:0000:0001'), 0);
  counts.remove('192.0.2.7');
  t.is(counts.of('192.0.2.7'), 0);
});

test('an address that guesses credentials is answered 429; open sockets stay, and correct credentials are accepted meanwhile', async (t) => {
  const hub = await startTestHub(t, { connections: { api: { ...api, username: 'op', password: 'right' }, desk } });
  const client = await openClient(t, hub.port, '', basic('right'));
  const statuses: number[] = [];
  const wire = await openWire(t, hub.port);
  for (let guess = 0; guess < 40; guess++) {
    wire.send(request('GET /parameters/desk/i', { headers: basic(`guess ${guess}`) }));
    const { status, headers } = await wire.answer();
    statuses.push(status);
    if (status === 429) t.is(headers['retry-after'], '1');
    t.is((await ask(t, hub.port, 'GET /parameters/desk/i', { headers: basic('right') })).status, 200);
  }
  t.is(statuses.filter((status) => status === 401).length >= 20, true);
  t.is(statuses.includes(429), true);
  t.is((await ask(t, hub.port, 'GET /parameters/desk/i')).status, 401, 'who shows none is asked for them');
  hub.write('desk/i', 8, { kind: 'client', name: 'spec' });
  t.is((await client.next()).v, '8');
  expectHits(t, hub, ['wrongCredentials']);
});

test('one address has at most clientsPerAddress sockets, until one leaves', async (t) => {
  const hub = await startTestHub(t, { connections: { api: { ...api, limits: { clientsPerAddress: 2 } }, desk } });
  const first = await openClient(t, hub.port);
  await openClient(t, hub.port);
  const refused = await ask(t, hub.port, 'GET /ws', { headers: handshake() });
  t.is(refused.status, 503);
  t.is(refused.text, 'expected at most 2 WebSocket clients from 127.0.0.1: all slots are taken\n');
  first.close();
  await first.closed();
  await openClient(t, hub.port);
  expectHits(t, hub, ['clientsPerAddress']);
});

test('a frame of over 128 KiB is refused by its head, before its data arrives; a shorter one gets an answer', async (t) => {
  const hub = await startTestHub(t, { connections: { api, desk } });
  const client = await openRawClient(t, hub.port);
  client.send(opcodes.text, 'x'.repeat(128 * 1024));
  t.regex((await client.frames.next()).payload.toString(), /expected at most 65536 bytes, got 131072/);
  const wire = await openWire(t, hub.port);
  wire.send(request('GET /ws', { headers: handshake() }));
  await wire.answer();
  const head = Buffer.alloc(14);
  head.writeUInt16BE(0x81ff);
  head.writeBigUInt64BE(BigInt(128 * 1024 + 1), 2);
  wire.send(head);
  await wire.closed();
  expectHits(t, hub, ['frameBytes']);
});

test('a REST API counts its own connections: another REST API does not reduce its setting', async (t) => {
  const hub = await startTestHub(t, {
    connections: { api: { ...api, limits: { connections: 4 } }, other: api, desk },
  });
  const [port, otherPort] = portsOf(hub);
  for (let count = 0; count < 10; count++) t.is(await come(t, otherPort!), 'served');
  for (const address of ['127.0.0.1', '127.0.0.1', '127.0.0.2', '127.0.0.2'])
    t.is(await come(t, port!, address), 'served');
  t.is(await come(t, port!), 'closed');
  expectHits(t, hub, ['connections']);
});

const onLinux = existsSync('/proc/net/tcp') ? test : test.skip;
onLinux('one address has at most connectionsPerAddress, in a burst as well; others are served', async (t) => {
  const hub = await startTestHub(t, { connections: { api: { ...api, limits: { connectionsPerAddress: 5 } }, desk } });
  const all = (count: number, address: string) =>
    Promise.all(Array.from({ length: count }, () => come(t, hub.port, address)));
  const burst = await all(40, '127.0.0.1');
  t.is(burst.filter((answer) => answer === 'served').length, 5);
  t.is(await come(t, hub.port), 'closed');
  t.deepEqual(new Set(await all(5, '127.0.0.2')), new Set(['served']));
  expectHits(t, hub, ['connectionsPerAddress']);
});

/** Opens a connection from an address, asks something, and stays. */
function come(t: ExecutionContext, port: number, localAddress = '127.0.0.1'): Promise<'served' | 'closed'> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    t.teardown(() => socket.destroy());
    socket.on('error', () => {}).once('close', () => resolve('closed'));
    socket.once('data', () => resolve('served'));
    socket.once('connect', () => socket.write(request('GET /parameters/desk/i')));
  });
}
