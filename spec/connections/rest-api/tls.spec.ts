// HTTPS and WSS (design.md section 7), with a certificate that openssl makes.

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { startHub } from '../../../lib/hub.ts';
import { createLogRecorder } from '../../support/connection.ts';
import { createFolder } from '../../support/folder.ts';
import { ask, openWire, request } from '../../support/http.ts';
import { api, expectQuietLog, startTestHub } from '../../support/hub.ts';
import { runToEnd, start } from '../../support/process.ts';
import { needs } from '../../support/programs.ts';
import { openRawClient } from '../../support/socket.ts';

needs('openssl');

function makeCertificate(folder: string, name: string): void {
  const files = ['-keyout', join(folder, `${name}.key`), '-out', join(folder, `${name}.crt`)];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync('openssl', ['req', ...kind, ...files, ...subject], { stdio: 'ignore' });
}

async function startSecure(t: ExecutionContext) {
  const folder = await createFolder(t, { 'www/a.txt': 'a' });
  makeCertificate(folder, 'hub');
  const hub = await startTestHub(t, {
    connections: {
      api: {
        ...api,
        documentRoot: join(folder, 'www'),
        tls: { certFile: join(folder, 'hub.crt'), keyFile: join(folder, 'hub.key') },
      },
      desk: { type: 'dummy', parameters: ['lamp,B,true', 'text'] },
    },
  });
  return Object.assign(hub, { folder, ca: await readFile(join(folder, 'hub.crt'), 'utf8') });
}

test('design.md section 7: with tls the hub reads, writes and serves files by HTTPS', async (t) => {
  const hub = await startSecure(t);
  const { ca } = hub;
  t.true(hub.lines.some(({ message }) => message === `listens on https://127.0.0.1:${hub.port}/`));
  t.is((await ask(t, hub.port, 'GET /parameters/desk/lamp', { ca })).text, 'true');
  t.is((await ask(t, hub.port, 'GET /update?parameter=desk/lamp&value=0', { ca })).text, 'OK');
  t.is(hub.find('desk/lamp')?.value, false);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const body = `parameter=desk/text&value=${'x'.repeat(60_000)}`;
  t.is((await ask(t, hub.port, 'POST /update', { ca, headers, body })).text, 'OK');
  t.is((await ask(t, hub.port, 'GET /parameters/desk/text', { ca })).text.length, 60_000);
  t.is((await ask(t, hub.port, 'GET /a.txt', { ca })).text, 'a');
});

test('design.md section 7: with tls a large file arrives whole, also at a client that reads late', async (t) => {
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

test('design.md section 7: with tls a WebSocket hears, writes, and is caught up when it reads late', async (t) => {
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

test('design.md section 7: plain HTTP to a TLS port is cut, and disturbs nobody', async (t) => {
  const hub = await startSecure(t);
  const wire = await openWire(t, hub.port);
  wire.send(request('GET /parameters/desk/lamp'));
  t.false((await wire.closed()).toString('latin1').includes('HTTP/1.1 200'));
  t.is((await ask(t, hub.port, 'GET /parameters/desk/lamp', { ca: hub.ca })).text, 'true');
  expectQuietLog(t, hub);
});

test('design.md section 7: with tls the command line reads and watches, given the certificate', async (t) => {
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
  t.regex(errors, /^https:\/\/localhost:\d+: expected a running hub, got [^\n]*certificate[^\n]*\n$/);
});

test('design.md section 7: relative files of tls start from the folder of the flow file', async (t) => {
  const folder = await createFolder(t, {
    'flow.json5': { connections: { api: { ...api, tls: { certFile: 'hub.crt', keyFile: 'hub.key' } } } },
  });
  makeCertificate(folder, 'hub');
  const hub = await startHub({ paths: [join(folder, 'flow.json5')], log: createLogRecorder() });
  await t.notThrowsAsync(hub.stop());
});

const wrong: [what: string, certFile: string, keyFile: string][] = [
  ['a certificate that is not there', 'nothing.crt', 'hub.key'],
  ['a key that is not there', 'hub.crt', 'nothing.key'],
  ['a certificate that is none', 'text.txt', 'hub.key'],
  ['a key that is none', 'hub.crt', 'text.txt'],
  ['the key of another certificate', 'hub.crt', 'other.key'],
];
for (const [what, certFile, keyFile] of wrong)
  test(`design.md section 7: ${what} keeps the hub from starting, in one sentence`, async (t) => {
    const folder = await createFolder(t, { 'text.txt': 'not a certificate' });
    makeCertificate(folder, 'hub');
    makeCertificate(folder, 'other');
    const tls = { certFile: join(folder, certFile), keyFile: join(folder, keyFile) };
    const error = await t.throwsAsync(startTestHub(t, { connections: { api: { ...api, tls } } }));
    t.like(error, { code: 'cannot-start' });
    t.regex(error.message, /^connection "api": tls: expected [^\n]+$/);
  });
