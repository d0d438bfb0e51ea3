// The hub behind nginx, with the configuration that docs/network.md has.

import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { createFolder } from '../../../support/folder.ts';
import { ask, openWire, request } from '../../../support/http.ts';
import { api, type HubUnderTest, startTestHub, writer } from '../../../support/hub.ts';
import { needs } from '../../../support/programs.ts';
import { handshake, opcodes, openClient, openRawClient } from '../../../support/sockets/socket.ts';
import { makeCertificate } from '../../../support/system/certificate.ts';
import { freePort } from '../../../support/system/port.ts';
import { runNginx } from '../../../support/system/proxy.ts';

needs('nginx', 'openssl');

const large = randomBytes(3 * 1024 * 1024);
const host = { host: 'hub.example' };

interface Behind {
  readonly hub: HubUnderTest;
  readonly port: number;
  readonly folder: string;
}

async function startBehindNginx(
  t: ExecutionContext,
  settings: object = {},
  replaced: readonly (readonly [string, string])[] = [],
): Promise<Behind> {
  const folder = await createFolder(t, { 'www/a.txt': 'small' });
  await writeFile(join(folder, 'www/large.bin'), large);
  const hub = await startTestHub(t, {
    connections: {
      api: {
        ...{ ...api, trustedProxies: ['127.0.0.1'], allowedHosts: ['hub.example'] },
        ...{ documentRoot: join(folder, 'www'), ...settings },
      },
      desk: { type: 'dummy', parameters: ['lamp,B,true', 'text'] },
    },
  });
  const port = await freePort();
  await runNginx(t, folder, hub.port, port, replaced);
  return { hub, port, folder };
}

test('behind nginx HTTP is read, written and streamed, on persistent connections', async (t) => {
  const { hub, port } = await startBehindNginx(t);
  const wire = await openWire(t, port);
  const get = (line: string, headers = {}) => {
    wire.send(request(line, { headers: { ...host, ...headers } }));
    return wire.answer({ isHead: line.startsWith('HEAD ') });
  };
  for (let count = 0; count < 20; count++) t.is((await get('GET /parameters/desk/lamp')).text, 'true');
  t.is((await get('GET /update?parameter=desk/lamp&value=false')).text, 'OK');
  t.is(hub.find('desk/lamp')!.value, false);
  for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
    const body = 'parameter=desk/text&value=hello';
    const chunked = 'transfer-encoding' in headers ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body;
    const question = {
      headers: { ...host, 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: chunked,
    };
    wire.send(request('POST /update', question));
    t.is((await wire.answer()).text, 'OK');
  }
  const { etag = '' } = (await get('GET /a.txt')).headers;
  t.is((await get('GET /a.txt', { 'if-none-match': etag })).status, 304);
  t.is((await get('HEAD /large.bin')).headers['content-length'], String(large.length));
  t.true((await get('GET /large.bin', { range: 'bytes=5-1000005' })).body.equals(large.subarray(5, 1_000_006)));
  t.true((await get('GET /large.bin')).body.equals(large));
  t.is((await get('GET /parameters/desk/nothing')).status, 404);
  wire.send(Buffer.concat([request('GET /large.bin', { headers: host }), request('GET /a.txt', { headers: host })]));
  t.true((await wire.answer()).body.equals(large), 'nginx sends pipelined requests one after the other');
  t.is((await wire.answer()).text, 'small');
});

test('behind nginx pages of the hub may write, those of other sites may not', async (t) => {
  const { port } = await startBehindNginx(t);
  const line = 'GET /update?parameter=desk/lamp&value=false';
  const named = { host: `hub.example:${port}` };
  t.is((await ask(t, port, line, { headers: { ...named, origin: `http://hub.example:${port}` } })).status, 200);
  t.is((await ask(t, port, line, { headers: { ...named, origin: 'https://foreign.example' } })).status, 403);
  const browser = { ...named, 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' };
  const own = { ...browser, referer: `http://hub.example:${port}/panel.html` };
  t.is((await ask(t, port, line, { headers: own })).status, 200);
  t.is((await ask(t, port, line, { headers: browser })).status, 403);
  t.is((await ask(t, port, line, { headers: { host: 'foreign.example' } })).status, 403);
});

test('behind nginx both protocols of the WebSocket receive and write', async (t) => {
  const { hub, port } = await startBehindNginx(t);
  const plain = await openClient(t, port, '?snapshot=true', host);
  t.deepEqual(await plain.next(), { p: 'desk/lamp', v: 'true' });
  plain.send({ p: 'desk/lamp', v: false });
  t.deepEqual(await plain.next(), { p: 'desk/lamp', v: 'false' });
  const v1 = await openRawClient(t, port, '', undefined, { ...host, 'sec-websocket-protocol': 'patchbay.v1' });
  t.regex(String((await v1.frames.next()).payload), /^{"hello"/);
  v1.send(opcodes.text, '{"sub":1,"include":["desk/**"]}');
  await v1.frames.until(({ payload }) => payload.includes('"end":1'));
  hub.write('desk/text', 'x'.repeat(60_000), writer);
  await v1.frames.until(({ payload }) => payload.length > 60_000);
  t.is((await plain.next()).v?.length, 60_000);
  t.is(
    (await ask(t, port, 'GET /ws', { headers: { ...host, ...handshake(), origin: 'https://foreign.example' } })).status,
    403,
  );
});

test('nginx with HTTP/1.0 gets 505', async (t) => {
  const { port } = await startBehindNginx(t, {}, [['proxy_http_version 1.1', 'proxy_http_version 1.0']]);
  t.is((await ask(t, port, 'GET /hub/health', { headers: host })).status, 505);
});

test('nginx passes on nothing that uWebSockets.js would split at another place', async (t) => {
  const { hub, port } = await startBehindNginx(t);
  const smuggled = 'GET /update?parameter=desk/lamp&value=false HTTP/1.1\r\nHost: hub.example\r\n\r\n';
  const form = 'Content-Type: application/x-www-form-urlencoded';
  const body = 'parameter=desk/text&value=x';
  const head = `POST /update HTTP/1.1\r\nHost: hub.example\r\nConnection: close\r\n${form}\r\n`;
  const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n`;
  for (const [what, rest] of [
    ['a trailer', `Transfer-Encoding: chunked\r\n\r\n${chunk}X: y\r\n\r\n`],
    ['an empty name', `: x\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`],
    ['an empty length', `Content-Length:\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`],
    ['two lengths', `Content-Length: 1\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`],
  ] as const) {
    const wire = await openWire(t, port);
    wire.send(head + rest);
    const answers = (await wire.closed()).toString().match(/^HTTP\/1\.1 \d+/gm);
    t.is(answers?.length, 1, `${what}: ${answers}`);
    t.is(hub.find('desk/lamp')!.value, true);
  }
});

const users = { ann: { token: 'token-of-ann', read: ['**'], write: ['**'], manage: true } };
const ann = { ...host, authorization: 'Bearer token-of-ann' };

test('behind an nginx of HTTPS the cookie is Secure, and plain HTTP pages are foreign to the hub', async (t) => {
  const folder = await createFolder(t);
  const ca = makeCertificate(folder, 'localhost');
  const tls = `ssl; ssl_certificate ${folder}/localhost.crt; ssl_certificate_key ${folder}/localhost.key;`;
  const people = { ann: { password: 'geheim', read: ['**'], write: ['**'] } };
  const { port } = await startBehindNginx(t, { users: people }, [['listen 80;', `listen 80 ${tls}`]]);
  const named = { host: `hub.example:${port}`, 'content-type': 'application/json' };
  const signIn = (origin: string) =>
    ask(t, port, 'POST /hub/sign-in', {
      ca,
      headers: { ...named, origin },
      body: '{"user":"ann","password":"geheim"}',
    });
  t.is((await signIn(`http://hub.example:${port}`)).status, 403);
  const { status, headers } = await signIn(`https://hub.example:${port}`);
  t.is(status, 200);
  t.regex(headers['set-cookie']!, /^__Host-patchbay-\d+=[\w-]{43}; .*; HttpOnly; SameSite=Strict; Secure$/);
  const cookie = headers['set-cookie']!.split(';')[0]!;
  for (const [origin, expected] of [
    [`https://hub.example:${port}`, 101],
    [`http://hub.example:${port}`, 403],
  ] as const) {
    const wire = await openWire(t, port, ca);
    wire.send(request('GET /ws', { headers: { ...handshake(), host: named.host, cookie, origin } }));
    t.is((await wire.answer()).status, expected, origin);
  }
});

test('behind nginx, a stranger with wrong tokens locks out neither others nor clients of its own address', async (t) => {
  const { port } = await startBehindNginx(t, { users });
  const wire = await openWire(t, port);
  for (let count = 0; count < 66; count++) {
    wire.send(request('GET /hub/me', { headers: { ...host, authorization: `Bearer no-such-token-${count}` } }));
    t.true((await wire.answer()).status >= 401);
    for (const from of ['127.0.0.1', '127.0.0.78']) {
      const right = await openWire(t, port, undefined, {}, from);
      right.send(request('GET /parameters/desk/lamp', { headers: ann }));
      t.is((await right.answer()).status, 200, `${count} ${from}`);
      right.socket.destroy();
    }
  }
});

test('behind nginx, and behind two of them, the hub knows the address of a client, regardless of its headers', async (t) => {
  const { hub, port, folder } = await startBehindNginx(t, { users });
  const outer = await freePort();
  await runNginx(t, folder, port, outer);
  const said: Record<string, string>[] = [
    {},
    { 'x-forwarded-for': '198.51.100.1' },
    { 'x-forwarded-for': '198.51.100.1, 127.0.0.1' },
    { forwarded: 'for=198.51.100.1;proto=https' },
    { 'x-forwarded-for': '198.51.100.1', forwarded: 'for=198.51.100.1' },
    { 'x-forwarded-for': 'nonsense', forwarded: 'for="' },
  ];
  for (const through of [port, outer])
    for (const headers of said) {
      hub.write('desk/text', 'x', writer);
      const wire = await openWire(t, through, undefined, {}, '127.0.0.77');
      wire.send(request('GET /update?parameter=desk/text&value=y', { headers: { ...ann, ...headers } }));
      t.is((await wire.answer()).text, 'OK');
      t.is(hub.find('desk/text')!.lastChange!.origin.name, 'api ann 127.0.0.77', JSON.stringify(headers));
    }
});
