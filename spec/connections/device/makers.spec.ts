// The built-in descriptions of devices over HTTP against peers that are written from the texts of their makers: a Shelly relay with a password
// (RPC over HTTP, Digest with SHA-256), and a Hue bridge (CLIP v2 over HTTPS, an application key, a stream of events).

import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { type HubUnderTest, startTestHub, statusOf, writer } from '../../support/hub.ts';
import { makeCertificate } from '../../support/system/certificate.ts';

async function portOf(t: ExecutionContext, server: ReturnType<typeof createServer>): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as { port: number }).port;
}

function start(t: ExecutionContext, settings: object): Promise<HubUnderTest> {
  return startTestHub(t, { connections: { it: { type: 'device', ...settings } } });
}

async function has(hub: HubUnderTest, id: string, value: unknown): Promise<void> {
  await eventually(() => hub.find(`it/${id}`)?.value === value, `${id} = ${value}`);
}

/** Whether a request has the password, as RFC 7616 computes it. The user of a Shelly is always admin. */
function isSignedBy(password: string, realm: string, nonce: string, method: string, header = ''): boolean {
  const part = (name: string) => new RegExp(`(?:^|[ ,])${name}="?([^",]*)`).exec(header)?.[1] ?? '';
  const hash = (text: string) => createHash('sha256').update(text).digest('hex');
  const secret = hash(`admin:${realm}:${password}`);
  const request = hash(`${method}:${part('uri')}`);
  const expected = hash(`${secret}:${nonce}:${part('nc')}:${part('cnonce')}:auth:${request}`);
  return part('nonce') === nonce && part('username') === 'admin' && part('response') === expected;
}

test('a Shelly with a password is read and switched, a wrong password is reported', async (t) => {
  const realm = 'shellyplus1pm-a8032abe54dc';
  const nonce = '1625038762';
  const relay = { output: false, id: 0, apower: 8.9, voltage: 237.5, current: 0.04, aenergy: { total: 6.5 } };
  const unsigned: string[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://shelly');
    const answer = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (!isSignedBy('sesame', realm, nonce, request.method!, request.headers.authorization)) {
      unsigned.push(request.url!);
      response.setHeader(
        'www-authenticate',
        `Digest qop="auth", realm="${realm}", nonce="${nonce}", algorithm=SHA-256`,
      );
      answer(401, { code: 401, message: 'Unauthorized' });
    } else if (url.pathname === '/rpc/Shelly.GetStatus')
      answer(200, {
        ble: {},
        cloud: { connected: false },
        'input:0': { id: 0, state: true },
        'switch:0': { ...relay, source: 'HTTP', temperature: { tC: 53.3, tF: 127.9 } },
        sys: { mac: 'A8032ABE54DC', uptime: 11_081 },
        wifi: { sta_ip: '192.168.33.1', status: 'got ip', ssid: 'Shelly', rssi: -62 },
      });
    else if (url.pathname === '/rpc/Switch.Set') {
      const was = relay.output;
      if (url.searchParams.get('id') !== '0') return void answer(404, { code: -105, message: 'no such component' });
      relay.output = url.searchParams.get('on') === 'true';
      answer(200, { was_on: was });
    } else answer(404, { code: 404, message: `No handler for ${url.pathname.slice(5)}` });
  });
  const http = `http://127.0.0.1:${await portOf(t, server)}/`;
  const auth = { digest: { username: 'admin', password: 'sesame' } };
  const hub = await start(t, { http, protocol: 'shelly', auth });
  await has(hub, 'switch/0/on', false);
  await has(hub, 'switch/0/power', 8.9);
  await has(hub, 'switch/0/temperature', 53.3);
  await has(hub, 'input/0/on', true);
  await has(hub, 'wifi/rssi', -62);
  t.is(unsigned.length, 1, 'the challenge is answered once, and its nonce is used again');
  hub.write('it/switch/0/on', true, writer);
  await has(hub, 'switch/0/on', true);
  t.true(relay.output);
  t.false(JSON.stringify(hub.wire('it', 0)).includes('sesame'));
  const other = await start(t, { http, protocol: 'shelly', auth: { digest: { ...auth.digest, password: 'wrong' } } });
  await t.notThrowsAsync(other.logged(/^connection "it" is degraded: .* 401 Unauthorized \(check auth\.digest\)/));
});

test('a Hue bridge is read, set and followed by its events; a wrong key is reported', async (t) => {
  const folder = await createFolder(t);
  const cert = makeCertificate(folder, 'bridge');
  const light = {
    id: '3b0c9d1e-0000-4000-8000-000000000001',
    type: 'light',
    metadata: { name: 'Desk', archetype: 'sultan_bulb' },
    on: { on: false },
    dimming: { brightness: 49.8, min_dim_level: 0.2 },
    color_temperature: { mirek: 366, mirek_valid: true, mirek_schema: { mirek_minimum: 153, mirek_maximum: 500 } },
  };
  const streams: ServerResponse[] = [];
  const emit = (data: object) => {
    const event = JSON.stringify([{ creationtime: '2026-01-01T00:00:00Z', data: [data], id: 'e1', type: 'update' }]);
    for (const stream of streams) stream.write(`id: 1:0\ndata: ${event}\n\n`);
  };
  const key = readFileSync(join(folder, 'bridge.key'));
  const server = createSecureServer({ cert, key }, (request, response) => {
    const answer = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.headers['hue-application-key'] !== 'the key')
      return void answer(403, { errors: [{ description: 'x' }] });
    const path = request.url!;
    if (path === '/eventstream/clip/v2') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': hi\n\n');
      streams.push(response);
    } else if (request.method === 'PUT' && path === `/clip/v2/resource/light/${light.id}`) {
      let text = '';
      request.on('data', (chunk) => {
        text += chunk;
      });
      request.on('end', () => {
        const { on, dimming } = JSON.parse(text) as Partial<typeof light>;
        if (on !== undefined) light.on = on;
        if (dimming !== undefined) light.dimming.brightness = dimming.brightness - 0.21; // its steps are coarse
        answer(200, { data: [{ rid: light.id, rtype: 'light' }], errors: [] });
        emit({ id: light.id, type: 'light', owner: {}, ...(on === undefined ? { dimming: light.dimming } : { on }) });
      });
    } else answer(200, { errors: [], data: path.endsWith('/light') ? [light] : [] });
  });
  const port = await portOf(t, server as unknown as ReturnType<typeof createServer>);
  const { fingerprint256 } = new X509Certificate(cert);
  const bridge = { http: `https://127.0.0.1:${port}/`, protocol: 'hue', tls: { fingerprint: fingerprint256 } };
  const hub = await start(t, { ...bridge, secrets: { key: 'the key' } });
  const id = `light/${light.id}`;
  await has(hub, `${id}/name`, 'Desk');
  await has(hub, `${id}/mirek`, 366);
  await eventually(() => statusOf(hub, 'it').state === 'running' && streams.length === 1, 'the stream');
  hub.write(`it/${id}/on`, true, writer);
  await has(hub, `${id}/on`, true);
  t.true(light.on.on);
  emit({ id: light.id, type: 'light', dimming: { brightness: 20.16 } });
  await has(hub, `${id}/brightness`, 20.16);
  emit({ id: light.id, type: 'light', color_temperature: { mirek: null, mirek_valid: false } });
  await eventually(() => hub.find(`it/${id}/mirek`)?.value === undefined, 'no colour temperature beside a colour');
  t.false(JSON.stringify(hub.wire('it', 0)).includes('the key'));
  const other = await start(t, { ...bridge, secrets: { key: 'another' } });
  await t.notThrowsAsync(other.logged(/^connection "it" is degraded: .* the bridge refuses the key: set secrets\.key/));
});
