// Who may ask at all (design.md section 7): DNS rebinding, cross-site requests, cross-site WebSocket hijacking.

import { hostname } from 'node:os';
import test, { type ExecutionContext } from 'ava';
import { ask, openWire, request } from '../../support/http.ts';
import { api, expectQuietLog, startTestHub } from '../../support/hub.ts';
import { handshake } from '../../support/socket.ts';

const startDesk = (t: ExecutionContext, settings: object = {}) =>
  startTestHub(t, {
    connections: { api: { ...api, ...settings }, desk: { type: 'dummy', parameters: ['lamp,B,true'] } },
  });
const read = 'GET /parameters/desk/lamp';
const write = 'GET /update?parameter=desk/lamp&value=false';

async function upgrade(t: ExecutionContext, port: number, headers: Record<string, string>): Promise<number> {
  const wire = await openWire(t, port);
  wire.send(request('GET /ws', { headers: { ...handshake(), ...headers } }));
  return (await wire.answer()).status;
}

const allowedHosts = ['studio.example', 'PANEL.example'];
const hosts: [host: string, isOurs: boolean][] = [
  ['localhost', true],
  ['LocalHost:17011', true],
  ['localhost.', true],
  ['127.0.0.1', true],
  ['192.168.1.20:8080', true],
  ['[::1]:17011', true],
  ['[fe80::1]', true],
  [hostname(), true],
  [`${hostname().split('.')[0]}.local:80`, true],
  ['studio.example', true],
  ['panel.EXAMPLE:17011', true],
  ['evil.example', false],
  ['evil.example:17011', false],
  ['localhost.evil.example', false],
  ['127.0.0.1.evil.example', false],
  ['evil.example#localhost', false],
  ['evil@localhost', false],
  ['studio.example.evil', false],
  ['256.1.1.1', false],
  ['[evil]', false],
];
for (const [host, isOurs] of hosts)
  test(`design.md section 7: Host ${host} is ${isOurs ? 'ours' : 'refused, whatever is asked'}`, async (t) => {
    const hub = await startDesk(t, { allowedHosts });
    const answer = await ask(t, hub.port, read, { headers: { host } });
    t.is(answer.status, isOurs ? 200 : 403);
    if (!isOurs) t.is(answer.text, `Host: expected a name of this hub, got "${host}"; allowedHosts adds names\n`);
    for (const line of ['GET /', 'GET /hub/health', 'HEAD /parameters/desk/lamp', 'POST /ws'])
      t.is((await ask(t, hub.port, line, { headers: { host } })).status === 403, !isOurs, line);
    t.is(await upgrade(t, hub.port, { host }), isOurs ? 101 : 403);
    await ask(t, hub.port, write, { headers: { host } });
    t.is(hub.find('desk/lamp')?.value, !isOurs);
    expectQuietLog(t, hub);
  });

test('design.md section 7: a request without Host is refused', async (t) => {
  const hub = await startDesk(t);
  const wire = await openWire(t, hub.port);
  wire.send('GET /parameters/desk/lamp HTTP/1.1\r\n\r\n');
  t.regex((await wire.closed()).toString(), /^HTTP\/1\.1 400 /);
  t.is((await ask(t, hub.port, read, { headers: { host: '' } })).status, 403);
});

const origins: [origin: string, isLetIn: boolean][] = [
  ['http://localhost:17011', true],
  ['https://localhost:17011', true],
  ['http://LOCALHOST:17011', true],
  ['https://panel.example', true],
  ['https://Panel.Example', true],
  ['http://localhost', false],
  ['http://localhost:17012', false],
  ['http://panel.example', false],
  ['https://panel.example:444', false],
  ['https://evil.example', false],
  ['http://localhost:17011.evil.example', false],
  ['null', false],
  ['file://', false],
  ['nonsense', false],
];
for (const [origin, isLetIn] of origins)
  test(`design.md section 7: a page of ${origin} is ${isLetIn ? '' : 'not '}let in to write and to open sockets`, async (t) => {
    const hub = await startDesk(t, { allowedOrigins: ['https://panel.example'] });
    const headers = { host: 'localhost:17011', origin };
    t.is(await upgrade(t, hub.port, headers), isLetIn ? 101 : 403);
    const answer = await ask(t, hub.port, write, { headers });
    t.is(answer.status, isLetIn ? 200 : 403);
    if (!isLetIn)
      t.is(answer.text, `Origin: expected a page of this hub, got "${origin}"; allowedOrigins adds origins\n`);
    t.is(hub.find('desk/lamp')?.value, !isLetIn);
    const body = 'parameter=desk/lamp&value=1';
    const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' };
    t.is((await ask(t, hub.port, 'POST /update', { headers: form, body })).status, isLetIn ? 200 : 403);
    expectQuietLog(t, hub);
  });

const sites: [site: string, isLetIn: boolean][] = [
  ['same-origin', true],
  ['none', false],
  ['same-site', false],
  ['cross-site', false],
];
for (const [site, isLetIn] of sites)
  test(`design.md section 7: a GET /update that a browser marks ${site} is ${isLetIn ? '' : 'not '}let in, a read is`, async (t) => {
    const hub = await startDesk(t);
    const headers = { 'sec-fetch-site': site };
    t.is((await ask(t, hub.port, read, { headers })).status, 200);
    t.is((await ask(t, hub.port, write, { headers })).status, isLetIn ? 200 : 403);
    t.is(hub.find('desk/lamp')?.value, !isLetIn);
    t.is(await upgrade(t, hub.port, headers), isLetIn ? 101 : 403);
  });
