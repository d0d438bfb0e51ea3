// A client that comes by a proxy of `trustedProxies` is who the proxy says, everywhere that the hub says or counts where a client is.

import { connect } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { ask, openWire, request } from '../../../support/http.ts';
import { api, expectQuietLog, type HubUnderTest, startTestHub, writer } from '../../../support/hub.ts';
import { handshake, openClient } from '../../../support/sockets/socket.ts';

const desk = { type: 'dummy', parameters: ['i,I,0'] };
const trusted = { ...api, trustedProxies: ['127.0.0.1', '10.0.0.0/8', '2001:db8:1::/48'] };
const client = '203.0.113.7';
const one = '2001:db8:2::1';

/** Whom the hub takes for the writer of a request with these lines of headers. */
async function writerOf(t: ExecutionContext, hub: HubUnderTest, lines: readonly string[]): Promise<string> {
  const wire = await openWire(t, hub.port);
  hub.write('desk/i', 1, writer);
  const head = ['GET /update?parameter=desk/i&value=0 HTTP/1.1', 'Host: localhost', ...lines];
  wire.send(`${head.join('\r\n')}\r\n\r\n`);
  t.is((await wire.answer()).status, 200, lines.join());
  wire.socket.destroy();
  return hub.find('desk/i')!.lastChange!.origin.name.replace('api ', '');
}

const cases: [lines: string[], address: string][] = [
  [[], '127.0.0.1'],
  [[`X-Forwarded-For: ${client}`], client],
  [[`x-forwarded-for: ${client}:4711`], client],
  [[`X-Forwarded-For: ::ffff:${client}`], client],
  [['X-Forwarded-For: 2001:db8:2::1'], one],
  [['X-Forwarded-For: [2001:db8:2::1]:4711'], one],
  [[`Forwarded: for=${client};proto=https`], client],
  [['Forwarded: for="[2001:db8:2::1]:4711"'], one],
  [[`Forwarded: for="[::ffff:${client}]"`], client],
  // What a client has written itself stands further left.
  [[`X-Forwarded-For: 198.51.100.1, ${client}`], client],
  [['X-Forwarded-For: 198.51.100.1', `X-Forwarded-For: ${client}`], client],
  [['X-Forwarded-For:', `X-Forwarded-For: ${client}`], client],
  [['Forwarded: for=198.51.100.1', `Forwarded: for=${client}`], client],
  [[`Forwarded: for="198.51.100.1, for=${client}`], client],
  [[`X-Forwarded-For: nonsense, ${client}`], client],
  // Trusted proxies are passed over.
  [[`X-Forwarded-For: 198.51.100.1, ${client}, 10.1.2.3, ::ffff:10.0.0.9, 2001:db8:1::5`], client],
  [[`X-Forwarded-For: ${client}`, 'X-Forwarded-For: 10.1.2.3'], client],
  [[`Forwarded: for=198.51.100.1, for=${client}, for="[2001:db8:1::5]";by=_x`], client],
  [['X-Forwarded-For: 10.0.0.5'], '10.0.0.5'],
  [['X-Forwarded-For: 10.0.0.5, 127.0.0.1'], '10.0.0.5'],
  // Where a proxy names nobody, nothing further left is believed.
  [['X-Forwarded-For: unknown'], '127.0.0.1'],
  [[`X-Forwarded-For: ${client}, unknown`], '127.0.0.1'],
  [[`X-Forwarded-For: ${client}, unknown, 10.1.2.3`], '10.1.2.3'],
  [[`Forwarded: for=${client}, for=_hidden`], '127.0.0.1'],
  [[`Forwarded: for=${client}, proto=https`], '127.0.0.1'],
  [['X-Forwarded-For: '], '127.0.0.1'],
  [['Forwarded: ;;==,"'], '127.0.0.1'],
  [[`X-Forwarded-For: ${client},`], client],
  // Both kinds, of which a client may have sent one through a proxy that knows the other.
  [[`X-Forwarded-For: ${client}`, `Forwarded: for=${client}`], client],
  [[`X-Forwarded-For: ${client}, 10.1.2.3`, `Forwarded: for=${client}`], client],
  [[`X-Forwarded-For: ${client}`, 'Forwarded: for=198.51.100.1'], '127.0.0.1'],
  [['X-Forwarded-Proto: https', `Forwarded: for=${client}`], client],
  // Other headers say nothing.
  [['X-Real-IP: 198.51.100.1', 'X-Client-IP: 198.51.100.1', 'Via: 1.1 198.51.100.1'], '127.0.0.1'],
];
test('the client named by a trusted proxy is the author', async (t) => {
  const hub = await startTestHub(t, { connections: { api: trusted, desk } });
  for (const [lines, address] of cases) t.is(await writerOf(t, hub, lines), address, lines.join(' | '));
  expectQuietLog(t, hub);
});

for (const [what, trustedProxies] of [
  ['no proxy is trusted', []],
  ['another one is', ['127.0.0.2', '10.0.0.0/8']],
] as const)
  test(`a client that claims another address keeps its own where ${what}`, async (t) => {
    const hub = await startTestHub(t, { connections: { api: { ...api, trustedProxies }, desk } });
    for (const [lines] of cases) t.is(await writerOf(t, hub, lines), '127.0.0.1', lines.join(' | '));
  });

const users = { ann: { token: 'token-of-ann', read: ['**'], write: ['**'], manage: true }, door: { read: ['**'] } };
const by = (address: string) => ({ 'x-forwarded-for': address, authorization: 'Bearer token-of-ann' });
const json = { 'content-type': 'application/json', accept: 'application/json' };

test('sockets, the log of new clients, and the explanation of a change name the client', async (t) => {
  const hub = await startTestHub(t, { connections: { api: { ...trusted, users }, desk } });
  const plain = await openClient(t, hub.port, '', by(client));
  await openClient(t, hub.port, '', { ...by('2001:db8:2::1'), 'sec-websocket-protocol': 'patchbay.v1' });
  const { clients } = JSON.parse((await ask(t, hub.port, 'GET /hub/clients', { headers: by('198.51.100.1') })).text);
  t.deepEqual(clients.map(({ address }: { address: string }) => address).sort(), [one, client]);
  plain.send({ p: 'desk/i', v: 5 });
  await plain.next();
  const why = JSON.parse((await ask(t, hub.port, 'GET /hub/explain/desk/i', { headers: by(client) })).text);
  t.true(JSON.stringify(why).includes(`api ann ${client}`));
  await hub.logged(new RegExp(`sign-in: api ann ${client}: in`));
  const wrong = { 'x-forwarded-for': '198.51.100.9', authorization: 'Bearer wrong' };
  t.is((await ask(t, hub.port, 'GET /hub/me', { headers: wrong })).status, 401);
  await hub.logged(/sign-in: api 198\.51\.100\.9: refused/);
});

test('a kiosk is admitted, and refused, from the address that the proxy reports', async (t) => {
  const hub = await startTestHub(t, { connections: { api: { ...trusted, users }, desk } });
  const post = (path: string, body: object, address: string, headers = {}) =>
    ask(t, hub.port, `POST ${path}`, {
      headers: { ...json, 'x-forwarded-for': address, ...headers },
      body: JSON.stringify(body),
    });
  const invite = { action: 'invite', user: 'door', device: 'Reception' };
  const { link } = JSON.parse((await post('/hub/users', invite, '198.51.100.1', by('198.51.100.1'))).text);
  await hub.logged(/sign-in: api ann 198\.51\.100\.1: invited/);
  const code = link.split('#')[1];
  t.is((await post('/hub/sign-in', { code }, client)).status, 200);
  await hub.logged(new RegExp(`sign-in: api door ${client}: in, kiosk`));
  t.is((await post('/hub/sign-in', { code }, '198.51.100.2')).status, 401);
  await hub.logged(/sign-in: api 198\.51\.100\.2: refused, by an invalid link/);
});

test('limits per address count each client separately, and the proxy may have any number of connections', async (t) => {
  const limits = { clientsPerAddress: 1, connectionsPerAddress: 2 };
  const hub = await startTestHub(t, { connections: { api: { ...trusted, limits }, desk } });
  for (let last = 1; last <= 20; last++) await openClient(t, hub.port, '', { 'x-forwarded-for': `203.0.113.${last}` });
  const again = await ask(t, hub.port, 'GET /ws', { headers: { ...handshake(), 'x-forwarded-for': '203.0.113.5' } });
  t.deepEqual(
    [again.status, again.text],
    [503, 'expected at most 1 WebSocket clients from 203.0.113.5: all slots are taken\n'],
  );
  await hub.logged(/^client 203\.0\.113\.5 exceeded the limit clientsPerAddress/);
});

test('a request with a late body, and a postponed one, still belong to their client', async (t) => {
  const hub = await startTestHub(t, { connections: { api: trusted, desk } });
  const body = 'parameter=desk/i&value=3';
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': client };
  t.is((await ask(t, hub.port, 'POST /update', { headers, body })).status, 200);
  t.is(hub.find('desk/i')!.lastChange!.origin.name, `api ${client}`);
  // More than a round answers at once, on one connection: what is put off is answered in the name of its client, or the connection is cut.
  const writes = Array.from({ length: 400 }, (_, index) =>
    request(`GET /update?parameter=desk/i&value=${index}`, { headers: { 'x-forwarded-for': client } }),
  );
  const socket = connect(hub.port, '127.0.0.1', () => socket.write(Buffer.concat(writes)));
  t.teardown(() => socket.destroy());
  await new Promise((resolve) => socket.once('data', resolve));
  t.is(hub.find('desk/i')!.lastChange!.origin.name, `api ${client}`);
});

for (const [proxies, mistake] of [
  [
    ['localhost'],
    /trustedProxies\[0\]: expected an IP address, or a network such as "10\.0\.0\.0\/8", got "localhost" \(string\)/,
  ], // prettier-ignore
  [['::1', '10.0.0.0/33'], /trustedProxies\[1\]: expected an IP address.*got "10\.0\.0\.0\/33"/],
  ['127.0.0.1', /trustedProxies: expected .*got "127\.0\.0\.1"/],
] as const)
  test(`a mistake is reported: trustedProxies: ${JSON.stringify(proxies)}`, async (t) => {
    const error = await t.throwsAsync(
      startTestHub(t, { connections: { api: { ...api, trustedProxies: proxies }, desk } }),
    );
    t.regex(error.message, mistake);
  });
