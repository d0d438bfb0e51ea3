// One address may have so many sockets and so many wrong credentials. Of IPv6 a /64 counts as one.

import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { Attempts } from '../../../../lib/connections/rest-api/http/guard/attempts.ts';
import type { LimitError } from '../../../../lib/connections/rest-api/limits/limit-error.ts';
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

test('what is counted of a network is forgotten when it has gone', (t) => {
  const counts = new NetworkCounts();
  counts.add('2001:0db8:0001:0002:0003:0004:0005:0006');
  counts.add('2001:0db8:0001:0002:0000:0000:0000:0001');
  counts.add('192.0.2.7');
  t.is(counts.of('2001:0db8:0001:0002:ffff:0000:0000:0000'), 2);
  t.is(counts.of('2001:0db8:0001:0003:0000:0000:0000:0001'), 0);
  counts.remove('192.0.2.7');
  t.is(counts.of('192.0.2.7'), 0);
});

test('twenty wrong credentials are compared at once, then one a second; other networks are let in', (t) => {
  let now = 0;
  const attempts = new Attempts(1, () => now);
  const isLetIn = (address: string) => {
    try {
      attempts.check(() => address);
      attempts.begin(address).end('right');
      return true;
    } catch {
      return false;
    }
  };
  const guesses = (address: string, count: number) => {
    let compared = 0;
    for (let guess = 0; guess < count; guess++) {
      if (!isLetIn(address)) continue;
      attempts.begin(address).end('wrong');
      compared++;
    }
    return compared;
  };
  t.is(guesses('192.0.2.1', 1000), 20);
  t.true(isLetIn('192.0.2.2'));
  now += 999;
  t.is(guesses('192.0.2.1', 1000), 0);
  now += 1;
  t.true(isLetIn('192.0.2.1'), 'the right ones are let in as soon as one would be compared');
  t.is(guesses('192.0.2.1', 1000), 1);
  now += 3_600_000;
  t.is(guesses('192.0.2.1', 1000), 20);
  for (let network = 0; network < 20_000; network++) attempts.begin(`network ${network}`).end('wrong');
  t.true(isLetIn('192.0.2.1'), 'networks are forgotten when there are too many');
});

test('credentials that are being compared count as wrong ones until they are not', (t) => {
  const attempts = new Attempts(1, () => 0);
  const begun = Array.from({ length: 20 }, () => attempts.begin('192.0.2.1', 'ann'));
  t.throws(() => attempts.begin('192.0.2.1'), { message: /more/ });
  t.throws(() => attempts.begin('192.0.2.2', 'ann'), { message: /for this user/ });
  t.true(attempts.isQuiet);
  t.notThrows(() => attempts.check(() => '192.0.2.1', 'ann'), 'who has come before may come');
  t.notThrows(() => attempts.begin('192.0.2.2', 'bob'));
  begun.pop()!.end('right');
  begun.pop()!.end('not compared');
  for (const one of begun) one.end('wrong');
  for (let left = 2; left > 0; left--) attempts.begin('192.0.2.1').end('wrong');
  t.throws(() => attempts.begin('192.0.2.1'));
});

test('who is refused is told when the next credentials are compared, and nobody is once those who were wrong are forgiven', (t) => {
  let now = 0;
  const attempts = new Attempts(2, () => now);
  const wrong = (address: string) => attempts.begin(address, 'ann').end('wrong');
  attempts.begin('192.0.2.7', 'ann').end('right');
  for (let guess = 0; guess < 20; guess++) wrong('192.0.2.1');
  for (let guess = 0; guess < 20; guess++) wrong('192.0.2.7');
  const refused = t.throws<LimitError>(() => attempts.begin('192.0.2.2', 'ann'));
  t.is(refused.retryAfterSeconds, 11, '20 for which there was no room, at 2 a second, and one');
  t.false(attempts.isQuiet);
  now += 19_999;
  t.false(attempts.isQuiet);
  now += 1;
  t.true(attempts.isQuiet, 'also when nobody has asked for that name again');
});

test('who guesses credentials is answered 429, sockets that are open stay, and the right ones are let in after a second', async (t) => {
  const hub = await startTestHub(t, { connections: { api: { ...api, username: 'op', password: 'right' }, desk } });
  const client = await openClient(t, hub.port, '', basic('right'));
  const statuses: number[] = [];
  const wire = await openWire(t, hub.port);
  for (let guess = 0; guess < 40; guess++) {
    wire.send(request('GET /parameters/desk/i', { headers: basic(`guess ${guess}`) }));
    const { status, headers } = await wire.answer();
    statuses.push(status);
    if (status === 429) t.is(headers['retry-after'], '1');
  }
  t.is(statuses.filter((status) => status === 401).length >= 20, true);
  t.is(statuses.includes(429), true);
  t.is((await ask(t, hub.port, 'GET /parameters/desk/i')).status, 401, 'who shows none is asked for them');
  hub.write('desk/i', 8, { kind: 'client', name: 'spec' });
  t.is((await client.next()).v, '8');
  for (;;) {
    const { status } = await ask(t, hub.port, 'GET /parameters/desk/i', { headers: basic('right') });
    if (status === 200) break;
    t.is(status, 429);
  }
  expectHits(t, hub, ['wrongCredentials']);
});

test('one address has at most clientsPerAddress sockets, until one leaves', async (t) => {
  const hub = await startTestHub(t, { connections: { api: { ...api, limits: { clientsPerAddress: 2 } }, desk } });
  const first = await openClient(t, hub.port);
  await openClient(t, hub.port);
  const refused = await ask(t, hub.port, 'GET /ws', { headers: handshake() });
  t.is(refused.status, 503);
  t.is(refused.text, 'expected at most 2 WebSocket clients of 127.0.0.1, all are there\n');
  first.close();
  await first.closed();
  await openClient(t, hub.port);
  expectHits(t, hub, ['clientsPerAddress']);
});

test('a frame of over 128 KiB is refused at its head, before any of it has come; one that is shorter gets an answer', async (t) => {
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

test('a REST API counts its own connections: those of another one leave it as many as its setting says', async (t) => {
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
