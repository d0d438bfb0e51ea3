// The HTTP parts of the trial: nginx with Basic, gzip, TLS, redirects and a rate limit, lighttpd with Digest, and many polls at once.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../support/deadline.ts';
import { thisTree } from '../../support/folder.ts';
import { statusOf } from '../../support/hub.ts';
import { freePort, isListening } from '../../support/system/port.ts';
import { startHub } from '../../support/system/task-process.ts';
import { notify } from '../trial.ts';
import type { Breaks, Stage } from './stage.ts';

const user = { username: 'user', password: 'pass word' };

/** A lamp whose state is a file of a web server, which PUT replaces. */
const lamp = {
  about: 'a lamp that is a file of a web server',
  transports: ['http'],
  timeout: '500ms',
  parameters: {
    on: {
      type: 'B',
      ask: { path: '/lamp.json', reply: { on: '{value}' }, every: '100ms' },
      write: {
        method: 'PUT',
        path: '/lamp.json',
        body: { on: '{value}', text: 'x'.repeat(2000) },
        reply: 204,
        // biome-ignore lint/suspicious/noThenProperty: it is a key of descriptions
        then: 'ask',
      },
    },
  },
};

/** What nginx has besides: an address that is not there, a redirect, and one that may be asked twice a second. */
const further = {
  there: {
    type: 'B',
    ask: {
      path: '/none',
      reply: [
        { pattern: 404, value: 'false' },
        { pattern: 200, value: 'true' },
      ],
    },
  },
  moved: { type: 'B', ask: { path: '/old', reply: { on: '{value}' }, every: '100ms' } },
};

const nginxOf = (folder: string, port: number, tlsPort: number) => `
daemon off;
master_process off;
pid ${folder}/pid;
error_log ${folder}/error.log;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  default_type application/json;
  keepalive_requests 1000000;
  gzip on; gzip_types application/json;
  limit_req_zone $binary_remote_addr zone=few:1m rate=10r/s;
  limit_req_status 429;
  root ${folder}/www;
  server {
    listen 127.0.0.1:${port};
    location / { auth_basic hub; auth_basic_user_file ${folder}/users; dav_methods PUT; }
    location = /old { return 302 /lamp.json; }
    location = /few { limit_req zone=few; try_files /lamp.json =404; }
    location = /level { return 200 '{"level":1}'; }
  }
  server {
    listen 127.0.0.1:${tlsPort} ssl;
    ssl_certificate ${folder}/cert.pem; ssl_certificate_key ${folder}/key.pem;
  }
}
`;

async function startNginx(stage: Stage) {
  const folder = await stage.folder({
    'www/lamp.json': JSON.stringify({ on: false, text: 'x'.repeat(2000) }),
    users: `${user.username}:{PLAIN}${user.password}\n`,
  });
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const made = spawnSync('openssl', [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-keyout',
    key,
    '-out',
    cert,
    '-days',
    '2',
    '-subj',
    '/CN=lamp',
  ]);
  assert.equal(made.status, 0, String(made.stderr));
  const [port, tlsPort] = [await freePort(), await freePort()];
  const file = join(await stage.folder({ 'nginx.conf': nginxOf(folder, port, tlsPort) }), 'nginx.conf');
  const start = async () => {
    const server = stage.run('nginx', ['-c', file]);
    await eventually(() => isListening(port), 'nginx to listen');
    return server;
  };
  const { fingerprint256 } = new X509Certificate(await readFile(cert));
  return { port, tlsPort, start, cert, fingerprint256 };
}

export async function tryNginx(stage: Stage, breaks: Breaks): Promise<void> {
  const { port, tlsPort, start, cert, fingerprint256 } = await startNginx(stage);
  const server = await start();
  const few = { few: { type: 'B', ask: { path: '/few', reply: { on: '{value}' }, every: '20ms' } } };
  const only = { ...lamp, parameters: { on: { ...lamp.parameters.on, write: undefined } } };
  const folder = await stage.folder({
    'lamp.json5': JSON.stringify({ ...lamp, parameters: { ...lamp.parameters, ...further } }),
    'few.json5': JSON.stringify({ ...lamp, parameters: few }),
    'tls.json5': JSON.stringify(only),
  });
  const device = (name: string, settings: object) => ({ type: 'device', protocol: join(folder, name), ...settings });
  const http = `http://127.0.0.1:${port}/`;
  const https = `https://127.0.0.1:${tlsPort}/`;
  const staged = await stage.startHub({
    it: device('lamp.json5', { http, auth: { basic: user } }),
    wrong: device('lamp.json5', { http, auth: { basic: { ...user, password: 'another' } } }),
    few: device('few.json5', { http }),
    pinned: device('tls.json5', { http: https, tls: { fingerprint: fingerprint256 } }),
    mistaken: device('tls.json5', { http: https, tls: { fingerprint: fingerprint256.replaceAll(/[0-9]/g, '0') } }),
    unknown: device('tls.json5', { http: https }),
    host: device('tls.json5', { http: https, tls: { caFile: cert } }),
  });
  await staged.logged(/^connection "wrong" is degraded: .* 401 Unauthorized \(check auth\)/);
  await staged.logged(/^connection "mistaken" is degraded: .* expected the certificate /);
  await staged.logged(/^connection "unknown" is degraded: .* its certificate is self-signed; set tls\.caFile/);
  await staged.logged(/^connection "host" is degraded: .* Hostname\/IP does not match/);
  await eventually(() => ['few', 'pinned'].every((id) => statusOf(staged.hub, id).state === 'running'), 'the others');
  assert.equal(staged.hub.find('pinned/on')!.value, false);
  await staged.set({ on: true });
  await eventually(() => staged.value('moved') === true, 'the redirect to follow');
  await staged.set({ on: false });
  await eventually(() => staged.value('moved') === false, 'the redirect to follow');
  assert.equal(staged.value('there'), false, 'a status is a value');
  const shown = JSON.stringify(staged.hub.wire('it', 0));
  assert.ok(shown.includes('content-encoding: gzip'), 'answers are compressed');
  assert.ok(shown.includes('HTTP 304'), 'an answer that has not changed has no body');
  assert.ok(!/pass word|dXNlcjp/.test(shown), 'no trace shows the password');
  await eventually(() => JSON.stringify(staged.hub.wire('few', 0)).includes('HTTP 429'), 'a limit that is hit');
  assert.equal(statusOf(staged.hub, 'few').state, 'running');
  await staged.break('on', server, start, breaks);
}

const lighttpdOf = (folder: string, port: number, algorithm: string) => `
server.document-root = "${folder}/www"
server.bind = "127.0.0.1"
server.port = ${port}
server.errorlog = "${folder}/error.log"
server.modules = ( "mod_auth", "mod_authn_file" )
mimetype.assign = ( ".json" => "application/json" )
auth.backend = "plain"
auth.backend.plain.userfile = "${folder}/users"
auth.require = ( "" => ( "method" => "digest", "realm" => "hub", "require" => "valid-user", "algorithm" => "${algorithm}" ) )
`;

export async function tryLighttpd(stage: Stage, breaks: Breaks): Promise<void> {
  const folder = await stage.folder({ 'www/lamp.json': '{"on":true}', users: `${user.username}:${user.password}\n` });
  const description = { ...lamp, parameters: { on: { ...lamp.parameters.on, write: { path: '/lamp.json' } } } };
  const protocol = join(await stage.folder({ 'lamp.json5': JSON.stringify(description) }), 'lamp.json5');
  const connections: Record<string, object> = {};
  const starts = new Map<string, () => Promise<ReturnType<Stage['run']>>>();
  for (const [id, algorithm] of [
    ['it', 'SHA-256'],
    ['md5', 'MD5'],
  ] as const) {
    const port = await freePort();
    const configured = await stage.folder({ 'lighttpd.conf': lighttpdOf(folder, port, algorithm) });
    starts.set(id, async () => {
      const server = stage.run('lighttpd', ['-D', '-f', join(configured, 'lighttpd.conf')]);
      await eventually(() => isListening(port), 'lighttpd to listen');
      return server;
    });
    connections[id] = { type: 'device', http: `http://127.0.0.1:${port}/`, protocol, auth: { digest: user } };
    connections[`${id}-wrong`] = { ...connections[id], auth: { digest: { ...user, password: 'another' } } };
  }
  await starts.get('md5')!();
  const server = await starts.get('it')!();
  const staged = await stage.startHub(connections);
  await eventually(() => statusOf(staged.hub, 'md5').state === 'running', 'Digest with MD5');
  for (const id of ['it', 'md5'])
    await staged.logged(
      new RegExp(`^connection "${id}-wrong" is degraded: .* 401 Unauthorized \\(check auth\\.digest\\)`),
    );
  assert.equal(staged.value('on'), true);
  assert.ok(!JSON.stringify(staged.hub.wire('it', 0)).includes('pass word'), 'no trace shows the password');
  await staged.break('on', server, starts.get('it')!, breaks);
}

const polledDevices = 100;
const polledEach = 10;
/** The hub is asked to poll 12,500 times a second, and has to do so this often. */
const pollEvery = '80ms';
const pollsPerSecond = 10_000;

export async function tryHttpLoad(stage: Stage, { stops: isFull }: Breaks): Promise<void> {
  const { port, start } = await startNginx(stage);
  await start();
  const parameters = {
    [`level/{n:1..${polledEach}}`]: {
      type: 'I',
      ask: { path: '/level', reply: { level: '{value}' }, every: pollEvery },
    },
  };
  const description = { about: 'numbers', transports: ['http'], timeout: '5s', parameters };
  const folder = await stage.folder({ 'level.device.json5': JSON.stringify(description) });
  const device = { type: 'device', http: `http://127.0.0.1:${port}/`, protocol: './level.device.json5' };
  const connections = Object.fromEntries(Array.from({ length: polledDevices }, (_, index) => [`d${index}`, device]));
  const hub = await startHub({ connections }, folder, { hubFolder: thisTree });
  try {
    const frames = async () => {
      const text = await (await fetch(`http://127.0.0.1:${hub.port}/hub/metrics`)).text();
      const counts = text.matchAll(/^patchbay_device_frames_total\{[^}]*direction="in"[^}]*\} (\d+)/gm);
      return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
    };
    await eventually(async () => (await frames()) > polledDevices * polledEach * 2, 'the first answers');
    const [startMs, before, cpu] = [performance.now(), await frames(), await cpuMsOf(hub.pid)];
    await new Promise((resolve) => setTimeout(resolve, isFull ? 10_000 : 2000));
    const answers = (await frames()) - before;
    const ms = performance.now() - startMs;
    const perSecond = (answers / ms) * 1000;
    notify(
      `  ${perSecond.toFixed(0)} answers/s of ${polledDevices} devices, ${((((await cpuMsOf(hub.pid)) - cpu) / ms) * 100).toFixed(0)} % of a core`,
    );
    if (isFull) assert.ok(perSecond > pollsPerSecond, `expected ${pollsPerSecond} answers/s`);
  } finally {
    await hub.stop(true);
  }
}

/** The processor time that a process has used, in steps of 10 ms. */
async function cpuMsOf(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /s, '').split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
