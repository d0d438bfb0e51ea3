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
      /: tls\.keyFile: expected the private key of the certificate/,
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

test('an invalid seed is a mistake', async (t) => {
  const house = { type: 'nats', domain: 'd', hub: 'west', credentials: { nkey: 'SUnothing' } };
  await t.throwsAsync(startTestHub(t, { connections: { house } }), { message: /expected the seed of a user: SU and/ });
});

type Pair = ReturnType<typeof nkeys.createUser>;

/** A JWT of NATS, signed by whoever issues it. */
function jwtOf(issuer: Pair, sub: string, name: string, claims: object): string {
  const part = (value: object | Uint8Array) =>
    Buffer.from(value instanceof Uint8Array ? value : JSON.stringify(value)).toString('base64url');
  const iat = Math.floor(Date.now() / 1000);
  const body = { jti: name, iat, iss: issuer.getPublicKey(), name, sub, nats: { ...claims, version: 2 } };
  const signed = `${part({ typ: 'JWT', alg: 'ed25519-nkey' })}.${part(body)}`;
  return `${signed}.${part(issuer.sign(new TextEncoder().encode(signed)))}`;
}

function credsOf(jwt: string, seed: string): string {
  const block = (what: string, text: string, dashes: string) =>
    `-----BEGIN ${what}-----\n${text}\n${dashes}END ${what}${dashes}\n\n`;
  return block('NATS USER JWT', jwt, '------') + block('USER NKEY SEED', seed, '------');
}

test('by a file of credentials, at a server that knows nobody but its operator', async (t) => {
  const operator = nkeys.createOperator();
  const [account, system] = [nkeys.createAccount(), nkeys.createAccount()];
  const [user, stranger] = [nkeys.createUser(), nkeys.createUser()];
  const unlimited = { subs: -1, data: -1, payload: -1, conn: -1, leaf: -1, imports: -1, exports: -1, wildcards: true };
  const storage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  const accountOf = (pair: Pair, name: string, limits: object) =>
    `${pair.getPublicKey()}: ${jwtOf(operator, pair.getPublicKey(), name, { type: 'account', limits })}`;
  const userJwt = jwtOf(account, user.getPublicKey(), 'west', {
    type: 'user',
    pub: {},
    sub: {},
    subs: -1,
    data: -1,
    payload: -1,
  });
  const nats = await startNats(1, {
    configuration: `
      operator: ${jwtOf(operator, operator.getPublicKey(), 'operator', { type: 'operator' })}
      resolver: MEMORY
      system_account: ${system.getPublicKey()}
      resolver_preload: {
        ${accountOf(system, 'system', unlimited)}
        ${accountOf(account, 'house', { ...unlimited, ...storage })}
      }`,
  });
  t.teardown(() => nats.end());
  const folder = await createFolder(t, {
    'hub.creds': credsOf(userJwt, seedOf(user)),
    'other.creds': credsOf(userJwt, seedOf(stranger)),
    'no.creds': 'secret',
  });
  const of = (name: string) => ({ credentials: { file: join(folder, name) } });
  await expectStates(t, nats.urls, [
    [of('hub.creds'), /^running/],
    [of('other.creds'), refused],
    [
      of('no.creds'),
      /: credentials\.file: expected a credentials file, got ".+\/no\.creds", which does not contain both a user JWT and a seed$/,
    ],
    [of('none'), /: credentials\.file: expected a credentials file, got ".+\/none" \(ENOENT/],
    [{}, refused],
  ]);
});
