// Devices over HTTP (D-49), against peers of this process that answer as devices do, and as they should not: cut, endless, slow, busy.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createRawServer, type Socket } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { compileDescription } from '../../../lib/connections/device/compile.ts';
import { maxHeadBytes } from '../../../lib/device/http.ts';
import { HttpAuth } from '../../../lib/device/http-auth.ts';
import { eventually } from '../../support/deadline.ts';
import { type HubUnderTest, startHubFrom, statusOf, writer } from '../../support/hub.ts';

type Answer = (request: IncomingMessage & { readonly text: string }, response: ServerResponse) => void;

interface Device {
  readonly port: number;
  readonly url: string;
  /** Each request as `PUT /lamp {"on":true}`. */
  readonly requests: string[];
  readonly heads: IncomingMessage['headers'][];
  stop(): Promise<void>;
  start(): Promise<void>;
}

async function startDevice(t: ExecutionContext, answer: Answer): Promise<Device> {
  const requests: string[] = [];
  const heads: IncomingMessage['headers'][] = [];
  let server: Server | undefined;
  let port = 0;
  const stop = async () => {
    server?.closeAllConnections();
    await new Promise((resolve) => (server === undefined ? resolve(0) : server.close(resolve)));
    server = undefined;
  };
  const start = async () => {
    server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => {
        text += chunk;
      });
      request.on('end', () => {
        requests.push(`${request.method} ${request.url}${text === '' ? '' : ` ${text}`}`);
        heads.push(request.headers);
        answer(Object.assign(request, { text }), response);
      });
    }).listen(port, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as { port: number }).port;
  };
  t.teardown(stop);
  await start();
  return { port, url: `http://127.0.0.1:${port}/`, requests, heads, stop, start };
}

/** A peer that writes bytes of its own. */
async function startRaw(t: ExecutionContext, answer: (socket: Socket, request: string) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createRawServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (bytes) => answer(socket, bytes.toString()));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/`;
}

/** Starts a hub with a device `it` of this description. */
function startHub(t: ExecutionContext, description: object, settings: object): Promise<HubUnderTest> {
  const about = { about: 'a device of a spec', transports: ['http'], timeout: '10s', ...description };
  return startHubFrom(t, {
    'flow.json5': { connections: { it: { type: 'device', protocol: './it.device.json5', ...settings } } },
    'it.device.json5': about,
  });
}

/** Nobody listens there; a port that was free may be somebody else's by now. */
const nobody = 'http://127.0.0.1:9/';
const runs = (hub: HubUnderTest) => eventually(() => statusOf(hub, 'it').state === 'running', 'the connection to run');
const valueAt = (hub: HubUnderTest, id: string) => hub.find(`it/${id}`)?.value;
const isStale = (hub: HubUnderTest, id: string) => hub.find(`it/${id}`)!.device?.staleSince !== undefined;
const json = (response: ServerResponse, body: unknown, status = 200) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

const lamp = {
  lamp: {
    type: 'B',
    ask: { path: '/lamp', reply: { on: '{value}' }, every: '20ms' },
    write: {
      method: 'PUT',
      path: '/lamp',
      body: { on: '{value}' },
      reply: 204, // biome-ignore lint/suspicious/noThenProperty: a key of descriptions
      then: 'ask',
    },
  },
};

test('a parameter is asked for, set and confirmed, with the base path of the address', async (t) => {
  let on = false;
  const device = await startDevice(t, ({ method, text }, response) => {
    if (method === 'PUT') {
      ({ on } = JSON.parse(text));
      response.writeHead(204).end();
    } else json(response, { on });
  });
  const hub = await startHub(t, { parameters: lamp }, { http: `${device.url}api` });
  await runs(hub);
  t.is(valueAt(hub, 'lamp'), false);
  hub.write('it/lamp', true, writer);
  await eventually(() => valueAt(hub, 'lamp') === true);
  t.is(hub.find('it/lamp')!.lastChange!.cause?.origin.name, writer.name);
  t.true(device.requests.includes('PUT /api/lamp {"on":true}'));
  t.is(device.heads.find((head) => head['content-length'] !== undefined)!['content-type'], 'application/json');
});

test('values of a path, a query, a form, a header and XML are encoded, and cannot become another request', async (t) => {
  const device = await startDevice(t, (_, response) => response.writeHead(200).end('ok'));
  const write = (more: object) => ({ type: 'S', write: { path: '/x', ...more } });
  const hub = await startHub(
    t,
    {
      format: 'xml',
      parameters: {
        path: write({ path: '/set ü#/{value}/end' }),
        query: write({ query: { 'a b': '{value}' } }),
        form: write({ form: { name: '{value}' } }),
        head: write({ headers: { 'X-Name': '{value}' } }),
        xml: write({ body: '<name a="{value}">{value}</name>' }),
      },
    },
    { http: device.url },
  );
  await runs(hub);
  for (const [id, value, sent] of [
    ['path', '../a?b=1#c', 'GET /set%20%C3%BC%23/..%2Fa%3Fb%3D1%23c/end'],
    ['query', '\ud800', 'GET /x?a%20b=%EF%BF%BD'],
    ['query', 'x&y=z', 'GET /x?a%20b=x%26y%3Dz'],
    ['form', 'x&y=ü', 'POST /x name=x%26y%3D%C3%BC'],
    ['xml', '"><b/>', 'POST /x <name a="&quot;&gt;&lt;b/&gt;">&quot;&gt;&lt;b/&gt;</name>'],
  ] as const) {
    hub.write(`it/${id}`, value, writer);
    await eventually(() => device.requests.includes(sent), `${sent}, got ${device.requests.at(-1)}`);
  }
  for (const [id, value] of [
    ['path', '..'],
    ['path', '.'],
    ['head', 'a\r\nx: y'],
    ['head', '€'],
    ['xml', 'a\0b'],
  ] as const)
    t.throws(() => hub.write(`it/${id}`, value, writer), { code: 'out-of-range' }, `${id} ${value}`);
});

test('a status can be a value, a refusal and a reason to try again; any other one leaves the value', async (t) => {
  let [status, busy] = [404, 1];
  const device = await startDevice(t, ({ url }, response) => {
    if (url === '/there') json(response, { error: 'none' }, status);
    else json(response, { error: 'locked' }, busy-- > 0 ? 409 : 423);
  });
  const hub = await startHub(
    t,
    {
      timeout: '200ms',
      parameters: {
        there: {
          type: 'B',
          ask: {
            path: '/there',
            reply: [
              { pattern: 404, value: 'false' },
              { pattern: { error: 'none' }, status: 410, value: 'false' },
              { pattern: 200, value: 'true' },
            ],
            every: '20ms',
          },
        },
        lock: { type: 'S', write: { method: 'POST', path: '/lock', reply: 204, retryIf: 409, fail: 423 } },
      },
    },
    { http: device.url },
  );
  await runs(hub);
  t.is(valueAt(hub, 'there'), false);
  status = 200;
  await eventually(() => valueAt(hub, 'there') === true);
  status = 500;
  hub.write('it/lock', 'a', writer);
  await hub.logged(/^cannot set (?:it\/)?lock: /);
  t.is(device.requests.filter((request) => request === 'POST /lock').length, 2);
  t.is(valueAt(hub, 'there'), true);
  t.false(isStale(hub, 'there'));
  status = 410;
  await eventually(() => valueAt(hub, 'there') === false);
});

test('a greeting fetches a token, which is renewed when the device refuses it, and which no trace shows', async (t) => {
  let [token, logins] = ['first-token', 0];
  const device = await startDevice(t, ({ url, headers, text }, response) => {
    if (url === '/login') {
      logins++;
      if (JSON.parse(text).password !== 'pass word') json(response, {}, 401);
      else response.writeHead(200, { 'x-auth-token': token }).end('{}');
    } else if (headers['x-auth-token'] !== token) json(response, { token: headers['x-auth-token'] }, 401);
    else json(response, { level: logins });
  });
  const description = {
    secrets: ['password'],
    greet: [
      {
        path: '/login',
        body: { password: '{= secret.password}' },
        reply: { pattern: '{_}', headers: { 'X-Auth-Token': '{token}' } },
        save: true,
      },
    ],
    parameters: {
      'level/{n:1..4}': {
        type: 'I',
        ask: {
          path: '/level',
          query: { n: '{n}' },
          headers: { 'X-Auth-Token': '{token}' },
          reply: { level: '{value}' },
          every: '20ms',
        },
      },
    },
  };
  const hub = await startHub(t, description, { http: device.url, secrets: { password: 'pass word' } });
  await runs(hub);
  token = 'second-token';
  await eventually(() => valueAt(hub, 'level/4') === 2, 'a new token');
  t.is(logins, 2, 'once for all that wait');
  t.is(statusOf(hub, 'it').state, 'running');
  const shown = JSON.stringify(hub.wire('it', 0));
  t.regex(shown, /POST \/login/);
  t.notRegex(shown, /first-token|second-token|pass word|pass%20word/);
  const wrong = await startHub(t, description, { http: device.url, secrets: { password: 'another' } });
  await wrong.logged(/^connection "it" is degraded: .*: the device answered POST \/login with 401 Unauthorized$/);
});

for (const [name, algorithm] of [
  ['MD5', 'md5'],
  ['SHA-256', 'sha256'],
] as const)
  test(`Digest with ${name}: a stale nonce is replaced, each request has the next count, and the password is not sent`, async (t) => {
    const hash = (text: string) => createHash(algorithm).update(text).digest('hex');
    let [nonce, refused] = ['n1', 0];
    const counts: string[] = [];
    const device = await startDevice(t, ({ headers, method, url }, response) => {
      const { authorization = '' } = headers;
      const read = (key: string) => new RegExp(`\\b${key}="?([^",]+)`).exec(authorization)?.[1] ?? '';
      const first = hash('admin:a "realm":secret word');
      const text = `${first}:${read('nonce')}:${read('nc')}:${read('cnonce')}:auth:${hash(`${method}:${url}`)}`;
      const isRight = read('response') === hash(text) && read('uri') === url;
      if (isRight && read('nonce') === nonce) {
        counts.push(`${nonce} ${read('nc')}`);
        json(response, { on: true });
        return;
      }
      refused++;
      const weak = `Digest realm="weak", nonce="x", algorithm=MD5, qop="auth"`;
      const challenge = `Digest realm="a \\"realm\\"", nonce="${nonce}", algorithm=${name}, qop="auth-int, auth", opaque="o"${isRight ? ', stale=TRUE' : ''}`;
      response.writeHead(401, {
        'www-authenticate': name === 'MD5' ? ['Basic realm="b"', challenge] : [weak, challenge],
      });
      response.end();
    });
    const user = { username: 'admin', password: 'secret word' };
    const hub = await startHub(t, { window: 1, parameters: lamp }, { http: device.url, auth: { digest: user } });
    await runs(hub);
    await eventually(() => counts.length > 2);
    nonce = 'n2';
    await eventually(() => counts.includes('n2 00000002'));
    t.deepEqual(counts.slice(0, 2), ['n1 00000001', 'n1 00000002']);
    t.is(refused, 2);
    t.notRegex(JSON.stringify([device.heads, hub.wire('it', 0)]), /secret word|c2VjcmV0/);
    const wrong = await startHub(
      t,
      { parameters: lamp },
      { http: device.url, auth: { digest: { ...user, password: 'no' } } },
    );
    await wrong.logged(/^connection "it" is degraded: .*401 Unauthorized \(check auth\.digest\)$/);
  });

test('a challenge of any length is read in no time', (t) => {
  const auth = new HttpAuth({ digest: { username: 'admin', password: 'p' } });
  const started = process.cpuUsage();
  t.deepEqual(auth.refused(`Digest nonce="n", ${'w'.repeat(maxHeadBytes)}`, undefined), { again: true });
  const { user } = process.cpuUsage(started);
  t.true(user < 100_000, `${user} µs`);
});

test('Basic and Bearer are sent at once, a password of Digest never as Basic, and a wrong one is not tried again and again', async (t) => {
  const device = await startDevice(t, ({ headers }, response) => {
    if (['Basic YTpiw7w=', 'Bearer tok'].includes(headers.authorization ?? '')) json(response, { on: true });
    else response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
  });
  const once = { lamp: { ...lamp.lamp, ask: { ...lamp.lamp.ask, every: '1h' } } };
  for (const auth of [{ basic: { username: 'a', password: 'bü' } }, { bearer: 'tok' }])
    await runs(await startHub(t, { parameters: once }, { http: device.url, auth }));
  t.false(device.heads.some(({ authorization }) => authorization === undefined));
  for (const auth of [
    { digest: { username: 'a', password: 'bü' } },
    { basic: { username: 'a', password: 'no' } },
    undefined,
  ]) {
    const before = device.requests.length;
    const hub = await startHub(t, { parameters: once }, { http: device.url, auth });
    await hub.logged(/^connection "it" is degraded: .*401 Unauthorized/);
    t.is(device.requests.length, before + 1, 'not again and again');
  }
});

test('an unchanged answer has no body and sets nothing, but a write is confirmed by a whole one', async (t) => {
  let [level, whole, unchanged] = [5, 0, 0];
  const device = await startDevice(t, ({ method, headers, text }, response) => {
    if (method === 'PUT') {
      level = JSON.parse(text).level;
      response.writeHead(204).end();
    } else if (headers['if-none-match'] === `"${level}"`) {
      unchanged++;
      response.writeHead(304).end();
    } else {
      whole++;
      response.writeHead(200, { etag: `"${level}"` }).end(JSON.stringify({ level }));
    }
  });
  const level$ = {
    type: 'I',
    ask: { path: '/level', reply: { level: '{value}' }, every: '20ms' },
    write: {
      method: 'PUT',
      path: '/level',
      body: { level: '{value}' }, // biome-ignore lint/suspicious/noThenProperty: a key of descriptions
      then: 'ask',
    },
  };
  const hub = await startHub(t, { parameters: { level: level$ } }, { http: device.url });
  await runs(hub);
  await eventually(() => unchanged > 2);
  t.is(whole, 1);
  hub.write('it/level', 5, writer); // the value that it has
  await eventually(() => hub.find('it/level')!.wanted === undefined && whole > 1, 'the write to be confirmed');
  level = 7;
  await eventually(() => valueAt(hub, 'level') === 7);
});

test('compressed and chunked answers are read, and one that would fill the memory is not', async (t) => {
  const body = Buffer.from('{"on":true}');
  const bomb = gzipSync(Buffer.alloc(20_000_000, 32));
  const kinds: Readonly<Record<string, readonly [string, Buffer]>> = {
    gzip: ['gzip', gzipSync(body)],
    zlib: ['deflate', deflateSync(body)],
    raw: ['deflate', deflateRawSync(body)],
    brotli: ['br', brotliCompressSync(body)],
    bomb: ['gzip', bomb],
    half: ['gzip', gzipSync(body).subarray(0, 15)],
    other: ['zstd', body],
  };
  const device = await startDevice(t, ({ url }, response) => {
    const [coding, bytes] = kinds[url!.slice(1)]!;
    response.writeHead(200, { 'content-encoding': coding });
    response.write(bytes.subarray(0, 5)); // in chunks
    response.end(bytes.subarray(5));
  });
  const ask = (name: string) => ({ type: 'B', ask: { path: `/${name}`, reply: { on: '{value}' }, retry: 0 } });
  const parameters = Object.fromEntries(Object.keys(kinds).map((name) => [name, ask(name)]));
  const hub = await startHub(t, { window: 8, parameters }, { http: device.url });
  await eventually(() => device.requests.length >= 7);
  await eventually(() => ['gzip', 'zlib', 'raw', 'brotli'].every((name) => valueAt(hub, name) === true));
  for (const name of ['bomb', 'half', 'other']) t.is(valueAt(hub, name), undefined, name);
});

test('an answer that is cut off, endless, slow or no HTTP is no value, and its neighbours are read', async (t) => {
  let isWell = false;
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
  const whole = `${head}content-length: 11\r\n\r\n{"on":true}`;
  const url = await startRaw(t, (socket, request) => {
    const path = /^GET \/(\w+)/.exec(request)?.[1] ?? '';
    if (isWell || path === 'well') socket.write(whole);
    else if (path === 'cut') socket.end(`${head}content-length: 900\r\n\r\n{"on":true}`);
    else if (path === 'chunk') socket.end(`${head}transfer-encoding: chunked\r\n\r\nb\r\n{"on":true}\r\n`);
    else if (path === 'closed') socket.end();
    else if (path === 'text') socket.end('what? {"on":true}\n');
    else if (path === 'head') socket.write(`HTTP/1.1 200 OK\r\n${`x: ${'y'.repeat(1000)}\r\n`.repeat(40)}`);
    else if (path === 'endless') {
      socket.write(`${head}\r\n`);
      const more = Buffer.alloc(65_536, 32);
      const write = () => {
        while (!socket.destroyed && socket.write(more));
      };
      socket.on('drain', write);
      write();
    } else if (path === 'slow') {
      socket.write(`${head}content-length: 1100\r\n\r\n`);
      const timer = setInterval(() => socket.write(' '), 50);
      socket.on('close', () => clearInterval(timer));
    }
  });
  const names = ['well', 'cut', 'chunk', 'closed', 'text', 'head', 'endless', 'slow'];
  const parameters = Object.fromEntries(
    names.map((name) => [
      name,
      { type: 'B', ask: { path: `/${name}`, reply: { on: '{value}' }, every: '100ms', retry: 0 } },
    ]),
  );
  const hub = await startHub(t, { window: 8, timeout: '400ms', parameters }, { http: url });
  await runs(hub);
  t.is(valueAt(hub, 'well'), true);
  for (const name of names.slice(1)) t.is(valueAt(hub, name), undefined, name);
  t.is(statusOf(hub, 'it').state, 'running');
  isWell = true;
  await eventually(() => names.every((name) => valueAt(hub, name) === true), 'all values');
});

test('redirects are followed, credentials never to another origin, nor back from there', async (t) => {
  const other = await startDevice(t, ({ url }, response) => {
    if (url === '/back') response.writeHead(302, { location: `${device.url}secret` }).end();
    else json(response, { on: true });
  });
  const device = await startDevice(t, ({ url, headers }, response) => {
    const to: Readonly<Record<string, string>> = {
      '/here': '/there',
      '/loop': '/loop',
      '/away': `${other.url}lamp`,
      '/around': `${other.url}back`,
      '/file': 'file:///etc/passwd',
      '/slashes': `${device.url}/`,
      '//': '/there',
    };
    if (url === '/write') response.writeHead(307, { location: other.url }).end();
    else if (url === '/host') response.writeHead(307, { location: `${device.url}/${new URL(other.url).host}/x` }).end();
    else if (url!.startsWith('//') && url !== '//') response.writeHead(307, { location: 'y' }).end();
    else if (to[url!] !== undefined) response.writeHead(302, { location: to[url!] }).end();
    else if (headers.authorization !== 'Bearer tok' || headers['x-key'] !== 'key') json(response, {}, 403);
    else json(response, { on: true });
  });
  const ask = (name: string) => ({ type: 'B', ask: { path: `/${name}`, reply: { on: '{value}' } } });
  const names = ['here', 'loop', 'away', 'around', 'file', 'slashes'];
  const hub = await startHub(
    t,
    {
      secrets: ['key'],
      headers: { 'X-Key': '{= secret.key}' },
      parameters: {
        ...Object.fromEntries(names.map((name) => [name, ask(name)])),
        set: { type: 'B', write: { method: 'PUT', path: '/write', body: { password: '{= secret.key}' } } },
        host: { type: 'B', write: { method: 'PUT', path: '/host', body: { on: '{value}' } } },
      },
    },
    { http: device.url, auth: { bearer: 'tok' }, secrets: { key: 'key' } },
  );
  await runs(hub);
  t.deepEqual(
    names.map((name) => valueAt(hub, name)),
    [true, undefined, true, undefined, undefined, true],
  );
  t.is(device.requests.filter((request) => request === 'GET /loop').length, 12, 'five redirects, and again');
  hub.write('it/set', true, writer);
  await hub.logged(/cannot set set: expected PUT not to be redirected away from the device, got a redirect to http:/);
  hub.write('it/host', true, writer);
  await hub.logged(/cannot set host: expected at most 5 redirects, got more/);
  t.true(other.requests.length > 1 && other.requests.every((request) => request.startsWith('GET ')));
  for (const head of other.heads)
    t.deepEqual([head.authorization, head['x-key'], head.cookie], [undefined, undefined, undefined]);
  const away = device.requests.flatMap((request, place) => (request === 'GET /secret' ? [device.heads[place]!] : []));
  t.true(away.length > 0 && away.every(({ authorization }) => authorization === undefined));
});

test('a busy device is left alone for as long as it wants', async (t) => {
  const times: number[] = [];
  let [busy, retryAfter] = [0, '1'];
  const device = await startDevice(t, ({ method }, response) => {
    times.push(performance.now());
    if (busy-- > 0) response.writeHead(method === 'PUT' ? 503 : 429, { 'retry-after': retryAfter }).end();
    else if (method === 'PUT') response.writeHead(204).end();
    else json(response, { on: true });
  });
  const parameters = { lamp: { ...lamp.lamp, ask: { ...lamp.lamp.ask, every: '1h' } } };
  busy = 1;
  const hub = await startHub(t, { parameters }, { http: device.url });
  await runs(hub);
  t.is(times.length, 2);
  t.true(times[1]! - times[0]! > 900, `${times[1]! - times[0]!} ms`);
  [busy, retryAfter] = [1, '30'];
  hub.write('it/lamp', true, writer);
  await hub.logged(/cannot set lamp: the device answered 503 Service Unavailable, and accepts no requests for 30 s$/);
  t.is(times.length, 3);
  t.is(statusOf(hub, 'it').state, 'running');
});

test('a device that is busy at the login, or at its stream, is left alone as well', async (t) => {
  const times: Record<string, number[]> = { '/login': [], '/events': [] };
  const device = await startDevice(t, ({ url }, response) => {
    times[url!]?.push(performance.now());
    if (times[url!]?.length === 1) response.writeHead(503, { 'retry-after': '2' }).end();
    else if (url === '/events') response.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n');
    else json(response, { on: true });
  });
  const hub = await startHub(
    t,
    { greet: [{ path: '/login' }], events: { path: '/events' }, parameters: lamp },
    { http: device.url },
  );
  await runs(hub);
  await eventually(() => times['/events']!.length === 2);
  for (const [url, [first, second]] of Object.entries(times)) t.true(second! - first! > 1900, url);
});

test('a device that stops answering, or is gone, is stale and not asked until it is back', async (t) => {
  let isSilent = false;
  const device = await startDevice(t, (_, response) => {
    if (!isSilent) json(response, { on: true });
  });
  const hub = await startHub(t, { timeout: '100ms', parameters: lamp }, { http: device.url, connectTimeout: '500ms' });
  await runs(hub);
  isSilent = true;
  await eventually(() => isStale(hub, 'lamp'), 'stale values');
  t.is(valueAt(hub, 'lamp'), true);
  t.throws(() => hub.write('it/lamp', false, writer), { code: 'unavailable' });
  t.regex(statusOf(hub, 'it').reason!, /no answer to parameter lamp within 0\.1 s$/);
  isSilent = false;
  await eventually(() => !isStale(hub, 'lamp'), 'fresh values');
  await device.stop();
  await eventually(() => isStale(hub, 'lamp'), 'stale values');
  await device.start();
  await eventually(() => !isStale(hub, 'lamp'), 'fresh values');
  const asked = device.requests.length;
  await device.stop();
  await eventually(() => isStale(hub, 'lamp'), 'stale values');
  t.true(device.requests.length < asked + 20);
});

test('another host of the device is tried when the first one is away', async (t) => {
  const device = await startDevice(t, (_, response) => json(response, { on: true }));
  const hub = await startHub(t, { parameters: lamp }, { http: nobody, hosts: [`127.0.0.1:${device.port}`] });
  await runs(hub);
  t.is(valueAt(hub, 'lamp'), true);
});

test('a device with a pinned certificate that is gone is offline, and the hub goes on', async (t) => {
  const tls = { fingerprint: `${'00:'.repeat(31)}00` };
  const hub = await startHub(t, { parameters: lamp }, { http: nobody.replace('http:', 'https:'), tls });
  await t.notThrowsAsync(hub.logged(/^connection "it" is degraded: .* ECONNREFUSED /));
});

test('server-sent events set values; a stream that ends is opened again with the last ID, and everything is asked again', async (t) => {
  const streams: ServerResponse[] = [];
  let level = 1;
  const device = await startDevice(t, ({ url }, response) => {
    if (url === '/level') json(response, { level });
    else {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      streams.push(response);
      response.write(': welcome\r\n\r\n');
    }
  });
  const hub = await startHub(
    t,
    {
      events: { path: '/events' },
      parameters: {
        level: {
          type: 'I',
          ask: { path: '/level', reply: { level: '{value}' } },
          on: { pattern: { level: '{value}' }, event: 'level' },
        },
        name: { type: 'S', on: '{value}' },
      },
    },
    { http: device.url },
  );
  await runs(hub);
  await eventually(() => streams.length === 1);
  for (const part of ['retry: 150\n', 'id: 7 ☃\neve', 'nt: level\r', '\ndata: {"level":\r\ndata: 2}\r\n\r', '\n'])
    streams[0]!.write(part);
  await eventually(() => valueAt(hub, 'level') === 2);
  streams[0]!.write('data: first\ndata\ndata:  second\n\nevent: other\ndata: {"level":9}\n\n');
  await eventually(() => valueAt(hub, 'name') === '{"level":9}');
  t.is(valueAt(hub, 'level'), 2);
  level = 5;
  streams[0]!.end();
  await eventually(() => streams.length === 2 && valueAt(hub, 'level') === 5, 'a new stream, and a new question');
  const heads = device.heads.filter((_, place) => device.requests[place] === 'GET /events');
  t.deepEqual(
    heads.map((head) => [head.accept, head['last-event-id']]),
    [
      ['text/event-stream', undefined],
      ['text/event-stream', Buffer.from('7 ☃').toString('latin1')],
    ],
  );
  t.is(statusOf(hub, 'it').state, 'running');
  streams[1]!.write(`data: ${'x'.repeat(2_000_000)}`);
  await eventually(() => streams.length === 3, 'a new stream after an event that is too long');
});

test('mistakes in a description over HTTP are told with their place and the nearest name', (t) => {
  const text = `{
  about: 'x', transports: ['http'], frame: { end: '\\n' }, headers: { 'X-Key': '{= secret.kye}' }, secrets: ['key'],
  parameters: {
    a: { type: 'B', ask: { send: 'x', reply: '{value}' } },
    b: { type: 'B', ask: { path: 'x', reply: '{value}' } },
    c: { type: 'B', write: { path: '/{valeu}', metod: 'PUT' } },
    d: { type: 'B', write: { method: 'GET', path: '/d', body: { on: '{value:bol}' } } },
    e: { type: 'B', ask: { path: '/e', reply: { pattern: '{value}', status: 99, vlaue: '1' } } },
  },
}`;
  const shown = (mistakes: ReturnType<typeof compileDescription>['mistakes']) =>
    mistakes.map(({ line, column, path, message }) => `${line}:${column}: ${path}: ${message}`);
  const given = { variables: {}, secrets: {} };
  t.deepEqual(shown(compileDescription('it', text, given).mistakes), [
    '5:28: parameters.b.ask.path: expected a path that begins with /, got "x" (string)',
    '6:48: parameters.c.write.metod: unknown setting "metod", did you mean "method"?',
  ]);
  const right = text.replace('metod', 'method').replace("path: 'x'", "path: '/x'");
  t.deepEqual(shown(compileDescription('it', right, given).mistakes), [
    '2:90: headers.X-Key: expression: unknown secret "kye", did you mean "key"?',
    '4:28: parameters.a.ask.send: expected `path` over HTTP, with `method`, `query` and `body` if needed',
    '6:21: parameters.c.write: unknown name "valeu", did you mean "value"?',
    '7:30: parameters.d.write.method: expected POST, PUT, PATCH or DELETE with a body, got "GET"',
    '7:57: parameters.d.write.body: unknown converter "bol", expected one of int, hex, float, text, word, quoted, on, one',
    '8:81: parameters.e.ask.reply.vlaue: unknown setting "vlaue", did you mean "value"?',
    '8:69: parameters.e.ask.reply.status: expected a status 100..599, got 99 (number)',
    '2:37: frame: expected none over HTTP',
  ]);
  const tcp = `{ about: 'x', frame: { end: '\\n' }, parameters: { a: { type: 'B', ask: { path: '/a', reply: 200 } } } }`;
  t.deepEqual(shown(compileDescription('it', tcp, given).mistakes), [
    "1:86: parameters.a.ask.reply: expected text, got 200 (number); a status needs transports: ['http']",
    "1:74: parameters.a.ask.path: expected send; requests need transports: ['http']",
  ]);
});
