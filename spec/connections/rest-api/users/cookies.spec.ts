// The cookie of who has signed in: others of its name do not hide it, and by HTTPS, also that of a proxy, it is Secure.

import test, { type ExecutionContext } from 'ava';
import { createFolder } from '../../../support/folder.ts';
import { type Answer, ask, openWire } from '../../../support/http.ts';
import { api, type HubUnderTest, startTestHub } from '../../../support/hub.ts';
import { needs } from '../../../support/programs.ts';
import { handshake } from '../../../support/sockets/socket.ts';
import { makeCertificate } from '../../../support/system/certificate.ts';

needs('openssl');

const desk = { type: 'dummy', parameters: ['lamp,B,true'] };
const users = {
  ann: { password: 'geheim', read: ['**'], write: ['**'] },
  bob: { password: 'bobs', read: ['**'] },
  root: { token: 'token-of-root-of-hub', read: ['**'], manage: true },
};
const json = { 'content-type': 'application/json', accept: 'application/json' };
const byHttps = { 'x-forwarded-proto': 'https' };
const read = 'GET /parameters/desk/lamp';

const start = (t: ExecutionContext, settings: object = {}): Promise<HubUnderTest> =>
  startTestHub(t, { connections: { api: { ...api, users, ...settings }, desk } });
const post = (t: ExecutionContext, port: number, path: string, body: object, headers: object = {}, ca?: string) =>
  ask(t, port, `POST ${path}`, { headers: { ...json, ...headers }, body: JSON.stringify(body), ...(ca && { ca }) });
const signIn = (t: ExecutionContext, port: number, headers: object = {}, user = 'ann', password = 'geheim') =>
  post(t, port, '/hub/sign-in', { user, password }, headers);
/** Who comes with a header `Cookie`; empty: nobody. */
const handshakeRequest = async (t: ExecutionContext, port: number, cookie: string): Promise<string> =>
  JSON.parse((await ask(t, port, 'GET /hub/me', { headers: { ...json, cookie } })).text).user;
const setOf = ({ headers }: Answer) => headers['set-cookie']!;
const pairOf = (answer: Answer) => setOf(answer).split(';')[0]!;

const plain = /^patchbay-\d+=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/;
const secure = /^__Host-patchbay-\d+=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure$/;

test('a foreign cookie of the same name, before or after it, signs nobody out', async (t) => {
  const hub = await start(t);
  const right = pairOf(await signIn(t, hub.port));
  const name = right.split('=')[0]!;
  const wrong = [
    `${name}=x`,
    `${name}=`,
    name,
    `${name}=${'x'.repeat(43)}`,
    `${name}=${'y'.repeat(43)}`,
    `${name}="${right.split('=')[1]}"`,
  ]; // prettier-ignore
  for (const other of [...wrong, `__Host-${name}=${'z'.repeat(43)}`, 'theme=dark', 'theme=a,b'])
    for (const cookie of [
      `${other}; ${right}`,
      `${right}; ${other}`,
      `${other};${right}`,
      `a=b; ${other}; ${right}; c=d`,
    ])
      t.is(await handshakeRequest(t, hub.port, cookie), 'ann', cookie);
  const most = Array.from({ length: 60 }, (_, index) => `${name}=${`${index}`.padStart(43, 'x')}`);
  t.is(await handshakeRequest(t, hub.port, [...most, right].join('; ')), 'ann', 'as many as a header has room for');
  t.is(await handshakeRequest(t, hub.port, wrong.join('; ')), '');
  t.is(await handshakeRequest(t, hub.port, `x${right}; ${right}x`), '');
});

test('a cookie is found in several headers, and for writes and sockets as well', async (t) => {
  const hub = await start(t);
  const right = pairOf(await signIn(t, hub.port));
  const wrong = `${right.split('=')[0]}=${'x'.repeat(43)}`;
  for (const lines of [
    [`Cookie: ${wrong}`, `Cookie: ${right}`],
    ['Cookie: a=b', `cookie: ${right}`],
    [`Cookie: ${wrong}; ${right}`, 'Cookie: c=d'],
  ]) {
    // prettier-ignore
    for (const [line, more, status] of [
      ['GET /parameters/desk/lamp', [], 200],
      ['GET /update?parameter=desk/lamp&value=1', ['Origin: http://localhost'], 200],
      ['GET /ws', ['Origin: http://localhost', ...Object.entries(handshake()).map((pair) => pair.join(': '))], 101],
    ] as const) {
      const wire = await openWire(t, hub.port);
      wire.send(`${[`${line} HTTP/1.1`, 'Host: localhost', ...lines, ...more].join('\r\n')}\r\n\r\n`);
      t.is((await wire.answer()).status, status, `${line} ${lines}`);
    }
  }
});

test('if a browser is signed in twice, the cookie that only HTTPS can set counts', async (t) => {
  const hub = await start(t, { trustedProxies: ['127.0.0.1'] });
  const ann = pairOf(await signIn(t, hub.port, byHttps));
  const bob = pairOf(await signIn(t, hub.port, {}, 'bob', 'bobs'));
  t.regex(ann, /^__Host-/);
  t.notRegex(bob, /^__Host-/);
  t.is(await handshakeRequest(t, hub.port, `${bob}; ${ann}`), 'ann');
  t.is(await handshakeRequest(t, hub.port, `${ann}; ${bob}`), 'ann');
});

test('behind a trusted proxy the cookie is Secure if the proxy reports HTTPS, and only then', async (t) => {
  const hub = await start(t, { trustedProxies: ['127.0.0.1'] });
  for (const headers of [
    byHttps,
    { 'x-forwarded-proto': 'HTTPS' },
    { 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.7' },
    { 'x-forwarded-proto': 'https, http', 'x-forwarded-for': '192.0.2.7, 127.0.0.1' },
    { forwarded: 'for=192.0.2.7;proto=https' },
    { forwarded: 'proto="https"' },
  ])
    t.regex(setOf(await signIn(t, hub.port, headers)), secure, JSON.stringify(headers));
  for (const headers of [
    {},
    { 'x-forwarded-proto': 'http' },
    { 'x-forwarded-proto': 'https, http' },
    { forwarded: 'for=192.0.2.7;proto=https, for=192.0.2.8;proto=http' },
    { 'x-forwarded-proto': 'https', forwarded: 'proto=http' },
    { 'x-forwarded-ssl': 'on', 'front-end-https': 'on' },
  ])
    t.regex(setOf(await signIn(t, hub.port, headers)), plain, JSON.stringify(headers));
});

test('a client without a trusted proxy does not determine the kind of its cookie', async (t) => {
  const hub = await start(t, { trustedProxies: ['127.0.0.2'] });
  for (const headers of [byHttps, { forwarded: 'for=192.0.2.7;proto=https' }])
    t.regex(setOf(await signIn(t, hub.port, headers)), plain);
  const folder = await createFolder(t);
  const ca = makeCertificate(folder, 'localhost');
  const tls = { certFile: `${folder}/localhost.crt`, keyFile: `${folder}/localhost.key` };
  const own = await start(t, { tls });
  const answer = await post(t, own.port, '/hub/sign-in', { user: 'ann', password: 'geheim' }, {}, ca);
  t.regex(setOf(answer), secure);
});

test('a cookie from before the hub knew of HTTPS remains valid, and a sign-in by HTTPS replaces it', async (t) => {
  const hub = await start(t, { trustedProxies: ['127.0.0.1'] });
  const old = pairOf(await signIn(t, hub.port));
  const headers = { ...byHttps, cookie: old, origin: 'https://localhost' };
  t.is((await ask(t, hub.port, read, { headers })).status, 200);
  const [set, cleared] = setOf(await signIn(t, hub.port, headers)).split(/, (?=patchbay)/);
  t.regex(set!, secure);
  t.regex(cleared!, /^patchbay-\d+=; Path=\/; Max-Age=0; HttpOnly; SameSite=Strict; Secure$/);
});

test('a sign-out is effective for any of several cookies in the browser', async (t) => {
  const hub = await start(t, { trustedProxies: ['127.0.0.1'] });
  const [old, older] = [pairOf(await signIn(t, hub.port)), pairOf(await signIn(t, hub.port))];
  const now = pairOf(await signIn(t, hub.port, byHttps));
  const stays = pairOf(await signIn(t, hub.port));
  const cookie = [old, now, older].join('; ');
  const answer = await post(t, hub.port, '/hub/sign-out', {}, { ...byHttps, cookie, origin: 'https://localhost' });
  t.is(answer.status, 200);
  t.regex(
    setOf(answer),
    /^__Host-patchbay-\d+=; Path=\/; Max-Age=0; .*; Secure, patchbay-\d+=; Path=\/; Max-Age=0; .*; Secure$/,
  );
  for (const ended of [cookie, old, now, older]) t.is(await handshakeRequest(t, hub.port, ended), '', ended);
  t.is(await handshakeRequest(t, hub.port, stays), 'ann');
});
