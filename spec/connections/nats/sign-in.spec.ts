// A hub signs in at real servers: over TLS, by password, token and nkey. What is wrong is told in the reason of the connection.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { nkeys } from '@nats-io/transport-node';
import test, { type ExecutionContext } from 'ava';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { startTestHub, statusOf } from '../../support/hub.ts';
import { startNats } from '../../support/nats/servers.ts';
import { needs } from '../../support/programs.ts';

needs('nats', 'openssl');

/** A certificate of a server and one of a hub, both signed by an authority of this folder. */
async function makeCertificates(t: ExecutionContext): Promise<string> {
  const folder = await createFolder(t, { 'server.ext': 'subjectAltName=IP:127.0.0.1' });
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.crt', '-days', '2', '-subj', '/CN=authority');
  for (const name of ['server', 'hub']) {
    openssl('req', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
    const extensions = name === 'server' ? ['-extfile', 'server.ext'] : [];
    const sign = ['-req', '-in', `${name}.csr`, '-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2'];
    openssl('x509', ...sign, '-out', `${name}.crt`, ...extensions);
  }
  return folder;
}

const seedOf = (pair: { getSeed(): Uint8Array }) => new TextDecoder().decode(pair.getSeed());

/** Starts hubs side by side, each with other settings; the connection of each must become as it is said. */
async function expectStates(
  t: ExecutionContext,
  servers: readonly string[],
  cases: readonly (readonly [settings: object, expected: RegExp])[],
): Promise<void> {
  await Promise.all(
    cases.map(async ([settings, expected], index) => {
      const house = { type: 'nats', servers, domain: 'd', hub: `hub-${index}`, ...settings };
      const hub = await startTestHub(t, { connections: { house } });
      const present = () => `${statusOf(hub, 'house').state} ${statusOf(hub, 'house').reason}`;
      await eventually(() => expected.test(present()), `${expected}, ${JSON.stringify(settings)}`);
    }),
  );
  t.pass();
}

const refused = /^degraded cannot reach nats:\/\/\S+: Authorization Violation$/;

test('over TLS with a certificate of its own, by password or nkey', async (t) => {
  const folder = await makeCertificates(t);
  const pathOf = (name: string) => join(folder, name);
  const [known, stranger] = [nkeys.createUser(), nkeys.createUser()];
  const files = `cert_file: "${pathOf('server.crt')}", key_file: "${pathOf('server.key')}", ca_file: "${pathOf('ca.crt')}"`;
  const nats = await startNats(1, {
    configuration: `
      tls { ${files}, verify: true, timeout: 60 }
      authorization { timeout: 60, users: [ { user: west, password: secret }, { nkey: ${known.getPublicKey()} } ] }`,
  });
  t.teardown(() => nats.end());
  const tls = { caFile: pathOf('ca.crt'), certFile: pathOf('hub.crt'), keyFile: pathOf('hub.key') };
  const credentials = { user: 'west', password: 'secret' };
  await expectStates(t, nats.urls, [
    [{ tls, credentials }, /^running/],
    [{ tls, credentials: { nkey: seedOf(known) } }, /^running/],
    [{ tls, credentials: { ...credentials, password: 'wrong' } }, refused],
    [{ tls, credentials: { nkey: seedOf(stranger) } }, refused],
    [{ tls }, refused],
    [{ tls: { ...tls, caFile: '' }, credentials }, /: unable to verify the first certificate$/],
    [{ credentials }, /: unable to verify the first certificate$/],
    [
      { tls: { ...tls, caFile: pathOf('none') }, credentials },
      /: tls\.caFile: expected a PEM file, got ".+\/none" \(ENOENT/,
    ],
    [
      { tls: { ...tls, keyFile: pathOf('hub.crt') }, credentials },
      /: tls\.keyFile: expected a private key .+ in PEM form/,
    ],
    [
      { tls: { ...tls, keyFile: pathOf('ca.key') }, credentials },
      /: tls\.keyFile: expected the key of the certificate/,
    ],
    [{ tls: { caFile: tls.caFile }, credentials }, /^degraded .+certificate/],
  ]);
});

test('by a token', async (t) => {
  const nats = await startNats(1, { configuration: 'authorization { token: secret, timeout: 60 }' });
  t.teardown(() => nats.end());
  await expectStates(t, nats.urls, [
    [{ credentials: { token: 'secret' } }, /^running/],
    [{ credentials: { token: 'wrong' } }, refused],
    [{}, refused],
    [{ tls: {}, credentials: { token: 'secret' } }, /: server does not support 'tls'$/],
    [{ servers: nats.urls.map((url) => url.replace('nats:', 'tls:')) }, /: server does not support 'tls'$/],
  ]);
});

test('a seed that is none is a mistake', async (t) => {
  const house = { type: 'nats', domain: 'd', hub: 'west', credentials: { nkey: 'SUnothing' } };
  await t.throwsAsync(startTestHub(t, { connections: { house } }), { message: /expected the seed of a user: SU and/ });
});
