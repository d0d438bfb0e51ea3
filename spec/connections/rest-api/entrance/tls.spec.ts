// HTTPS and WSS (D-32), with a certificate that openssl makes.

import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import test, { type ExecutionContext } from 'ava';
import { startHub } from '../../../../lib/hub/index.ts';
import { createLogRecorder } from '../../../support/connection.ts';
import { createFolder } from '../../../support/folder.ts';
import { ask, openWire, request } from '../../../support/http.ts';
import { api, expectQuietLog, portsOf, startTestHub } from '../../../support/hub.ts';
import { needs } from '../../../support/programs.ts';
import { offerSuites } from '../../../support/sockets/client-hello.ts';
import { openRawClient } from '../../../support/sockets/socket.ts';
import { type CertificateWish, makeCertificate } from '../../../support/system/certificate.ts';
import { runToEnd, start } from '../../../support/system/process.ts';

needs('openssl');

async function startSecure(t: ExecutionContext, wish: CertificateWish = {}, settings: object = {}) {
  const folder = await createFolder(t, { 'www/a.txt': 'a' });
  const ca = makeCertificate(folder, 'hub', wish);
  const hub = await startTestHub(t, {
    connections: {
      api: {
        ...api,
        ...settings,
        documentRoot: join(folder, 'www'),
        tls: { certFile: join(folder, 'hub.crt'), keyFile: join(folder, 'hub.key') },
      },
      desk: { type: 'dummy', parameters: ['lamp,B,true', 'text'] },
    },
  });
  return Object.assign(hub, { folder, ca });
}

test('D-32: with tls the hub reads, writes and serves files by HTTPS', async (t) => {
  const hub = await startSecure(t);
  const { ca } = hub;
  t.true(hub.lines.some(({ message }) => message === `listening on https://127.0.0.1:${hub.port}/`));
  t.is((await ask(t, hub.port, 'GET /parameters/desk/lamp', { ca })).text, 'true');
  t.is((await ask(t, hub.port, 'GET /update?parameter=desk/lamp&value=0', { ca })).text, 'OK');
  t.is(hub.find('desk/lamp')?.value, false);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const body = `parameter=desk/text&value=${'x'.repeat(60_000)}`;
  t.is((await ask(t, hub.port, 'POST /update', { ca, headers, body })).text, 'OK');
  t.is((await ask(t, hub.port, 'GET /parameters/desk/text', { ca })).text.length, 60_000);
  t.is((await ask(t, hub.port, 'GET /a.txt', { ca })).text, 'a');
});

test('with tls, the cookie of a session goes over TLS only, and to this host only', async (t) => {
  const { ca, port } = await startSecure(t, {}, { users: { ann: { password: 'geheim', read: ['desk/**'] } } });
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const body = JSON.stringify({ user: 'ann', password: 'geheim' });
  const { status, headers: answered } = await ask(t, port, 'POST /hub/sign-in', { ca, headers, body });
  t.is(status, 200);
  const set = answered['set-cookie']!;
  t.regex(set, /^__Host-patchbay-\d+=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure$/);
  const cookie = set.split(';')[0]!;
  t.is((await ask(t, port, 'GET /parameters/desk/lamp', { ca, headers: { cookie } })).text, 'true');
});

test('D-32: with tls a large file arrives completely, also at a slow reader', async (t) => {
  const hub = await startSecure(t);
  const content = randomBytes(12_000_000);
  await writeFile(join(hub.folder, 'www/big.bin'), content);
  const wire = await openWire(t, hub.port, hub.ca);
  wire.socket.pause();
  wire.send(request('GET /big.bin'));
  t.is((await ask(t, hub.port, 'GET /a.txt', { ca: hub.ca })).text, 'a');
  wire.socket.resume();
  t.true((await wire.answer()).body.equals(content));
});

test('D-32: with tls a WebSocket receives, writes, and catches up after a slow read', async (t) => {
  const hub = await startSecure(t);
  const client = await openRawClient(t, hub.port, '?snapshot=true', hub.ca);
  t.is((await client.frames.next()).payload.toString(), '{"p":"desk/lamp","v":"true"}');
  client.send(1, '{"p":"desk/lamp","v":false}');
  t.is((await client.frames.next()).payload.toString(), '{"p":"desk/lamp","v":"false"}');
  client.pause();
  for (let count = 0; count < 400; count++)
    hub.write('desk/text', `${count} ${'x'.repeat(60_000)}`, { kind: 'client', name: 'test' });
  t.is((await ask(t, hub.port, 'GET /a.txt', { ca: hub.ca })).text, 'a');
  client.resume();
  const last = await client.frames.until(({ payload }) => payload.includes('"v":"399 '));
  t.true(last.length < 400);
  client.send(1, '{"p":"desk/text","v":"live"}');
  t.is((await client.frames.next()).payload.toString(), '{"p":"desk/text","v":"live"}');
});

test('D-32: plain HTTP to a TLS port is cut, without effect on others', async (t) => {
  const hub = await startSecure(t);
  const wire = await openWire(t, hub.port);
  wire.send(request('GET /parameters/desk/lamp'));
  t.false((await wire.closed()).toString('latin1').includes('HTTP/1.1 200'));
  t.is((await ask(t, hub.port, 'GET /parameters/desk/lamp', { ca: hub.ca })).text, 'true');
  expectQuietLog(t, hub);
});

test('D-32: with tls the command line reads and watches, if it trusts the certificate', async (t) => {
  const hub = await startSecure(t);
  const options = ['desk/lamp', '--url', `https://localhost:${hub.port}`];
  const watching = start(t, ['watch', ...options], {
    env: { NODE_EXTRA_CA_CERTS: join(hub.folder, 'hub.crt') },
  });
  await watching.shows(/^true\n/);
  hub.write('desk/lamp', false, { kind: 'client', name: 'test' });
  t.truthy(await watching.shows(/^true\nfalse\n/));
  const { status, errors } = await runToEnd(t, ['get', ...options]);
  t.is(status, 1);
  t.regex(errors, /^https:\/\/localhost:\d+: cannot reach a hub: [^\n]*certificate[^\n]*\n$/);
});

test('D-32: relative files of tls belong to the folder of the flow file', async (t) => {
  const folder = await createFolder(t, {
    'flow.json5': { connections: { api: { ...api, tls: { certFile: 'hub.crt', keyFile: 'hub.key' } } } },
  });
  makeCertificate(folder, 'hub');
  const hub = await startHub({ paths: [join(folder, 'flow.json5')], log: createLogRecorder() });
  await t.notThrowsAsync(hub.stop());
});

/** Every suite of TLS 1.2 and before has its number in these ranges. */
const everySuite = [...range(0x0001, 0x00fe), ...range(0xc001, 0xc0ff), ...range(0xcc13, 0xccff)];
const suites: [what: string, wish: CertificateWish, taken: number[]][] = [
  ['an EC key: ECDHE-ECDSA with AES-GCM or ChaCha20', {}, [0xc02b, 0xc02c, 0xcca9]],
  ['an RSA key: ECDHE-RSA with AES-GCM or ChaCha20', { key: ['-newkey', 'rsa:2048'] }, [0xc02f, 0xc030, 0xcca8]],
];
for (const [what, wish, taken] of suites)
  test(`RFC 9325 section 4.2: no 3DES, no RSA key exchange, no CBC; all others of TLS 1.2 with ${what} are accepted`, async (t) => {
    const hub = await startSecure(t, wish);
    const found: number[] = [];
    for (let offered = everySuite; ; ) {
      const suite = await offerSuites(t, hub.port, 0x0303, offered);
      if (suite === undefined) break;
      found.push(suite);
      offered = offered.filter((other) => other !== suite);
    }
    t.deepEqual(found.toSorted(), taken);
    for (const version of [0x0301, 0x0302] as const)
      t.is(await offerSuites(t, hub.port, version, everySuite), undefined, 'TLS 1.0 and 1.1 are refused');
  });

for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
  test(`RFC 9325 section 3.1: ${version} is served`, async (t) => {
    const hub = await startSecure(t);
    const wire = await openWire(t, hub.port, hub.ca, { minVersion: version, maxVersion: version });
    t.is((wire.socket as TLSSocket).getProtocol(), version);
    wire.send(request('GET /a.txt'));
    t.is((await wire.answer()).text, 'a');
  });

test('RFC 6797: every answer by HTTPS makes browsers keep to it for 30 days, or as configured; none by HTTP does', async (t) => {
  const hub = await startSecure(t);
  const { ca, port } = hub;
  const lines = [
    'GET /parameters/desk/lamp',
    'GET /a.txt',
    'HEAD /a.txt',
    'GET /nothing',
    'DELETE /update',
    'GET /hub/',
  ];
  for (const line of lines)
    t.is((await ask(t, port, line, { ca })).headers['strict-transport-security'], 'max-age=2592000', line);
  const foreign = await ask(t, port, 'GET /', { ca, headers: { host: 'foreign.example' } });
  t.is(foreign.headers['strict-transport-security'], 'max-age=2592000');
  const tls = { certFile: join(hub.folder, 'hub.crt'), keyFile: join(hub.folder, 'hub.key'), hsts: 0 };
  const others = await startTestHub(t, { connections: { forgetful: { ...api, tls }, plain: api } });
  const [forgetful = 0, plain = 0] = portsOf(others);
  t.is((await ask(t, forgetful, 'GET /hub/health', { ca })).headers['strict-transport-security'], 'max-age=0');
  t.is((await ask(t, plain, 'GET /hub/health')).headers['strict-transport-security'], undefined);
});

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
