// The part of the trial with Apache: Basic, Digest, ETag, chunked gzip, a redirect, and a response that takes a second.

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../support/deadline.ts';
import { statusOf } from '../../support/hub.ts';
import { freePort, isListening } from '../../support/system/port.ts';
import type { Breaks, Stage } from './stage.ts';

const user = { username: 'user', password: 'pass word' };
const modules = '/usr/lib/apache2/modules';
const loaded = [
  ['mpm_event', 'authz_core', 'authz_user', 'authn_core', 'authn_file', 'auth_basic', 'auth_digest'],
  ['filter', 'deflate', 'alias', 'mime', 'ratelimit', 'env'],
].flat();

const sha = createHash('sha1').update(user.password).digest('base64');
const digestOf = (realm: string) =>
  createHash('md5').update(`${user.username}:${realm}:${user.password}`).digest('hex');

const configOf = (folder: string, port: number) => `
ServerName lamp
ServerRoot ${folder}
DefaultRuntimeDir ${folder}
PidFile ${folder}/pid
ErrorLog ${folder}/error.log
Listen 127.0.0.1:${port}
User nobody
Group nogroup
${loaded.map((name) => `LoadModule ${name}_module ${modules}/mod_${name}.so`).join('\n')}
TypesConfig ${folder}/types
AddType application/json .json
KeepAlive On
MaxKeepAliveRequests 0
DocumentRoot ${folder}/www
<Directory ${folder}/www>
  Require all granted
</Directory>
<Location /digest>
  AuthType Digest
  AuthName hub
  AuthDigestProvider file
  AuthUserFile ${folder}/digests
  Require valid-user
</Location>
<Location /basic>
  AuthType Basic
  AuthName hub
  AuthBasicProvider file
  AuthUserFile ${folder}/users
  Require valid-user
</Location>
<Location /basic/packed.json>
  SetOutputFilter DEFLATE
</Location>
<Location /basic/slow.json>
  SetOutputFilter RATE_LIMIT
  SetEnv rate-limit 4
</Location>
Redirect 302 /basic/old /basic/lamp.json
`;

const answered = (path: string, more: object = {}) => ({
  type: 'B',
  ask: { path, reply: { on: '{value}' }, every: '200ms', ...more },
});

export async function tryApache(stage: Stage, breaks: Breaks): Promise<void> {
  const long = JSON.stringify({ on: true, text: 'x'.repeat(6000) });
  const packed = JSON.stringify({ on: true, text: randomBytes(60_000).toString('base64') }); // so long that its length is not known first
  const lamp = JSON.stringify({ on: true });
  const folder = await stage.folder({
    'www/basic/lamp.json': lamp,
    'www/basic/packed.json': packed,
    'www/basic/slow.json': long,
    'www/digest/lamp.json': lamp,
    users: `${user.username}:{SHA}${sha}\n`,
    digests: `${user.username}:hub:${digestOf('hub')}\n`,
    types: '',
    // biome-ignore format: one line each
    'basic.json5': JSON.stringify({
      about: 'files of a web server', transports: ['http'], timeout: '500ms',
      parameters: {
        on: { ...answered('/basic/lamp.json'), write: { path: '/basic/lamp.json' } },
        packed: answered('/basic/packed.json', { every: '1s' }),
        moved: answered('/basic/old'),
        slow: answered('/basic/slow.json', { timeout: '10s', every: '2s' }),
      },
    }),
    'digest.json5': JSON.stringify({
      about: 'a file of a web server',
      transports: ['http'],
      timeout: '500ms',
      parameters: { on: answered('/digest/lamp.json') },
    }),
  });
  const port = await freePort();
  const configured = await stage.folder({ 'apache2.conf': configOf(folder, port) });
  for (const path of [folder, configured]) await chmod(path, 0o755); // started by root, it reads as nobody
  const start = async () => {
    const server = stage.run('apache2', ['-X', '-f', join(configured, 'apache2.conf')]);
    await eventually(() => isListening(port), 'apache2 to listen');
    return server;
  };
  const server = await start();
  const device = (name: string, auth: object) => ({
    type: 'device',
    http: `http://127.0.0.1:${port}/`,
    protocol: join(folder, name),
    auth,
  });
  const staged = await stage.startHub({
    it: device('basic.json5', { basic: user }),
    digest: device('digest.json5', { digest: user }),
    wrong: device('digest.json5', { digest: { ...user, password: 'another' } }),
  });
  await staged.logged(/^connection "wrong" is degraded: .* 401 Unauthorized \(check auth\.digest\)/);
  await eventually(() => statusOf(staged.hub, 'digest').state === 'running', 'Digest with MD5');
  for (const id of ['on', 'packed', 'moved', 'slow'])
    await eventually(() => staged.value(id) === true, `the answer to ${id}`);
  assert.equal(staged.hub.find('digest/on')!.value, true);
  const shown = () => JSON.stringify(staged.hub.wire('it', 0));
  for (const expected of ['content-encoding: gzip', 'transfer-encoding: chunked', 'HTTP 302', 'HTTP 304'])
    await eventually(() => shown().includes(expected), `${expected} in the trace`);
  assert.ok(!/pass word|dXNlcjp/.test(shown()), 'no trace shows the password');
  await staged.break('on', server, start, breaks);
}
