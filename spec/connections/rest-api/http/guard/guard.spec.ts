// Who may ask at all (D-15): DNS rebinding, cross-site requests, cross-site WebSocket hijacking.

import { hostname } from 'node:os';
import test, { type ExecutionContext } from 'ava';
import { createFolder } from '../../../../support/folder.ts';
import { ask, openWire, request } from '../../../../support/http.ts';
import { api, expectQuietLog, startTestHub, writer } from '../../../../support/hub.ts';
import { needs } from '../../../../support/programs.ts';
import { handshake } from '../../../../support/sockets/socket.ts';
import { makeCertificate } from '../../../../support/system/certificate.ts';

needs('openssl');

const startDesk = (t: ExecutionContext, settings: object = {}) =>
  startTestHub(t, {
    connections: { api: { ...api, ...settings }, desk: { type: 'dummy', parameters: ['lamp,B,true'] } },
  });
const read = 'GET /parameters/desk/lamp';
const write = 'GET /update?parameter=desk/lamp&value=false';

async function upgrade(t: ExecutionContext, port: number, headers: Record<string, string>): Promise<number> {
  const wire = await openWire(t, port);
  wire.send(request('GET /ws', { headers: { ...handshake(), ...headers } }));
  return (await wire.answer()).status;
}

const allowedHosts = ['studio.example', 'PANEL.example'];
const hosts: [host: string, isOurs: boolean][] = [
  ['localhost', true],
  ['LocalHost:17011', true],
  ['localhost.', true],
  ['localhost:', true],
  ['localhost.:80', true],
  ['[::1]:', true],
  ['[::ffff:127.0.0.1]', true],
  ['127.0.0.1', true],
  ['192.168.1.20:8080', true],
  ['[::1]:17011', true],
  ['[fe80::1]', true],
  [hostname(), true],
  [`${hostname().split('.')[0]}.local:80`, true],
  ['studio.example', true],
  ['panel.EXAMPLE:17011', true],
  ['evil.example', false],
  ['evil.example:17011', false],
  ['localhost.evil.example', false],
  ['127.0.0.1.evil.example', false],
  ['studio.example.evil', false],
  ['256.1.1.1', false],
];
for (const [host, isOurs] of hosts)
  test(`D-15: Host ${host} is ${isOurs ? 'ours' : 'refused, for any request'}`, async (t) => {
    const hub = await startDesk(t, { allowedHosts });
    const answer = await ask(t, hub.port, read, { headers: { host } });
    t.is(answer.status, isOurs ? 200 : 403);
    if (!isOurs) t.is(answer.text, `Host: expected a name of this hub, got "${host}"; add names with allowedHosts\n`);
    for (const line of ['GET /', 'GET /hub/health', 'HEAD /parameters/desk/lamp', 'POST /ws'])
      t.is((await ask(t, hub.port, line, { headers: { host } })).status === 403, !isOurs, line);
    t.is(await upgrade(t, hub.port, { host }), isOurs ? 101 : 403);
    await ask(t, hub.port, write, { headers: { host } });
    t.is(hub.find('desk/lamp')?.value, !isOurs);
    expectQuietLog(t, hub);
  });

const malformed = [
  ...[
    '',
    ' ',
    'bad host',
    'localhost evil.example',
    'evil.example#localhost',
    'evil@localhost',
    'localhost/x',
    'http://localhost',
  ],
  ...[
    'localhost?',
    '[evil]',
    '[::1',
    '::1',
    '[::1]x',
    '[127.0.0.1]',
    'localhost:x',
    'localhost:80:80',
    'localhost:-1',
    ':80',
  ],
  ...[
    'localhost:65536',
    'localhost:99999999999',
    'local\thost',
    '%zz',
    'lo"cal',
    'löcal',
    '{}',
    'a|b',
    'a\\b',
    '.',
    '..:x',
  ],
]; // prettier-ignore
test('RFC 9112: a malformed Host is answered 400, for any request', async (t) => {
  const hub = await startDesk(t, { allowedHosts });
  for (const host of malformed.filter((host) => host !== '.')) {
    for (const line of [
      read,
      write,
      'GET /',
      'GET /hub/health/live',
      'HEAD /parameters/desk/lamp',
      'POST /ws',
      'PUT /update',
      'OPTIONS /update',
    ]) // prettier-ignore
      t.is((await ask(t, hub.port, line, { headers: { host } })).status, 400, `${line} of ${JSON.stringify(host)}`);
    t.is(await upgrade(t, hub.port, { host }), 400, host);
  }
  t.is(hub.find('desk/lamp')?.value, true);
  expectQuietLog(t, hub);
});

test('RFC 9112: a request without Host, or with two of them, is answered 400', async (t) => {
  const hub = await startDesk(t);
  for (const hosts of ['', 'Host: localhost\r\nHost: localhost\r\n', 'Host: localhost\r\nHost: evil.example\r\n']) {
    const wire = await openWire(t, hub.port);
    wire.send(`GET /parameters/desk/lamp HTTP/1.1\r\n${hosts}\r\n`);
    t.regex((await wire.closed()).toString(), /^HTTP\/1\.1 400 /, hosts);
  }
});

const origins: [origin: string, isLetIn: boolean][] = [
  ['http://localhost:17011', true],
  ['https://localhost:17011', true],
  ['http://LOCALHOST:17011', true],
  ['https://panel.example', true],
  ['https://Panel.Example', true],
  ['http://localhost', false],
  ['http://localhost:17012', false],
  ['http://panel.example', false],
  ['https://panel.example:444', false],
  ['https://evil.example', false],
  ['http://localhost:17011.evil.example', false],
  ['null', false],
  ['file://', false],
  ['nonsense', false],
  ['http://localhost:017011', true],
  ['http://localhost.:17011', true],
  ['http://localhost:17011/', false],
  ['http://localhost:17011?', false],
  ['http://localhost:17011 http://evil.example', false],
  ['http://localhost:17011, http://localhost:17011', false],
  ['http://evil@localhost:17011', false],
  ['ws://localhost:17011', false],
  ['https://panel.example:443', true],
  ['https://panel.example.', true],
  ['http://panel.example:443', false],
];
for (const [origin, isLetIn] of origins)
  test(`D-15: a page of ${origin} is ${isLetIn ? '' : 'not '}let in to write and to open sockets`, async (t) => {
    const hub = await startDesk(t, { allowedOrigins: ['https://panel.example'] });
    const headers = { host: 'localhost:17011', origin };
    t.is(await upgrade(t, hub.port, headers), isLetIn ? 101 : 403);
    const answer = await ask(t, hub.port, write, { headers });
    t.is(answer.status, isLetIn ? 200 : 403);
    if (!isLetIn)
      t.is(answer.text, `Origin: expected a page of this hub, got "${origin}"; add origins with allowedOrigins\n`);
    t.is(hub.find('desk/lamp')?.value, !isLetIn);
    const body = 'parameter=desk/lamp&value=1';
    const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' };
    t.is((await ask(t, hub.port, 'POST /update', { headers: form, body })).status, isLetIn ? 200 : 403);
    expectQuietLog(t, hub);
  });

const sites: [site: string, isLetIn: boolean][] = [
  ['same-origin', true],
  ['none', false],
  ['same-site', false],
  ['cross-site', false],
];
for (const [site, isLetIn] of sites)
  test(`D-15: a GET /update that a browser marks ${site} is ${isLetIn ? '' : 'not '}let in, a read is`, async (t) => {
    const hub = await startDesk(t);
    const headers = { 'sec-fetch-site': site };
    t.is((await ask(t, hub.port, read, { headers })).status, 200);
    t.is((await ask(t, hub.port, write, { headers })).status, isLetIn ? 200 : 403);
    t.is(hub.find('desk/lamp')?.value, !isLetIn);
    t.is(await upgrade(t, hub.port, headers), isLetIn ? 101 : 403);
  });

// These headers are what browsers sent where they tell nothing of the site: to a name of the LAN over plain HTTP, from a page that names no
// referrer. A fetch can have any Accept.
const chromium =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0';
const safari =
  'Mozilla/5.0 (iPad; CPU OS 17_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.6 Mobile/15E148 Safari/604.1';
const html = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const language = 'de,en-US;q=0.7,en;q=0.3';
const browsers: [what: string, headers: Record<string, string>][] = [
  ['Chromium, a fetch', { 'user-agent': chromium, accept: '*/*', 'accept-language': '*' }],
  [
    'Chromium, an image',
    { 'user-agent': chromium, accept: 'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8' },
  ],
  ['Chromium, a link', { 'user-agent': chromium, accept: html, 'upgrade-insecure-requests': '1' }],
  ['Firefox, a script', { 'user-agent': firefox, accept: '*/*', 'accept-language': language }],
  [
    'Firefox, an image',
    { 'user-agent': firefox, accept: 'image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5' },
  ],
  [
    'Firefox, a link',
    { 'user-agent': firefox, accept: html, 'accept-language': language, 'upgrade-insecure-requests': '1' },
  ],
  ['Firefox, a style', { 'user-agent': firefox, accept: 'text/css,*/*;q=0.1' }],
  ['Safari, a video', { 'user-agent': safari, accept: '*/*', range: 'bytes=0-1', 'x-playback-session-id': '1' }],
  ['Safari, a frame', { 'user-agent': safari, accept: html, 'accept-language': 'de-DE,de;q=0.9' }],
  ['a kiosk by another name, a link', { 'user-agent': 'Kiosk/3', accept: html, 'upgrade-insecure-requests': '1' }],
  ['a kiosk by another name, an image', { 'user-agent': 'Kiosk/3', accept: 'image/webp,*/*' }],
];
const programs: [what: string, headers: Record<string, string>][] = [
  ['a device that sends nothing', {}],
  ['curl', { 'user-agent': 'curl/7.88.1', accept: '*/*' }],
  ['wget', { 'user-agent': 'Wget/1.21.3', accept: '*/*', 'accept-encoding': 'identity' }],
  ['requests', { 'user-agent': 'python-requests/2.32.3', accept: '*/*', 'accept-encoding': 'gzip, deflate' }],
  ['urllib', { 'user-agent': 'Python-urllib/3.11', 'accept-encoding': 'identity' }],
  ['Node.js', { 'user-agent': 'node', accept: '*/*', 'accept-language': '*', 'sec-fetch-mode': 'cors' }],
  ['axios', { 'user-agent': 'axios/1.7.7', accept: 'application/json, text/plain, */*' }],
  ['Go', { 'user-agent': 'Go-http-client/1.1', 'accept-encoding': 'gzip' }],
  ['Java', { 'user-agent': 'Java/17.0.9', accept: 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2' }],
  ['Qt', { 'user-agent': 'Mozilla/5.0', 'accept-language': 'en-US,*', 'accept-encoding': 'gzip, deflate' }],
  ['Android', { 'user-agent': 'Dalvik/2.1.0 (Linux; U; Android 14; Pixel)' }],
  ['PowerShell 5', { 'user-agent': 'Mozilla/5.0 (Windows NT; Windows NT 10.0; de-DE) WindowsPowerShell/5.1.19041.1' }],
  [
    'PowerShell 7',
    { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0; Microsoft Windows 10.0.22621; en-US) PowerShell/7.4.1' },
  ],
  ['WinHTTP', { 'user-agent': 'Mozilla/4.0 (compatible; Win32; WinHttp.WinHttpRequest.5)', accept: '*/*' }],
  ['a proxy', { 'user-agent': 'curl/8.5.0', accept: '*/*', 'x-forwarded-for': '10.0.0.7', connection: 'close' }],
];
const own = { referer: 'http://localhost/panel.html?x=http://evil.example' };

for (const [what, headers] of browsers)
  test(`GET /update of a browser without a page is refused, one from a page of this hub is accepted: ${what}`, async (t) => {
    const hub = await startDesk(t);
    const answer = await ask(t, hub.port, write, { headers });
    t.is(answer.status, 403);
    t.regex(
      answer.text,
      /^Referer: expected a page of this hub, got a browser that sends none; set values in the console/,
    );
    for (const referer of [
      'http://evil.example/',
      'http://localhost:81/',
      'about:client',
      'http://localhost@evil.example/',
    ])
      t.is((await ask(t, hub.port, write, { headers: { ...headers, referer } })).status, 403, referer);
    t.is(
      (await ask(t, hub.port, write, { headers: { ...headers, ...own, 'sec-fetch-site': 'cross-site' } })).status,
      403,
    );
    t.is(hub.find('desk/lamp')?.value, true);
    t.is((await ask(t, hub.port, read, { headers })).status, 200, 'it may read');
    t.is((await ask(t, hub.port, write, { headers: { ...headers, ...own } })).status, 200);
    t.is(hub.find('desk/lamp')?.value, false);
  });

for (const [what, headers] of programs)
  test(`GET /update of a program is accepted: ${what}`, async (t) => {
    const hub = await startDesk(t);
    t.is((await ask(t, hub.port, write, { headers })).status, 200);
    t.is(hub.find('desk/lamp')?.value, false);
  });

test('getUpdates: false only allows POST, for browsers and programs', async (t) => {
  const hub = await startDesk(t, { getUpdates: false });
  for (const headers of [{}, own, { 'user-agent': chromium }]) {
    const answer = await ask(t, hub.port, write, { headers });
    t.is(answer.status, 405);
    t.is(answer.headers.allow, 'POST');
    t.is(answer.text, 'expected POST, got GET\n');
  }
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  t.is((await ask(t, hub.port, 'POST /update', { headers: form, body: 'parameter=desk/lamp&value=0' })).status, 200);
  const { paths } = JSON.parse((await ask(t, hub.port, 'GET /hub/openapi.json')).text);
  t.deepEqual(Object.keys(paths['/update']), ['post']);
});

/** By plain HTTP, and by a proxy of this machine that says how its client speaks. */
const same: [host: string, scheme: 'http' | 'https', origin: string, isSame: boolean][] = [
  ['hub.lan', 'http', 'http://hub.lan', true],
  ['hub.lan', 'http', 'http://hub.lan:80', true],
  ['hub.lan:80', 'http', 'http://hub.lan', true],
  ['hub.lan:', 'http', 'http://hub.lan', true],
  ['HUB.lan', 'http', 'HTTP://Hub.Lan', true],
  ['hub.lan.', 'http', 'http://hub.lan.', true],
  ['hub.lan', 'http', 'http://hub.lan:443', false],
  ['hub.lan', 'http', 'https://hub.lan', false],
  ['hub.lan:443', 'http', 'https://hub.lan', false],
  ['hub.lan', 'https', 'https://hub.lan', true],
  ['hub.lan', 'https', 'https://hub.lan:443', true],
  ['hub.lan:443', 'https', 'https://hub.lan', true],
  ['hub.lan:8443', 'https', 'https://hub.lan:8443', true],
  ['hub.lan:8443', 'https', 'https://hub.lan', false],
  ['hub.lan', 'https', 'http://hub.lan', false],
  ['hub.lan:80', 'https', 'http://hub.lan', false],
  ['hub.lan', 'https', 'https://hub.lan.evil.example', false],
  ['hub.lan', 'https', 'null', false],
  ['[::1]:17011', 'https', 'https://[::1]:17011', true],
  ['[0:0:0:0:0:0:0:1]', 'https', 'https://[::1]', true],
  ['[::1]', 'https', 'http://[::1]', false],
  ['[::1]', 'https', 'https://[::2]', false],
  ['127.0.0.1', 'https', 'http://127.0.0.1', false],
];
for (const [host, scheme, origin, isSame] of same)
  test(`D-15: ${origin} is ${isSame ? '' : 'not '}a page of ${host}, which is reached by ${scheme}`, async (t) => {
    const settings = { allowedHosts: ['hub.lan'], trustedProxies: ['127.0.0.1'] };
    const hub = await startDesk(t, settings);
    for (const passedOn of [{ 'x-forwarded-proto': scheme }, { forwarded: `for=192.0.2.7;proto=${scheme}` }]) {
      hub.write('desk/lamp', true, writer);
      const headers = { host, origin, ...passedOn };
      t.is((await ask(t, hub.port, write, { headers })).status, isSame ? 200 : 403);
      t.is(hub.find('desk/lamp')?.value, !isSame);
      t.is(await upgrade(t, hub.port, headers), isSame ? 101 : 403);
      t.is((await ask(t, hub.port, read, { headers })).status, isSame ? 200 : 403);
      const { origin: referer, ...others } = headers;
      const named = { ...others, referer: `${referer}/page`, 'user-agent': chromium };
      t.is((await ask(t, hub.port, write, { headers: named })).status, isSame ? 200 : 403, 'by Referer');
    }
  });

test('a client without a trusted proxy has the scheme of the hub, regardless of its headers', async (t) => {
  const hub = await startDesk(t, { trustedProxies: ['127.0.0.2'] });
  for (const [origin, status] of [
    ['http://localhost', 200],
    ['https://localhost', 403],
  ] as const)
    for (const passedOn of [{}, { 'x-forwarded-proto': 'https' }, { forwarded: 'proto=https' }])
      t.is((await ask(t, hub.port, write, { headers: { origin, ...passedOn } })).status, status, origin);
});

test('if a trusted proxy does not report the scheme of its client, or there is none, pages of both schemes belong to the hub', async (t) => {
  for (const trustedProxies of [[], ['127.0.0.1']]) {
    const hub = await startDesk(t, { trustedProxies });
    for (const origin of ['http://localhost', 'https://localhost'])
      t.is((await ask(t, hub.port, write, { headers: { origin } })).status, 200);
  }
});

test('a plain HTTP page cannot write to a hub of HTTPS on the same host', async (t) => {
  const folder = await createFolder(t);
  const ca = makeCertificate(folder, 'localhost');
  const tls = { certFile: `${folder}/localhost.crt`, keyFile: `${folder}/localhost.key` };
  const hub = await startDesk(t, { tls });
  const host = `localhost:${hub.port}`;
  for (const [origin, status] of [
    [`https://${host}`, 200],
    [`http://${host}`, 403],
    ['https://localhost', 403],
    ['http://localhost', 403],
    ['null', 403],
  ] as const) {
    t.is((await ask(t, hub.port, write, { ca, headers: { host, origin } })).status, status, origin);
    const referer = `${origin}/page`;
    t.is((await ask(t, hub.port, write, { ca, headers: { host, referer, 'user-agent': chromium } })).status, status);
  }
});
