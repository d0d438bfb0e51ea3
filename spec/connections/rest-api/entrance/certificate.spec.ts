// Each thing that can be wrong with the files of a certificate has a sentence of its own, and none is left to the library.

import { execFileSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { noticeOf, unreadable, whyInvalid } from '../../../../lib/connections/rest-api/entrance/certificate.ts';
import { createFolder } from '../../../support/folder.ts';
import { openWire, request } from '../../../support/http.ts';
import { api, startTestHub, statusOf } from '../../../support/hub.ts';
import { needs } from '../../../support/programs.ts';
import { dateCertificate, makeCertificate } from '../../../support/system/certificate.ts';

needs('openssl');

const keys = 'an RSA key of 2048 bits or more, an EC key on P-256, P-384 or P-521, or an Ed25519 key';
const faults: [certFile: string, keyFile: string, setting: string, expected: string][] = [
  ['nothing.crt', 'hub.key', 'certFile', 'a PEM file, got no file'],
  ['hub.crt', 'nothing.key', 'keyFile', 'a PEM file, got no file'],
  ['folder', 'hub.key', 'certFile', 'a PEM file, got a folder'],
  ['large.txt', 'hub.key', 'certFile', 'a PEM file of at most 1048576 bytes, got one of 1048577'],
  ['empty.txt', 'hub.key', 'certFile', 'a certificate in PEM form, got an empty file'],
  ['text.txt', 'hub.key', 'certFile', 'a certificate in PEM form, got no PEM block'],
  ['hub.der', 'hub.key', 'certFile', 'a certificate in PEM form, got no PEM block'],
  ['hub.key', 'hub.crt', 'certFile', 'a certificate in PEM form, got "PRIVATE KEY"'],
  ['broken.crt', 'hub.key', 'certFile', 'a certificate in PEM form, got a file that cannot be used \\(.+\\)'],
  ['hub.crt', 'text.txt', 'keyFile', 'a private key in PEM form, got no PEM block'],
  ['hub.crt', 'hub.crt', 'keyFile', 'a private key in PEM form, got "CERTIFICATE"'],
  ['hub.crt', 'broken.key', 'keyFile', 'a private key in PEM form, got a file that cannot be used \\(.+\\)'],
  ['hub.crt', 'encrypted.key', 'keyFile', 'a private key without a passphrase, got an encrypted one; .+'],
  ['hub.crt', 'old-encrypted.key', 'keyFile', 'a private key without a passphrase, got an encrypted one; .+'],
  [
    'hub.crt',
    'other.key',
    'keyFile',
    'the private key of the certificate in .*/hub.crt, got the key of another certificate',
  ],
  ['short.crt', 'short.key', 'keyFile', `${keys}, got an RSA key of 1024 bits`],
  ['curve.crt', 'curve.key', 'keyFile', `${keys}, got an EC key on secp256k1`],
];
test('HTTPS: each fault of a certificate has its own sentence, and prevents the start', async (t) => {
  const folder = await createFolder(t, {
    'text.txt': 'not a certificate',
    'empty.txt': '\n',
    'large.txt': 'x'.repeat(1024 * 1024 + 1),
    'broken.crt': '-----BEGIN CERTIFICATE-----\nbm90IGEgY2VydGlmaWNhdGU=\n-----END CERTIFICATE-----\n',
    'broken.key': '-----BEGIN PRIVATE KEY-----\nbm90IGEga2V5\n-----END PRIVATE KEY-----\n',
  });
  await mkdir(join(folder, 'folder'));
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  for (const name of ['hub', 'other']) makeCertificate(folder, name);
  makeCertificate(folder, 'short', { key: ['-newkey', 'rsa:1024'] });
  makeCertificate(folder, 'curve', { key: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp256k1'] });
  openssl('x509', '-in', 'hub.crt', '-outform', 'der', '-out', 'hub.der');
  openssl('pkey', '-in', 'hub.key', '-aes256', '-passout', 'pass:secret', '-out', 'encrypted.key');
  openssl('ec', '-in', 'hub.key', '-aes256', '-passout', 'pass:secret', '-out', 'old-encrypted.key');
  for (const [certFile, keyFile, setting, expected] of faults) {
    const tls = { certFile: join(folder, certFile), keyFile: join(folder, keyFile) };
    const error = await t.throwsAsync(startTestHub(t, { connections: { api: { ...api, tls } } }));
    t.like(error, { code: 'cannot-start' });
    const file = setting === 'certFile' ? certFile : keyFile;
    t.regex(
      error.message,
      new RegExp(`:\\d+: connections\\.api\\.tls\\.${setting}: ${join(folder, file)}: expected ${expected}$`),
    );
  }
});

const dates: [what: string, from: string, to: string, got: string][] = [
  ['has expired', '20200101000000Z', '20210101000000Z', 'got one that expired on 2021-01-01'],
  ['is yet to become valid', '20880101000000Z', '20890101000000Z', 'got one that is valid from 2088-01-01'],
];
for (const [what, from, to, got] of dates)
  test(`HTTPS: a certificate that ${what} is shown, with a warning and a connection that is degraded`, async (t) => {
    const folder = await createFolder(t);
    makeCertificate(folder, 'hub');
    dateCertificate(folder, 'hub', from, to);
    const tls = { certFile: join(folder, 'hub.crt'), keyFile: join(folder, 'hub.key') };
    const hub = await startTestHub(t, { connections: { api: { ...api, tls } } });
    const reason = `tls.certFile: ${tls.certFile}: expected a certificate that is valid today, ${got}`;
    t.like(statusOf(hub, 'api'), { state: 'degraded', reason });
    const warnings = hub.lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
    t.deepEqual(warnings, [`connection "api" is degraded: ${reason}`]);
    const wire = await openWire(t, hub.port, 'any', { rejectUnauthorized: false });
    wire.send(request('GET /hub/health'));
    t.is((await wire.answer()).status, 200);
  });

test('HTTPS: the hub warns of a certificate 30 days before its end', async (t) => {
  const folder = await createFolder(t);
  const warnings = async (days: number) => {
    makeCertificate(folder, 'hub', { dates: ['-days', String(days)] });
    const tls = { certFile: join(folder, 'hub.crt'), keyFile: join(folder, 'hub.key') };
    const hub = await startTestHub(t, { connections: { api: { ...api, tls } } });
    t.is(statusOf(hub, 'api').state, 'running');
    return hub.lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
  };
  t.deepEqual(await warnings(31), []);
  const [warning = ''] = await warnings(20);
  t.regex(warning, /^tls\.certFile: .*\/hub\.crt: the certificate expires in (19|20) days, on \d{4}-\d\d-\d\d$/);
});

test('HTTPS: an unreadable file is named', (t) => {
  const error = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
  const { message } = unreadable('keyFile', '/etc/hub.key', error); // specs may run as root, who can read any file
  t.is(message, 'tls.keyFile: /etc/hub.key: expected a PEM file, got one that the user of the hub may not read');
});

test('HTTPS: the days before and after a certificate is valid', (t) => {
  const files = { certFile: 'hub.crt', keyFile: 'hub.key' };
  const certificate = { names: '', validFrom: Date.UTC(2026, 0, 10), validTo: Date.UTC(2026, 3, 10) };
  const rows: [day: number, invalid: string | undefined, notice: string | undefined][] = [
    [Date.UTC(2026, 0, 9), 'got one that is valid from 2026-01-10', undefined],
    [Date.UTC(2026, 0, 11), undefined, undefined],
    [Date.UTC(2026, 2, 10), undefined, undefined],
    [Date.UTC(2026, 2, 12), undefined, 'in 29 days'],
    [Date.UTC(2026, 3, 9), undefined, 'in 1 day'],
    [Date.UTC(2026, 3, 9, 12), undefined, 'within a day'],
    [Date.UTC(2026, 3, 11), 'got one that expired on 2026-04-10', undefined],
  ];
  for (const [day, invalid, notice] of rows) {
    const where = 'tls.certFile: hub.crt: ';
    t.is(
      whyInvalid(files, certificate, day),
      invalid && `${where}expected a certificate that is valid today, ${invalid}`,
    );
    t.is(noticeOf(files, certificate, day), notice && `${where}the certificate expires ${notice}, on 2026-04-10`);
  }
});
