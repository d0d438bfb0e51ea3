// The hub behind nginx, with the configuration that the README of the REST API has.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { within } from '../../../support/deadline.ts';
import { createFolder } from '../../../support/folder.ts';
import { ask, openWire, request } from '../../../support/http.ts';
import { api, type HubUnderTest, startTestHub, writer } from '../../../support/hub.ts';
import { needs, pathOf } from '../../../support/programs.ts';
import { handshake, opcodes, openClient, openRawClient } from '../../../support/sockets/socket.ts';
import { dependent } from '../../../support/system/dependent.ts';
import { freePort } from '../../../support/system/port.ts';

needs('nginx');

const readme = join(import.meta.dirname, '../../../../lib/connections/rest-api/README.md');
const large = randomBytes(3 * 1024 * 1024);
const host = { host: 'hub.example' };

async function startBehindNginx(
  t: ExecutionContext,
  httpVersion = '1.1',
): Promise<{ hub: HubUnderTest; port: number }> {
  const folder = await createFolder(t, { 'www/a.txt': 'small' });
  await writeFile(join(folder, 'www/large.bin'), large);
  const hub = await startTestHub(t, {
    connections: {
      api: { ...api, allowedHosts: ['hub.example'], documentRoot: join(folder, 'www') },
      desk: { type: 'dummy', parameters: ['lamp,B,true', 'text'] },
    },
  });
  const port = await freePort();
  const [, printed = ''] = /```nginx\n(.*?)```/s.exec(await readFile(readme, 'utf8')) ?? [];
  const site = printed
    .replace('proxy_http_version 1.1', `proxy_http_version ${httpVersion}`)
    .replace('127.0.0.1:17011', `127.0.0.1:${hub.port}`)
    .replace('listen 80', `listen 127.0.0.1:${port}`);
  t.true(site.includes(`:${hub.port};`) && site.includes(`:${port};`));
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  await writeFile(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr notice;
events {}
http { access_log off; ${temporary.join(' ')}
${site}}`,
  );
  const nginx = spawn(...dependent(pathOf('nginx')!, ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr']));
  const ended = once(nginx, 'close');
  t.teardown(async () => {
    nginx.kill();
    await ended;
  });
  let said = '';
  const listening = new Promise<void>((resolve, reject) => {
    nginx.stderr.on('data', (data) => {
      said += data;
      if (/\bnginx\/\d/.test(said)) resolve(); // nginx says its version after it has begun to listen
    });
    ended.then(() => reject(new Error(said)));
  });
  await within(listening, 'nginx listening');
  return { hub, port };
}

test('behind nginx HTTP is read, written and streamed, on connections that are kept', async (t) => {
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

test('behind nginx both protocols of the WebSocket hear and write', async (t) => {
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

test('nginx that speaks HTTP/1.0 gets 505', async (t) => {
  const { port } = await startBehindNginx(t, '1.0');
  t.is((await ask(t, port, 'GET /hub/health', { headers: host })).status, 505);
});

test('nginx passes on nothing that uWebSockets.js would cut at another place', async (t) => {
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
