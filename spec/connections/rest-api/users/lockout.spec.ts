// Somebody who guesses locks nobody else out: whoever has the right credentials comes in within a second, by each way in, also from the same
// address, under the same name, and while a hundred addresses guess.

import { scryptSync } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { credentialsPrefix } from '../../../../lib/wire/protocol.ts';
import { eventually } from '../../../support/deadline.ts';
import { type Answer, ask, openWire, request } from '../../../support/http.ts';
import { api, type HubUnderTest, startTestHub } from '../../../support/hub.ts';
import { handshake } from '../../../support/sockets/socket.ts';
import { slowness, timeOf } from '../../../support/system/machine.ts';
import '../../../support/own-process.ts';

const limitMs = 1000;
const token = 'a-token-that-nobody-guesses';
const password = 'Straße 7';
/** It costs a sixth of what `patchbay password` makes; a hundred in a row would take seconds. */
const salt = Buffer.alloc(16, 'salt');
const hash = scryptSync(password, salt, 32, { N: 2 ** 14, r: 8, p: 1, maxmem: 2 ** 26 });
const [saltText, hashText] = [salt, hash].map((bytes) => bytes.toString('base64').replace(/=+$/, ''));
const hashed = `$scrypt$ln=14,r=8,p=1$${saltText}$${hashText}`;
const desk = { type: 'dummy', parameters: ['i,I,7'] };

/** Everybody comes by a proxy of this machine, which says from where. */
const from = (address: string) => ({ 'x-forwarded-for': address });
const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
const json = { 'content-type': 'application/json', accept: 'application/json' };
const read = 'GET /parameters/desk/i';

type Headers = Readonly<Record<string, string>>;
type Bytes = ReturnType<typeof request>;

/** The names under which people come; each password is used once, so that the hub does not know it yet. */
const people = Array.from({ length: 40 }, (_, index) => `ann${index}`);

async function startHub(t: ExecutionContext, trustedProxies = ['127.0.0.1']): Promise<HubUnderTest> {
  const users = Object.fromEntries(people.map((name) => [name, { password: hashed, read: ['**'] }]));
  const plain = { password: 'plain', read: ['**'] };
  const root = { token, read: ['**'], write: ['**'], manage: true };
  return startTestHub(t, {
    connections: {
      api: { ...api, trustedProxies, users: { root, plain, short: { token: 'pin', read: ['**'] }, ...users } },
      desk,
    },
  });
}

const signIn = (user: string, text: string, headers: Headers): Bytes =>
  request('POST /hub/sign-in', { headers: { ...json, ...headers }, body: JSON.stringify({ user, password: text }) });
const cookieOf = ({ headers }: Answer) => headers['set-cookie']!.split(';')[0]!;

/** Sends requests one after the other on so many connections until the test ends. */
async function attack(t: ExecutionContext, port: number, connections: number, next: (connection: number) => Bytes) {
  let isOver = false;
  let answered = 0;
  t.teardown(() => {
    isOver = true;
  });
  const wires = await Promise.all(Array.from({ length: connections }, () => openWire(t, port)));
  for (const [index, wire] of wires.entries())
    void (async () => {
      while (!isOver) {
        wire.send(next(index));
        await wire.answer();
        answered++;
      }
    })().catch(() => {});
  await eventually(() => answered > 30, 'an attack that has begun');
}

let guesses = 0;
const wrong = () => `wrong ${guesses++}`;

const attacks: [what: string, connections: number, next: (connection: number, name: string) => Bytes][] = [
  [
    'wrong tokens of one address',
    10,
    () => request(read, { headers: { ...from('203.0.113.1'), ...bearer(`no-such-token-at-all-${guesses++}`) } }),
  ], // prettier-ignore
  [
    'wrong short tokens of one address',
    3,
    () => request(read, { headers: { ...from('203.0.113.1'), ...bearer(`${guesses++}`) } }),
  ], // prettier-ignore
  [
    'wrong codes of kiosks of one address',
    5,
    () =>
      request('POST /hub/sign-in', { headers: { ...json, ...from('203.0.113.1') }, body: `{"code":"${guesses++}"}` }),
  ], // prettier-ignore
  [
    'credentials of no scheme of one address',
    5,
    () => request(read, { headers: { ...from('203.0.113.1'), authorization: 'Digest x' } }),
  ], // prettier-ignore
  [
    'wrong passwords for one name of one address',
    30,
    (_, name) => request(read, { headers: { ...from('203.0.113.1'), ...basic(`${name}:${wrong()}`) } }),
  ], // prettier-ignore
  [
    'wrong passwords for all names of one address',
    30,
    () => request(read, { headers: { ...from('203.0.113.1'), ...basic(`${wrong()}:x`) } }),
  ], // prettier-ignore
  [
    'wrong sign-ins for one name of a hundred addresses',
    100,
    (connection, name) => signIn(name, wrong(), from(`198.51.100.${connection}`)),
  ], // prettier-ignore
  [
    'wrong sign-ins for all names of a hundred addresses',
    100,
    (connection) => signIn(wrong(), 'x', from(`198.51.100.${connection}`)),
  ], // prettier-ignore
  [
    'wrong passwords that are texts of a hundred addresses',
    100,
    (connection) => request(read, { headers: { ...from(`198.51.100.${connection}`), ...basic(`plain:${wrong()}`) } }),
  ], // prettier-ignore
];

for (const [what, connections, next] of attacks)
  test.serial(`correct credentials are accepted within a second while others send ${what}`, async (t) => {
    const hub = await startHub(t);
    const [victim = '', page = '', known = '', kiosk = '', ...others] = people;
    const knownCookie = cookieOf(await sendOn(t, hub, signIn(known, password, from('192.0.2.1'))));
    t.is(
      (await ask(t, hub.port, read, { headers: { ...from('192.0.2.1'), ...basic(`${known}:${password}`) } })).status,
      200,
    ); // prettier-ignore
    const codes = await Promise.all([0, 1, 2].map(() => invite(t, hub, kiosk)));
    await attack(t, hub.port, connections, (connection) => next(connection, victim));

    const ways: [way: string, bytes: (headers: Headers) => Bytes, expected: number][] = [
      ['a token', (headers) => request(read, { headers: { ...headers, ...bearer(token) } }), 200],
      [
        'a token to write',
        (headers) => request('GET /update?parameter=desk/i&value=1', { headers: { ...headers, ...bearer(token) } }),
        200,
      ], // prettier-ignore
      [
        'a token in a handshake',
        (headers) =>
          request('GET /ws', {
            headers: {
              ...handshake(),
              ...headers,
              'sec-websocket-protocol': `patchbay.v1, ${credentialsPrefix}${Buffer.from(`Bearer ${token}`).toString('base64url')}`,
            },
          }),
        101,
      ], // prettier-ignore
      ['a cookie', (headers) => request(read, { headers: { ...headers, cookie: knownCookie } }), 200],
      [
        'Basic that was right before',
        (headers) => request(read, { headers: { ...headers, ...basic(`${known}:${password}`) } }),
        200,
      ], // prettier-ignore
      ['the page, of who has come in before', (headers) => signIn(known, password, headers), 200],
      [
        'a kiosk link',
        (headers) =>
          request('POST /hub/sign-in', {
            headers: { ...json, ...headers },
            body: JSON.stringify({ code: codes.pop() }),
          }),
        200,
      ], // prettier-ignore
      ['a short token', (headers) => request(read, { headers: { ...headers, ...bearer('pin') } }), 200],
      ['the page', (headers) => signIn(others.pop()!, password, headers), 200],
      ['Basic', (headers) => request(read, { headers: { ...headers, ...basic(`${others.pop()}:${password}`) } }), 200],
      [
        'Basic in a handshake',
        (headers) =>
          request('GET /ws', { headers: { ...handshake(), ...headers, ...basic(`${others.pop()}:${password}`) } }),
        101,
      ], // prettier-ignore
    ];
    for (const [where, headers] of [
      ['another address', from('192.0.2.77')],
      ['the same address', from('203.0.113.1')],
    ] as const)
      for (const [way, bytes, expected] of ways) await comesIn(t, hub, `${way}, ${where}`, bytes(headers), expected);
    // Under the name that is guessed at: from elsewhere.
    await comesIn(t, hub, 'the user, another address', signIn(victim, password, from('192.0.2.78')), 200);
    await comesIn(t, hub, 'the user, the same address from now on', signIn(victim, password, from('203.0.113.1')), 200);
    await comesIn(t, hub, 'somebody else', signIn(page, password, from('192.0.2.79')), 200);
  });

test('also without a trusted proxy correct credentials are accepted: a wrong token twice a second locks nobody out', async (t) => {
  const hub = await startHub(t, []);
  await attack(t, hub.port, 5, () => request(read, { headers: bearer(`no-such-token-at-all-${guesses++}`) }));
  for (let count = 0; count < 66; count++)
    t.is((await ask(t, hub.port, read, { headers: bearer(token) })).status, 200, `${count}`);
  await comesIn(t, hub, 'the page', signIn(people[0]!, password, {}), 200);
});

test('a client that has used up the requests of an address prevents nobody behind it from signing in, or from using a token', async (t) => {
  const limits = { requestsPerUser: 5 };
  const users = { ann: { password: 'geheim', read: ['**'] }, root: { token, read: ['**'] } };
  const hub = await startTestHub(t, { connections: { api: { ...api, limits, users }, desk } });
  await attack(t, hub.port, 5, () => request(read, { headers: bearer(`no-such-token-at-all-${guesses++}`) }));
  for (const path of ['/hub/sign-in', '/hub/sign-in/page.js', '/hub/sign-in/page.css'])
    t.is((await ask(t, hub.port, `GET ${path}`)).status, 200, path);
  const answer = await sendOn(t, hub, signIn('ann', 'geheim', {}));
  t.is(answer.status, 200);
  t.is((await ask(t, hub.port, read, { headers: { cookie: cookieOf(answer) } })).status, 200);
  t.is((await ask(t, hub.port, read, { headers: bearer(token) })).status, 200);
});

async function invite(t: ExecutionContext, hub: HubUnderTest, user: string): Promise<string> {
  const body = JSON.stringify({ action: 'invite', user, device: 'Reception' });
  const { text } = await ask(t, hub.port, 'POST /hub/users', { headers: { ...json, ...bearer(token) }, body });
  return JSON.parse(text).link.split('#')[1];
}

async function sendOn(t: ExecutionContext, hub: HubUnderTest, bytes: Bytes): Promise<Answer> {
  const wire = await openWire(t, hub.port);
  wire.send(bytes);
  const answer = await wire.answer();
  wire.socket.destroy();
  return answer;
}

async function comesIn(t: ExecutionContext, hub: HubUnderTest, way: string, bytes: Bytes, expected: number) {
  let status = 0;
  const tookMs = await timeOf(async () => {
    ({ status } = await sendOn(t, hub, bytes));
  });
  t.is(status, expected, way);
  if (tookMs > limitMs) t.true(tookMs < limitMs * slowness() * 2, `${way}: ${Math.round(tookMs)} ms`);
}
