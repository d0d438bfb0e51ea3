// Who comes in, by which way, and how it ends: passwords, the page to sign in, kiosk links, revocation, the audit.

import { scryptSync } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { limits, wrongInARow } from '../../../../lib/connections/rest-api/limits/client-limits.ts';
import { eventually, within } from '../../../support/deadline.ts';
import { type Answer, ask } from '../../../support/http.ts';
import { api, expectQuietLog, startHubFrom, startTestHub } from '../../../support/hub.ts';
import { openClient } from '../../../support/sockets/socket.ts';

/** As `patchbay password` makes them, but that they are compared soon. */
const salt = Buffer.alloc(16, 'salt');
const hash = scryptSync('geheim', salt, 32, { N: 16, r: 8, p: 1 });
const [saltText, hashText] = [salt, hash].map((bytes) => bytes.toString('base64').replace(/=+$/, ''));
const password = `$scrypt$ln=4,r=8,p=1$${saltText}$${hashText}`;
const users = {
  root: { token: 'root-token', read: ['**'], write: ['**'], manage: true },
  ann: { password, read: ['desk/**'], write: ['desk/lamp'], dashboards: ['door'] },
  door: { read: ['desk/lamp'], dashboards: ['door'] },
  prometheus: { token: 'prometheus-token', metrics: true },
};
const desk = { type: 'dummy', parameters: ['lamp,B,true', 'secret,S,x'] };
const flow = (own: object = users) => ({
  connections: { api: { ...api, users: own, deviceFile: 'devices.json', dashboards: 'dashboards' }, desk },
});

const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
const root = { authorization: 'Bearer root-token' };
const json = { 'content-type': 'application/json', accept: 'application/json' };
const post = (t: ExecutionContext, port: number, path: string, body: object, headers: Record<string, string> = {}) =>
  ask(t, port, `POST ${path}`, { headers: { ...json, ...headers }, body: JSON.stringify(body) });
const cookieOf = ({ headers }: Answer) => headers['set-cookie']!.split(';')[0]!;

test('a password in scrypt form is accepted, also by several simultaneous connections; a wrong one is refused', async (t) => {
  const hub = await startTestHub(t, flow());
  const read = (text: string) => ask(t, hub.port, 'GET /parameters/desk/lamp', { headers: basic(text) });
  const answers = await Promise.all(['ann:geheim', 'ann:geheim', 'ann:wrong', 'nobody:geheim', 'door:'].map(read));
  t.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 401, 401, 401],
  );
  const body = 'parameter=desk/lamp&value=false';
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  const written = await ask(t, hub.port, 'POST /update', { headers: { ...basic('ann:geheim'), ...type }, body });
  t.is(written.status, 200);
  t.is(hub.find('desk/lamp')!.lastChange!.origin.name, 'api ann 127.0.0.1');
  t.is(await hub.logged(/refused/), 'sign-in: api ann 127.0.0.1: refused, by credentials');
  t.is(
    (await ask(t, hub.port, 'GET /hub/metrics', { headers: { authorization: 'Bearer prometheus-token' } })).status,
    200,
  );
  t.is(
    (await ask(t, hub.port, 'GET /parameters/desk/lamp', { headers: { authorization: 'Bearer prometheus-token' } }))
      .status,
    404,
  );
  expectQuietLog(t, hub);
});

test('a browser signs in on a page, is known by its cookie, and signs out', async (t) => {
  const hub = await startTestHub(t, flow());
  const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux) Firefox/1', accept: 'text/html,application/xhtml+xml' };
  const opened = await ask(t, hub.port, 'GET /hub/', { headers: browser });
  t.deepEqual([opened.status, opened.headers.location], [302, '/hub/sign-in']);
  t.regex((await ask(t, hub.port, 'GET /hub/sign-in')).text, /<form>/);
  t.is((await ask(t, hub.port, 'GET /hub/me', { headers: { ...json, ...browser } })).status, 200);
  const refused = await ask(t, hub.port, 'GET /hub/parameters', { headers: browser });
  t.is(refused.headers['www-authenticate'], 'Bearer realm="Patchbay"', 'the browser asks for nothing by itself');
  t.is((await post(t, hub.port, '/hub/sign-in', { user: 'ann', password: 'wrong' })).status, 401);
  const foreign = { origin: 'http://evil.example' };
  t.is((await post(t, hub.port, '/hub/sign-in', { user: 'ann', password: 'geheim' }, foreign)).status, 403);
  const signedIn = await post(t, hub.port, '/hub/sign-in', { user: 'ann', password: 'geheim' }, browser);
  t.like(JSON.parse(signedIn.text), { user: 'ann', manage: false, dashboards: ['door'] });
  t.regex(signedIn.headers['set-cookie']!, /^patchbay-\d+=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/);
  const cookie = cookieOf(signedIn);
  t.is((await ask(t, hub.port, 'GET /parameters/desk/secret', { headers: { cookie } })).text, 'x');
  const socket = await openClient(t, hub.port, '', { cookie, origin: `http://127.0.0.1:${hub.port}` });
  const update = 'GET /update?parameter=desk/lamp&value=false';
  t.is((await ask(t, hub.port, update, { headers: { cookie } })).status, 403, 'nobody says which page writes');
  t.is((await ask(t, hub.port, update, { headers: { cookie, 'sec-fetch-site': 'same-origin' } })).status, 200);
  const origin = 'http://localhost';
  t.is((await post(t, hub.port, '/hub/sign-out', {}, { cookie, origin })).status, 200);
  t.is((await socket.closed()).code, 4501);
  t.is((await ask(t, hub.port, 'GET /parameters/desk/secret', { headers: { cookie } })).status, 401);
});

test('a kiosk link works once, its device is accepted after a restart, and is revoked', async (t) => {
  const files = { 'flow.json5': flow(), 'dashboards/door.json5': '{ widgets: [] }' };
  const hub = await startHubFrom(t, files);
  const invite = { action: 'invite', user: 'door', device: 'Reception', dashboard: 'door' };
  t.is((await post(t, hub.port, '/hub/users', invite, basic('ann:geheim'))).status, 403);
  const { link } = JSON.parse((await post(t, hub.port, '/hub/users', invite, root)).text);
  const code = link.split('#')[1];
  const first = await post(t, hub.port, '/hub/sign-in', { code });
  t.like(JSON.parse(first.text), { user: 'door', dashboard: 'door' });
  t.is((await post(t, hub.port, '/hub/sign-in', { code })).status, 401);
  const cookie = cookieOf(first);
  const file = join(hub.folder, 'devices.json');
  await eventually(() =>
    stat(file).then(
      () => true,
      () => false,
    ),
  );
  const kept = await readFile(file, 'utf8');
  t.is((await stat(file)).mode & 0o777, 0o600);
  t.false(kept.includes(cookie.split('=')[1]!), 'the token is not in the file');

  // Another flow for the same folder: the kiosk stays although another user has other rights, and its own are taken over.
  const socket = await openClient(t, hub.port, '', { cookie, origin: `http://127.0.0.1:${hub.port}` });
  await writeFile(
    join(hub.folder, 'flow.json5'),
    JSON.stringify(flow({ ...users, door: { read: ['desk/**'], dashboards: ['door'] } })),
  );
  await hub.reload();
  t.is((await socket.closed()).code, 4003);
  t.is((await ask(t, hub.port, 'GET /parameters/desk/secret', { headers: { cookie } })).status, 200);

  const { devices } = JSON.parse((await ask(t, hub.port, 'GET /hub/users', { headers: root })).text);
  t.like(devices, [{ user: 'door', kind: 'kiosk', name: 'Reception' }]);
  const again = await openClient(t, hub.port, '', { cookie, origin: `http://127.0.0.1:${hub.port}` });
  const { clients } = JSON.parse((await ask(t, hub.port, 'GET /hub/clients', { headers: root })).text);
  t.like(clients, [{ user: 'door', address: '127.0.0.1', protocol: 'plain' }]);
  const revoked = await post(t, hub.port, '/hub/users', { action: 'revoke', device: devices[0].id }, root);
  t.deepEqual(JSON.parse(revoked.text).devices, []);
  t.is((await within(again.closed(), 'the kiosk being closed', 20_000)).code, 4501);
  t.is((await ask(t, hub.port, 'GET /parameters/desk/lamp', { headers: { cookie } })).status, 401);
  for (const [, one] of kept.matchAll(/"digest": "([^"]+)"/g)) t.is(one!.length, 43);
});

const signIn = (t: ExecutionContext, port: number, text = 'geheim') =>
  post(t, port, '/hub/sign-in', { user: 'ann', password: text });
const read = async (t: ExecutionContext, port: number, cookie: string) =>
  (await ask(t, port, 'GET /parameters/desk/lamp', { headers: { cookie } })).status;
/** Has a kiosk of `door` come in; returns its cookie. */
async function openKiosk(t: ExecutionContext, port: number, user = 'door'): Promise<string> {
  const { link } = JSON.parse(
    (await post(t, port, '/hub/users', { action: 'invite', user, device: 'Reception' }, root)).text,
  );
  return cookieOf(await post(t, port, '/hub/sign-in', { code: link.split('#')[1] }));
}

test('a user who signs in repeatedly ends the oldest of their own browsers, with its sockets, and nobody else', async (t) => {
  const hub = await startTestHub(t, flow({ ...users, bob: { password: 'bobs', read: ['**'] } }));
  const kiosk = await openKiosk(t, hub.port);
  const bob = cookieOf(await post(t, hub.port, '/hub/sign-in', { user: 'bob', password: 'bobs' }));
  const oldest = cookieOf(await signIn(t, hub.port));
  const next = cookieOf(await signIn(t, hub.port));
  const origin = `http://127.0.0.1:${hub.port}`;
  const socket = await openClient(t, hub.port, '', { cookie: oldest, origin });
  for (let more = 2; more < limits.browsersPerUser.default; more++) await signIn(t, hub.port);
  t.is(await read(t, hub.port, oldest), 200, 'there is room for all of them');
  const newest = cookieOf(await signIn(t, hub.port));
  t.is((await socket.closed()).code, 4501);
  t.deepEqual(await Promise.all([oldest, next, newest, bob, kiosk].map((cookie) => read(t, hub.port, cookie))), [
    ...[401, 200, 200, 200, 200],
  ]);
  await hub.logged(/exceeded the limit browsersPerUser/);
});

test('a browser whose user has another password is asked not to return; a kiosk of that user is asked to return', async (t) => {
  const hub = await startTestHub(t, flow());
  const origin = `http://127.0.0.1:${hub.port}`;
  const cookies = [cookieOf(await signIn(t, hub.port)), await openKiosk(t, hub.port, 'ann')];
  const sockets = await Promise.all(cookies.map((cookie) => openClient(t, hub.port, '', { cookie, origin })));
  const file = join(hub.folder, 'flow.json5');
  await writeFile(file, JSON.stringify(flow({ ...users, ann: { ...users.ann, password: 'another' } })));
  await hub.reload();
  t.deepEqual(await Promise.all(sockets.map(async (socket) => (await socket.closed()).code)), [4501, 4003]);
  t.deepEqual(await Promise.all(cookies.map((cookie) => read(t, hub.port, cookie))), [401, 200]);
});

test('a browser and a kiosk whose user has another token stay signed in, and return; clients with the token are asked not to', async (t) => {
  const withToken = (token: string) => flow({ ...users, ann: { ...users.ann, token } });
  const hub = await startTestHub(t, withToken('one'));
  const origin = `http://127.0.0.1:${hub.port}`;
  const cookies = [cookieOf(await signIn(t, hub.port)), await openKiosk(t, hub.port, 'ann')];
  const headers = [...cookies.map((cookie) => ({ cookie, origin })), { authorization: 'Bearer one' }];
  const sockets = await Promise.all(headers.map((one) => openClient(t, hub.port, '', one)));
  await writeFile(join(hub.folder, 'flow.json5'), JSON.stringify(withToken('two')));
  await hub.reload();
  t.deepEqual(await Promise.all(sockets.map(async (socket) => (await socket.closed()).code)), [4003, 4003, 4501]);
  t.deepEqual(await Promise.all(cookies.map((cookie) => read(t, hub.port, cookie))), [200, 200]);
});

test('a kiosk link of a removed user has no effect', async (t) => {
  const hub = await startTestHub(t, flow());
  const { link } = JSON.parse(
    (await post(t, hub.port, '/hub/users', { action: 'invite', user: 'door', device: 'Reception' }, root)).text,
  );
  const { door: _, ...others } = users;
  await writeFile(join(hub.folder, 'flow.json5'), JSON.stringify(flow(others)));
  await hub.reload();
  t.is((await post(t, hub.port, '/hub/sign-in', { code: link.split('#')[1] })).status, 401);
  t.is(await hub.logged(/refused/), 'sign-in: api 127.0.0.1: refused, by an invalid link');
  expectQuietLog(t, hub);
});

test('guesses for a user from any address are slowed down, earlier clients are not', async (t) => {
  const hub = await startTestHub(t, flow({ ...users, ann: { password: 'geheim', read: ['**'] } }));
  const read = (text: string) => ask(t, hub.port, 'GET /parameters/desk/lamp', { headers: basic(text) });
  t.is((await read('ann:wrong')).status, 401);
  const answers = await Promise.all(Array.from({ length: 80 }, (_, index) => read(`ann:wrong ${index}`)));
  const statuses = answers.map(({ status }) => status);
  t.true(statuses.includes(429), statuses.join());
});

test('of many simultaneous wrong passwords, those above the limit are refused, and come after the attempts of others', async (t) => {
  const hub = await startTestHub(t, flow());
  const startMs = performance.now();
  const guesses = Array.from({ length: 64 }, (_, index) => signIn(t, hub.port, `wrong ${index}`));
  const right = await signIn(t, hub.port);
  t.is(right.status, 200);
  const answers = await Promise.all(guesses);
  const within = answers.filter(({ status }) => status === 401).length;
  const refused = answers.filter(({ status }) => status === 429);
  t.is(within + refused.length, 64);
  const seconds = Math.ceil((performance.now() - startMs) / 1000);
  t.true(
    within >= wrongInARow && within <= wrongInARow + seconds,
    `${within} in ${seconds} s: one more for each second`,
  );
  t.true(refused.every(({ headers }) => Number(headers['retry-after']) >= 1));
});

test('two connections cannot keep their devices in the same file', async (t) => {
  const one = { ...api, users, deviceFile: 'devices.json' };
  const error = await t.throwsAsync(
    startTestHub(t, { connections: { one, two: { ...one, deviceFile: './devices.json' }, desk } }),
  );
  t.regex(error.message, /connections\.two: expected exclusive use of file .*devices\.json, but "one" also uses it/);
});

const mistakes: [user: object, mistake: RegExp][] = [
  [
    { read: ['s2'] },
    /users\.x\.read\[0\]: expected a glob of addresses such as "s2\/\*\*", got "s2" \(string\), which matches no address/,
  ],
  [{ read: 's2/**' }, /users\.x\.read: expected .*got "s2\/\*\*" \(string\)/],
  [{ raed: ['**'] }, /users\.x.*"raed", did you mean "read"\?/],
  [
    { manage: true, read: ['s2/**'] },
    /users\.x\.manage: expected read: \["\*\*"\] and no deny,.*got read: \["s2\/\*\*"\]/,
  ],
  [{ password: '$scrypt$1' }, /users\.x\.password: expected a hash from "patchbay password"/],
  [{ token: 'a b' }, /users\.x\.token: expected a token of printable characters without spaces/],
];
for (const [user, mistake] of mistakes)
  test(`a mistake is reported: ${JSON.stringify(user)}`, async (t) => {
    const error = await t.throwsAsync(startTestHub(t, { connections: { api: { ...api, users: { x: user } } } }));
    t.regex(error.message, mistake);
  });
