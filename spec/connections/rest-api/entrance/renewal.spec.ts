// A certificate is renewed while the hub runs, as certbot does it: links are swapped, one file after the other.

import { mkdir, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import test, { type ExecutionContext } from 'ava';
import { createFolder } from '../../../support/folder.ts';
import { ask, openWire, request } from '../../../support/http.ts';
import { api, type HubUnderTest, startTestHub, statusOf, writer } from '../../../support/hub.ts';
import { needs } from '../../../support/programs.ts';
import { opcodes, openRawClient } from '../../../support/sockets/socket.ts';
import { makeCertificate } from '../../../support/system/certificate.ts';

needs('openssl');

interface Secure extends HubUnderTest {
  /** The folder of the links. */
  readonly links: string;
  /** The certificate of `one` and `two`. */
  readonly certificates: Record<string, string>;
  /** Makes a file of the settings, `crt` or `key`, the file of a certificate. */
  link(file: 'crt' | 'key', name: string): Promise<void>;
}

async function startSecure(t: ExecutionContext): Promise<Secure> {
  const folder = await createFolder(t);
  const archive = join(folder, 'archive');
  await mkdir(archive);
  const certificates = Object.fromEntries(['one', 'two'].map((name) => [name, makeCertificate(archive, name)]));
  const link: Secure['link'] = async (file, name) => {
    await symlink(`archive/${name}.${file}`, join(folder, 'next'));
    await rename(join(folder, 'next'), join(folder, `hub.${file}`));
  };
  await link('crt', 'one');
  await link('key', 'one');
  const tls = { certFile: join(folder, 'hub.crt'), keyFile: join(folder, 'hub.key') };
  const hub = await startTestHub(t, {
    connections: { api: { ...api, tls }, desk: { type: 'dummy', parameters: ['lamp,B,true', 'i,I'] } },
  });
  return Object.assign(hub, { links: folder, certificates, link });
}

/** Whose certificate a new client sees, by IP address and by name. */
async function shown(t: ExecutionContext, { port, certificates }: Secure): Promise<string[]> {
  const names = [
    {},
    { servername: 'localhost' },
    { servername: 'other.example', checkServerIdentity: () => undefined },
  ];
  return Promise.all(
    names.map(async (tls) => {
      const wire = await openWire(t, port, Object.values(certificates).join('\n'), tls);
      const { subject } = (wire.socket as TLSSocket).getPeerCertificate();
      wire.socket.destroy();
      return String(subject.CN);
    }),
  );
}

const renewed = /^tls: certificate renewed: DNS:localhost, IP Address:127\.0\.0\.1, valid until 20/;

test('HTTPS: new clients get a renewed certificate, existing connections stay', async (t) => {
  const hub = await startSecure(t);
  const ca = Object.values(hub.certificates).join('\n');
  const first = {
    plain: await openRawClient(t, hub.port, '?filter=desk/i', ca),
    v1: await openRawClient(t, hub.port, '', ca, { 'sec-websocket-protocol': 'patchbay.v1' }),
    http: await openWire(t, hub.port, ca),
  };
  t.regex(String((await first.v1.frames.next()).payload), /^{"hello"/);
  first.v1.send(opcodes.text, '{"sub":1,"include":["desk/i"],"delivery":"all"}');
  await first.v1.frames.until(({ payload }) => payload.includes('"end":1'));
  let value = 0;
  const writing = setInterval(() => hub.write('desk/i', ++value, writer), 1);
  t.teardown(() => clearInterval(writing));
  t.deepEqual(await shown(t, hub), ['one', 'one', 'one']);

  await hub.link('crt', 'two');
  await hub.logged(
    /^connection "api" is degraded: tls\.keyFile: .*: expected the private key of the certificate in .*, got the key of another certificate; the previous certificate remains in use$/,
  );
  t.is(statusOf(hub, 'api').state, 'degraded');
  t.deepEqual(await shown(t, hub), ['one', 'one', 'one']);
  await hub.link('key', 'two');
  await hub.logged(renewed);
  t.is(statusOf(hub, 'api').state, 'running');
  t.deepEqual(await shown(t, hub), ['two', 'two', 'two']);

  const second = await openRawClient(t, hub.port, '?filter=desk/i', ca);
  const heard = await second.frames.next();
  clearInterval(writing);
  hub.write('desk/i', -1, writer);
  const all = await first.plain.frames.until(({ payload }) => payload.includes('"-1"'));
  t.deepEqual(
    all.map(({ payload }) => JSON.parse(String(payload)).v),
    [...Array.from({ length: value }, (_, index) => String(index + 1)), '-1'],
    'a client of before misses nothing',
  );
  t.truthy(await first.v1.frames.until(({ payload }) => /,-1\]/.test(String(payload))));
  t.regex(String(heard.payload), /^{"p":"desk\/i","v":"\d+"}$/);
  t.truthy(await second.frames.until(({ payload }) => payload.includes('"-1"')));
  first.plain.send(opcodes.text, '{"p":"desk/lamp","v":false}');
  second.send(opcodes.text, '{"p":"desk/i","v":"x"}');
  t.regex(String((await second.frames.next()).payload), /^{"error":/);
  first.http.send(request('GET /parameters/desk/lamp'));
  t.is((await first.http.answer()).text, 'false');
  const clients = JSON.parse((await ask(t, hub.port, 'GET /hub/clients', { ca })).text);
  t.is(clients.clients.length, 3);
});

test('HTTPS: a certificate that is removed or withdrawn changes nothing for clients', async (t) => {
  const hub = await startSecure(t);
  await rm(join(hub.links, 'hub.key'));
  await hub.logged(
    / is degraded: tls\.keyFile: .*: expected a PEM file, got no file; the previous certificate remains/,
  );
  await hub.link('crt', 'two');
  await hub.link('key', 'one');
  await hub.logged(
    / is degraded: tls\.keyFile: .*, got the key of another certificate; the previous certificate remains/,
  );
  await hub.link('crt', 'one');
  await hub.logged(/^connection "api" is running$/, 2);
  t.deepEqual(await shown(t, hub), ['one', 'one', 'one']);
  t.false(hub.lines.some(({ message }) => renewed.test(message)));
});
