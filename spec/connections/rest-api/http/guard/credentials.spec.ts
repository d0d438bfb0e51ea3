// HTTP Basic and Bearer (S-13, D-12; RFC 7617, RFC 6750).

import test, { type ExecutionContext } from 'ava';
import { createFolder } from '../../../../support/folder.ts';
import { ask, openWire, request } from '../../../../support/http.ts';
import { api, expectQuietLog, portsOf, startTestHub } from '../../../../support/hub.ts';
import { handshake, openClient } from '../../../../support/sockets/socket.ts';

const startDesk = (t: ExecutionContext, settings: object) =>
  startTestHub(t, {
    connections: { api: { ...api, ...settings }, desk: { type: 'dummy', parameters: ['lamp,B,true'] } },
  });

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const both = { username: 'ann', password: 'pässword:1', token: 'c2VjcmV0' };
const challengeBasic = 'Basic realm="Patchbay", charset="UTF-8"';
const challengeBearer = 'Bearer realm="Patchbay"';

const rows: [settings: object, authorization: string, isAccepted: boolean][] = [
  [{}, '', true],
  [{}, 'Basic nonsense', true],
  [both, '', false],
  [both, basic('ann:pässword:1'), true],
  [both, 'Bearer c2VjcmV0', true],
  [both, basic('ann:pässword:1').replace('Basic', 'bAsIC'), true],
  [both, 'BEARER   c2VjcmV0', true],
  [both, basic('ann:pässword'), false],
  [both, basic('ann:'), false],
  [both, basic('Ann:pässword:1'), false],
  [both, basic(':'), false],
  [both, 'Basic', false],
  [both, 'Basic ann:pässword:1', false],
  [both, 'Bearer c2VjcmV', false],
  [both, 'Bearer c2VjcmV0x', false],
  [both, 'Bearer', false],
  [both, 'c2VjcmV0', false],
  [both, 'Basic c2VjcmV0', false],
  [both, `Bearer ${Buffer.from('ann:pässword:1').toString('base64')}`, false],
  [both, 'Digest username="ann"', false],
  [{ token: 'YQ==' }, 'Bearer YQ==', true],
  [{ token: 'YQ==' }, 'Bearer YQ', false],
  [{ token: 'YQ==' }, 'Bearer a', false],
  [{ token: 'YQ==' }, basic(':'), false],
  [{ username: 'ann' }, basic('ann:'), true],
  [{ username: 'ann' }, basic('ann:x'), false],
  [{ password: 'x' }, basic(':x'), true],
  [{ password: 'x' }, 'Bearer ', false],
];
for (const [settings, authorization, isAccepted] of rows)
  test(`S-13, D-12: with ${JSON.stringify(settings)} "${authorization}" is ${isAccepted ? '' : 'not '}let in`, async (t) => {
    const hub = await startDesk(t, settings);
    const headers: Record<string, string> = authorization === '' ? {} : { authorization };
    const { status } = await ask(t, hub.port, 'GET /parameters/desk/lamp', { headers });
    t.is(status, isAccepted ? 200 : 401);
    const socket = await openWire(t, hub.port);
    socket.send(request('GET /ws', { headers: { ...handshake(), ...headers } }));
    t.is((await socket.answer()).status, isAccepted ? 101 : 401);
    expectQuietLog(t, hub);
  });

for (const [settings, challenges] of [
  [{ username: 'ann' }, challengeBasic],
  [{ token: 'YQ==' }, challengeBearer],
  [both, `${challengeBasic}, ${challengeBearer}`],
] as const)
  test(`D-13: a 401 of ${Object.keys(settings)} names each configured scheme`, async (t) => {
    const hub = await startDesk(t, settings);
    const plain = await ask(t, hub.port, 'GET /parameters/desk/lamp');
    t.is(plain.headers['www-authenticate'], challenges);
    t.is(plain.text, 'Authorization: expected valid credentials for this hub\n');
    const headers = { accept: 'application/json' };
    t.like(JSON.parse((await ask(t, hub.port, 'GET /parameters/desk/lamp', { headers })).text), {
      status: 401,
      code: 'unauthorized',
    });
  });

test('S-13: every endpoint requires credentials, before it shows or changes anything', async (t) => {
  const documentRoot = await createFolder(t, { 'a.txt': 'a', 'index.html': '' });
  const hub = await startDesk(t, { ...both, documentRoot });
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  for (const line of [
    'GET /',
    'GET /a.txt',
    'HEAD /a.txt',
    'GET /nothing',
    'GET /parameters/desk/lamp',
    'GET /parameters/desk/nothing',
    'POST /parameters/desk/lamp',
    'GET /update?parameter=desk/lamp&value=false',
    'POST /update',
    'GET /hub/',
    'GET /hub/health',
    'GET /hub/parameters',
    'GET /ws',
    'OPTIONS /update',
  ]) {
    const body = line.startsWith('POST') ? { body: 'parameter=desk/lamp&value=false' } : {};
    const { status, headers } = await ask(t, hub.port, line, { headers: form, ...body });
    t.is(status, 401, line);
    t.is(headers['www-authenticate'], `${challengeBasic}, ${challengeBearer}`, line);
  }
  t.is(hub.find('desk/lamp')?.value, true);
  const headers = { ...form, authorization: 'Bearer c2VjcmV0' };
  await ask(t, hub.port, 'POST /update', { headers, body: 'parameter=desk/lamp&value=false' });
  t.is(hub.find('desk/lamp')?.value, false);
});

test('D-15: a token is accepted from any claimed origin, because no page of another site can make a browser send it', async (t) => {
  const hub = await startDesk(t, both);
  const statusOf = async (line: string, authorization: string) => {
    const type = 'application/x-www-form-urlencoded';
    const headers = { 'content-type': type, authorization, origin: 'http://evil.example' };
    const body = line.startsWith('POST') ? { body: 'parameter=desk/lamp&value=false' } : {};
    return (await ask(t, hub.port, line, { headers, ...body })).status;
  };
  for (const time of ['the first time', 'once it is known']) {
    t.is(await statusOf('GET /parameters/desk/lamp', 'Bearer c2VjcmV0'), 200, time);
    t.is(await statusOf('GET /parameters/desk/lamp', 'Bearer d3Jvbmc='), 401, time);
    t.is(await statusOf('GET /parameters/desk/lamp', basic('ann:pässword:1')), 403, time);
    t.is(await statusOf('GET /update?parameter=desk/lamp&value=false', 'Bearer c2VjcmV0'), 403, time);
    t.is(await statusOf('POST /update', 'Bearer c2VjcmV0'), 403, time);
    t.is(await statusOf('GET /parameters/desk/lamp', ''), 403, time);
  }
  t.is(hub.find('desk/lamp')?.value, true);
});

test('S-13: a WebSocket client with credentials reads and writes', async (t) => {
  const hub = await startDesk(t, both);
  const client = await openClient(t, hub.port, '?snapshot=true', { authorization: 'Bearer c2VjcmV0' });
  t.deepEqual(await client.next(), { p: 'desk/lamp', v: 'true' });
  client.send({ p: 'desk/lamp', v: 0 });
  t.deepEqual(await client.next(), { p: 'desk/lamp', v: 'false' });
});

test('S-13: each REST API connection has its own credentials', async (t) => {
  const hub = await startTestHub(t, {
    connections: {
      open: api,
      ann: { ...api, username: 'ann', password: '1' },
      bob: { ...api, token: 'Ym9i' },
      desk: { type: 'dummy', parameters: ['lamp,B,true'] },
    },
  });
  const statuses = async (headers: Record<string, string>) => {
    const answers = portsOf(hub).map((port) => ask(t, port, 'GET /parameters/desk/lamp', { headers }));
    return (await Promise.all(answers)).map(({ status }) => status);
  };
  t.deepEqual(await statuses({}), [200, 401, 401]);
  t.deepEqual(await statuses({ authorization: basic('ann:1') }), [200, 200, 401]);
  t.deepEqual(await statuses({ authorization: 'Bearer Ym9i' }), [200, 401, 200]);
});

test('D-15: a hub that is open to everyone warns loudly, one with credentials or on one address does not', async (t) => {
  const warnings = async (settings: object) => {
    const { lines } = await startTestHub(t, { connections: { api: { type: 'rest-api', port: 0, ...settings } } });
    return lines.filter(({ level }) => level === 'warn').map(({ message }) => message.slice(0, 19));
  };
  t.deepEqual(await warnings({}), ['OPEN TO THE NETWORK']);
  t.deepEqual(await warnings({ bindIp: '0.0.0.0' }), ['OPEN TO THE NETWORK']);
  t.deepEqual(await warnings({ username: 'ann', password: 'x' }), []);
  t.deepEqual(await warnings({ token: 'YQ==' }), []);
  t.deepEqual(await warnings({ bindIp: '127.0.0.1' }), []);
});
