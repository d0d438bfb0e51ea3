// Webhooks of a real hub (D-50): requests to it over HTTP, and servers that take, refuse, delay and lose what it sends.

import { createHmac, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import test, { type ExecutionContext } from 'ava';
import { maxQueued } from '../../../lib/connections/outbox.ts';
import { schemeOf, sign, verify } from '../../../lib/connections/webhook/signature.ts';
import { loadFlows } from '../../../lib/hub/index.ts';
import type { Hub } from '../../../lib/index.ts';
import { mistakesOf } from '../../support/core.ts';
import { eventually } from '../../support/deadline.ts';
import { createFolder, thisTree } from '../../support/folder.ts';
import { api, startHubFrom, startTestHub, statusOf, writer } from '../../support/hub.ts';
import { needs } from '../../support/programs.ts';
import { makeCertificate } from '../../support/system/certificate.ts';
import { startHub } from '../../support/system/task-process.ts';

needs('openssl');

const value = (hub: Hub, address: string) => hub.find(address)?.value;
const has = (hub: Hub, address: string, expected: unknown) =>
  eventually(() => value(hub, address) === expected, `${address} = ${expected}, got ${value(hub, address)}`);

/** Counts how often a trigger fires. */
function counting(t: ExecutionContext, hub: Hub, address: string): { fires: number } {
  const count = { fires: 0 };
  const following = hub.changes$.subscribe(({ parameter }) => {
    if (parameter.address === address) count.fires++;
  });
  t.teardown(() => following.unsubscribe());
  return count;
}

async function startReceiving(t: ExecutionContext, doorbell: object, more: object = {}) {
  const flow = { connections: { api: { ...api, ...more }, hooks: { type: 'webhook', in: { doorbell } } } };
  const hub = await startTestHub(t, flow);
  const post = async (body: string | Uint8Array, headers: Record<string, string> = {}, path = 'doorbell') => {
    const response = await fetch(`http://127.0.0.1:${hub.port}/hub/hooks/${path}`, {
      method: 'POST',
      body: body as string,
      headers: { accept: 'text/plain', 'content-type': 'application/json', ...headers },
    });
    return { status: response.status, text: (await response.text()).trim() };
  };
  return { hub, post };
}

const token = 'open sesame';
const bearer = { authorization: 'Bearer open-sesame' };
const values = {
  battery: { type: 'I', path: 'device.battery', min: 0, max: 100, unit: '%' },
  open: { type: 'B', on: 'opened', off: 'closed', path: 'state' },
  level: { type: 'F', value: 'value / 10' },
  ring: { type: 'T', path: 'event', on: 'ring' },
};

test('a delivery sets typed parameters and fires the trigger of the hook, in one turn', async (t) => {
  const { hub, post } = await startReceiving(t, { token: 'open-sesame', values });
  const fired = counting(t, hub, 'hooks/doorbell');
  const rung = counting(t, hub, 'hooks/doorbell/ring');
  const answer = await post('{"device":{"battery":71.9},"state":"opened","level":"35","event":"ring"}', bearer);
  t.deepEqual(answer, { status: 204, text: '' });
  t.is(value(hub, 'hooks/doorbell/battery'), 71);
  t.is(value(hub, 'hooks/doorbell/open'), true);
  t.is(value(hub, 'hooks/doorbell/level'), 3.5);
  t.deepEqual([fired.fires, rung.fires], [1, 1]);
  t.deepEqual(await post('{"event":"off","battery":3}', bearer), { status: 204, text: '' });
  t.deepEqual([fired.fires, rung.fires, value(hub, 'hooks/doorbell/battery')], [2, 1, 71]);
  const { origin } = hub.find('hooks/doorbell/battery')!.lastChange!;
  t.deepEqual([origin.kind, origin.name], ['connection', 'hooks']);
  const [frame] = hub.wire('hooks', 0);
  t.regex(frame!.text, /^doorbell from 127\.0\.0\.1 \{"device"/);
});

test('forms and text are read, other bodies are answered 415', async (t) => {
  const { hub, post } = await startReceiving(t, { token: 'open-sesame', values: { event: { type: 'S' } } });
  const event = () => value(hub, 'hooks/doorbell/event');
  t.is(
    (await post('event=ring+twice&x=1', { ...bearer, 'content-type': 'application/x-www-form-urlencoded' })).status,
    204,
  );
  t.is(event(), 'ring twice');
  t.is((await post('rung', { ...bearer, 'content-type': 'text/plain; charset=utf-8' })).status, 204);
  t.is(event(), 'rung');
  for (const type of ['application/xml', 'text/plain; charset=latin1', 'multipart/form-data; boundary=x'])
    t.is((await post('x', { ...bearer, 'content-type': type })).status, 415, type);
  t.is((await post('', bearer)).status, 204);
});

test('what is wrong with a body is a sentence, and sets nothing', async (t) => {
  const one = { ...values, battery: { ...values.battery, required: true } };
  const { hub, post } = await startReceiving(t, { token: 'open-sesame', values: one, maxBytes: 200 });
  const fired = counting(t, hub, 'hooks/doorbell');
  const wrong = async (body: string | Uint8Array, status: number, text: RegExp) => {
    const answer = await post(body, bearer);
    t.is(answer.status, status, answer.text);
    t.regex(answer.text, text);
  };
  await wrong('{"device":', 422, /^body: expected JSON, got invalid text: /);
  await wrong(Buffer.from([0x7b, 0xff, 0x7d]), 422, /^body: expected UTF-8, got invalid bytes$/);
  await wrong('{"state":"opened"}', 422, /^battery: expected a value, got nothing$/);
  await wrong('{"device":{"battery":"full"}}', 422, /^battery: expected .*, got "full"/);
  await wrong('{"device":{"battery":101}}', 422, /^battery: expected a number from 0 to 100, got 101$/);
  await wrong('{"device":{"battery":7},"state":"ajar"}', 422, /^open: expected "opened" \(string\) or "closed"/);
  await wrong(`{"device":{"battery":7},"x":"${'x'.repeat(200)}"}`, 413, /^body: expected at most 200 bytes, got \d+$/);
  await wrong(`"${'x'.repeat(70_000)}"`, 413, /^body: expected at most 65536 bytes, got more$/);
  t.is(fired.fires, 0);
  t.is(value(hub, 'hooks/doorbell/battery'), undefined);
});

test('an unknown name and a wrong secret have the same answer, and too many of them from an address have 429', async (t) => {
  const { hub, post } = await startReceiving(t, { token: 'open-sesame' });
  const expected = { status: 401, text: 'expected the name and the secret of a webhook on this hub' };
  t.deepEqual(await post('{}'), expected);
  t.deepEqual(await post('{}', { authorization: 'Bearer other' }), expected);
  t.deepEqual(await post('{}', bearer, 'doorbell2'), expected);
  t.deepEqual(await post('{}', bearer, '__proto__'), expected);
  t.is((await post('{}', bearer, 'a/b')).status, 404);
  const statuses = await Promise.all(Array.from({ length: 40 }, async () => (await post('{}', {}, 'none')).status));
  t.true(statuses.includes(429));
  t.is((await post('{}', bearer)).status, 204, 'right secrets are still accepted');
  const url = `http://127.0.0.1:${hub.port}/hub/hooks/doorbell`;
  for (const method of ['GET', 'PUT', 'DELETE']) {
    const response = await fetch(url, { method });
    t.is(response.status, 405, method);
    t.is(response.headers.get('allow'), 'POST');
  }
});

test('senders need no user of the hub, and a user of the hub is no sender', async (t) => {
  const users = { users: { ann: { password: 'a long password', write: ['**'] } } };
  const { post } = await startReceiving(t, { token: 'open-sesame' }, users);
  t.is((await post('{}', bearer)).status, 204);
  const basic = `Basic ${Buffer.from('ann:a long password').toString('base64')}`;
  t.is((await post('{}', { authorization: basic })).status, 401);
});

test('a token may be in a header or in the query', async (t) => {
  const { post } = await startReceiving(t, { token, where: { header: 'X-Gitlab-Token' } });
  t.is((await post('{}', { 'x-gitlab-token': token })).status, 204);
  t.is((await post('{}', { authorization: `Bearer ${token}` })).status, 401);
  const other = await startReceiving(t, { token, where: { query: 'key' } });
  t.is((await other.post('{}', {}, 'doorbell?key=open+sesame')).status, 204);
  t.is((await other.post('{}', {}, 'doorbell?key=open')).status, 401);
});

const secret = `whsec_${Buffer.from('a secret of some length').toString('base64')}`;
const signed = (body: string, id: string, atMs = Date.now()) =>
  sign(schemeOf('standard'), secret, { id, timestamp: Math.floor(atMs / 1000) }, Buffer.from(body)) as Record<
    string,
    string
  >;

test('a delivery that is repeated is answered the same and has no effect, an old one is refused', async (t) => {
  const { hub, post } = await startReceiving(t, { secret });
  const fired = counting(t, hub, 'hooks/doorbell');
  const headers = signed('{}', 'one');
  t.is((await post('{}', headers)).status, 204);
  t.is((await post('{}', headers)).status, 204);
  t.is((await post('{}', signed('{}', 'one', Date.now() - 2000))).status, 204, 'the same ID, sent again later');
  t.regex(hub.wire('hooks', 0).at(-1)!.text, /^doorbell repeated from 127\.0\.0\.1 /);
  t.is(fired.fires, 1);
  t.is((await post('{}', signed('{}', 'two'))).status, 204);
  t.is(fired.fires, 2);
  const old = await post('{}', signed('{}', 'three', Date.now() - 301_000));
  t.is(old.status, 401);
  t.regex(old.text, /^delivery time: expected a time within 300 s of now, got 30\d s ago$/);
  t.is((await post('{}', signed('{}', 'three', Date.now() + 320_000))).status, 401);
  t.is((await post('{ }', headers)).status, 401);
  t.is(fired.fires, 2);
});

test('a signature without a time or an ID is not sent again with another unsigned ID', async (t) => {
  const { hub, post } = await startReceiving(t, { secret: 'github secret', signature: 'github' });
  const fired = counting(t, hub, 'hooks/doorbell');
  const digest = createHmac('sha256', 'github secret').update('{}').digest('hex');
  const headers = (id: string) => ({ 'x-hub-signature-256': `sha256=${digest}`, 'x-github-delivery': id });
  for (const id of ['a', 'a', 'b']) t.is((await post('{}', headers(id))).status, 204);
  t.is(fired.fires, 1);
});

test('more deliveries in a second than perSecond are answered 429, and others are not held up', async (t) => {
  const flow = {
    connections: {
      api,
      hooks: {
        type: 'webhook',
        in: { one: { token, where: { header: 'x' }, perSecond: 1 }, two: { token, where: { header: 'x' } } },
      },
    },
  };
  const hub = await startTestHub(t, flow);
  const post = (name: string) =>
    fetch(`http://127.0.0.1:${hub.port}/hub/hooks/${name}`, { method: 'POST', headers: { x: token } });
  const startedMs = performance.now();
  const answers = await Promise.all(Array.from({ length: 12 }, () => post('one')));
  const seconds = (performance.now() - startedMs) / 1000;
  const refused = answers.filter(({ status }) => status === 429);
  t.true(refused.length >= 12 - 1 - seconds && refused.length <= 11, `${refused.length} refused in ${seconds} s`);
  t.truthy(refused[0]!.headers.get('retry-after'));
  t.is((await post('two')).status, 204);
});

test('with a store, a hub that starts again still knows the deliveries', async (t) => {
  const folder = await createFolder(t, {});
  const flow = {
    connections: { api, hooks: { type: 'webhook', in: { doorbell: { secret } } }, store: { type: 'store', folder } },
  };
  const headers = signed('{}', 'before');
  const post = async (hub: { port: number }, sent: Record<string, string>) =>
    (await fetch(`http://127.0.0.1:${hub.port}/hub/hooks/doorbell`, { method: 'POST', body: '{}', headers: sent }))
      .status;
  const first = await startTestHub(t, flow);
  const json = { ...headers, 'content-type': 'application/json' };
  t.is(await post(first, json), 204);
  await first.stop();
  const second = await startTestHub(t, flow);
  const fired = counting(t, second, 'hooks/doorbell');
  t.is(await post(second, json), 204);
  t.is(fired.fires, 0);
  t.is(await post(second, { ...signed('{}', 'after'), 'content-type': 'application/json' }), 204);
  t.is(fired.fires, 1);
});

test('a webhook that a reload removes is unknown, one that it changes still knows its deliveries', async (t) => {
  const flowOf = (hooks: object) => ({ connections: { api, hooks: { type: 'webhook', in: hooks } } });
  const hub = await startHubFrom(t, { 'flow.json5': flowOf({ doorbell: { secret }, other: { secret } }) });
  const post = async (name: string, headers: Record<string, string>) =>
    (
      await fetch(`http://127.0.0.1:${hub.port}/hub/hooks/${name}`, {
        method: 'POST',
        body: '{}',
        headers: { ...headers, 'content-type': 'application/json' },
      })
    ).status;
  const headers = signed('{}', 'one');
  t.is(await post('doorbell', headers), 204);
  t.is(await post('other', headers), 204);
  await writeFile(`${hub.folder}/flow.json5`, JSON.stringify(flowOf({ doorbell: { secret, perSecond: 9 } })));
  await hub.reload();
  const fired = counting(t, hub, 'hooks/doorbell');
  t.is(await post('doorbell', headers), 204);
  t.is(fired.fires, 0);
  t.is(await post('other', signed('{}', 'two')), 401);
});

// What the hub sends.

interface Taken {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A target that answers as `answer` says: it gets the number of the request. */
async function startTarget(
  t: ExecutionContext,
  answer: (response: ServerResponse, number: number, request: IncomingMessage) => void = (response) => response.end(),
) {
  const taken: Taken[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      taken.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      answer(response, taken.length, request);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  t.teardown(close);
  const { port } = server.address() as { port: number };
  return {
    taken,
    port,
    url: `http://127.0.0.1:${port}/hook`,
    close,
    has: (count: number) => eventually(() => taken.length >= count, `${count} requests`),
  };
}

const desk = { type: 'dummy', parameters: ['mic,B,true', 'level,F,0.5', 'name,S', 'go,T'] };
const startSending = (t: ExecutionContext, out: object, more: object = {}) =>
  startTestHub(t, { connections: { api, desk, hooks: { type: 'webhook', out, ...more } } });

test('a write sends a body with values and expressions, signed, and the counts are parameters', async (t) => {
  const target = await startTarget(t);
  const hub = await startSending(
    t,
    {
      door: {
        url: `${target.url}?a=1`,
        type: 'F',
        secret,
        headers: { 'X-Room': 'studio 1' },
        body: {
          text: 'level {value}, mic {mic}',
          level: '{= value * 100}',
          mic: '{mic}',
          name: '{name}',
          list: [1, '{{'],
        },
      },
      plain: { url: target.url, method: 'PUT', body: 'mic is {mic} {name}' },
      bare: { url: target.url, type: 'S' },
    },
    { inputs: { mic: 'desk/mic', name: 'desk/name' } },
  );
  t.is(statusOf(hub, 'hooks').state, 'running');
  hub.write('hooks/door', 0.25, writer);
  await target.has(1);
  const [{ method, url, headers, body }] = target.taken as [Taken];
  t.deepEqual(
    [method, url, headers['content-type'], headers['x-room']],
    ['POST', '/hook?a=1', 'application/json', 'studio 1'],
  );
  t.deepEqual(JSON.parse(body), { text: 'level 0.25, mic true', level: 25, mic: true, name: null, list: [1, '{'] });
  t.truthy(verify(schemeOf('standard'), secret, (name) => String(headers[name] ?? ''), Buffer.from(body)));
  await has(hub, 'hooks/door/delivered', 1);
  t.is(value(hub, 'hooks/door/pending'), 0);
  t.is(value(hub, 'hooks/door/online'), true);
  hub.write('hooks/plain', true, writer);
  await target.has(2);
  t.deepEqual([target.taken[1]!.method, target.taken[1]!.body], ['PUT', 'mic is true unknown']);
  hub.write('hooks/bare', 'hello', writer);
  await target.has(3);
  const bare = JSON.parse(target.taken[2]!.body);
  t.deepEqual([bare.type, bare.data], ['bare', { value: 'hello' }]);
  t.regex(bare.timestamp, /^\d{4}-/);
});

test('a target that is busy gets the same message again, after Retry-After, before any later one', async (t) => {
  const target = await startTarget(t, (response, number) => {
    response.statusCode = number < 3 ? (number === 1 ? 503 : 429) : 200;
    if (number < 3) response.setHeader('Retry-After', '1');
    response.end('not yet');
  });
  const hub = await startSending(t, { door: { url: target.url, type: 'I', body: '{value}' } });
  for (const number of [1, 2, 3]) hub.write('hooks/door', number, writer);
  await eventually(() => statusOf(hub, 'hooks').state === 'degraded', 'a degraded connection');
  t.regex(statusOf(hub, 'hooks').reason, /^127\.0\.0\.1:\d+: answered 503 Service Unavailable: not yet$/);
  await has(hub, 'hooks/door/delivered', 3);
  t.deepEqual(
    target.taken.map(({ body }) => body),
    ['1', '1', '1', '2', '3'],
  );
  t.is(new Set(target.taken.slice(0, 3).map(({ headers }) => headers['webhook-id'])).size, 1);
  t.is(new Set(target.taken.map(({ headers }) => headers['webhook-id'])).size, 3);
  t.is(statusOf(hub, 'hooks').state, 'running');
});

test('a connection that the target closes while it is idle is no fault: the message is sent again at once, with its ID', async (t) => {
  const sockets = new Set<unknown>();
  const target = await startTarget(t, (response, _, { socket }) => {
    if (sockets.has(socket))
      socket.destroy(); // it has taken the connection for idle
    else response.end();
    sockets.add(socket);
  });
  const hub = await startSending(t, { door: { url: target.url, type: 'I', body: '{value}' } });
  const online: unknown[] = [];
  const listening = hub.changes$.subscribe(({ parameter, value }) => {
    if (parameter.address === 'hooks/door/online') online.push(value);
  });
  t.teardown(() => listening.unsubscribe());
  for (const number of [1, 2, 3]) {
    hub.write('hooks/door', number, writer);
    await has(hub, 'hooks/door/delivered', number);
  }
  t.deepEqual(
    target.taken.map(({ body }) => body),
    ['1', '2', '2', '3', '3'],
  );
  t.is(new Set(target.taken.map(({ headers }) => headers['webhook-id'])).size, 3);
  t.deepEqual(online, [true]);
});

test('what a target refuses for good counts as failed, a redirect is not followed, an endless answer ends', async (t) => {
  const other = await startTarget(t);
  const target = await startTarget(t, (response, number) => {
    if (number === 1) response.writeHead(401).end('wrong key');
    else if (number === 2) response.writeHead(307, { location: other.url }).end();
    else {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    }
  });
  const hub = await startSending(t, { door: { url: target.url, headers: { authorization: 'Bearer hidden-key' } } });
  const reasons: string[] = [];
  hub.write('hooks/door', true, writer);
  await has(hub, 'hooks/door/failed', 1);
  reasons.push(statusOf(hub, 'hooks').reason);
  hub.write('hooks/door', true, writer);
  await has(hub, 'hooks/door/failed', 2);
  reasons.push(statusOf(hub, 'hooks').reason);
  t.regex(reasons[0]!, /answered 401 Unauthorized: wrong key$/);
  t.regex(reasons[1]!, /answered 307 Temporary Redirect; redirects are not followed: set url to the final address$/);
  t.is(other.taken.length, 0);
  hub.write('hooks/door', true, writer);
  await has(hub, 'hooks/door/delivered', 1);
  t.false(JSON.stringify([hub.wire('hooks', 0), hub.lines]).includes('hidden-key'));
});

test('a dead target loses only what does not fit, and holds up neither others nor the hub', async (t) => {
  const target = await startTarget(t);
  const silent = createTcpServer((socket) => socket.on('error', () => {}));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.teardown(() => silent.close());
  const { port } = silent.address() as { port: number };
  const out = {
    dead: { url: `http://127.0.0.1:${port}/`, type: 'I' },
    live: { url: target.url, type: 'I', body: '{value}' },
  };
  const hub = await startSending(t, out, { timeout: 300, giveUpAfter: '1h' });
  for (let number = 0; number < maxQueued + 500; number++) hub.write('hooks/dead', number, writer);
  hub.write('hooks/live', 7, writer);
  await has(hub, 'hooks/live/delivered', 1);
  await has(hub, 'hooks/dead/dropped', 500);
  t.is(value(hub, 'hooks/dead/pending'), maxQueued);
  await has(hub, 'hooks/dead/online', false);
  t.regex(statusOf(hub, 'hooks').reason, /^127\.0\.0\.1:\d+: no answer within 0\.3 s$/);
  const metrics = await (await fetch(`http://127.0.0.1:${hub.port}/hub/metrics`)).text();
  t.true(
    metrics.includes(`patchbay_messages_total{id="hooks",result="dropped"} 500\n`),
    metrics.match(/patchbay_messages.*/g)?.join('\n'),
  );
  t.true(metrics.includes(`patchbay_messages_pending{id="hooks"} ${maxQueued}\n`));
});

test('what waits when the hub ends is sent by the next run if there is a store', async (t) => {
  const folder = await createFolder(t, {});
  const target = await startTarget(t, (response, number) => {
    response.statusCode = number === 1 ? 503 : 200;
    response.end();
  });
  const flow = {
    connections: {
      store: { type: 'store', folder },
      hooks: { type: 'webhook', out: { door: { url: target.url, type: 'I', body: '{value}' } }, timeout: 300 },
    },
  };
  const first = await startTestHub(t, flow);
  for (const number of [1, 2, 3]) first.write('hooks/door', number, writer);
  await has(first, 'hooks/door/online', false);
  await first.stop();
  const second = await startTestHub(t, flow);
  await has(second, 'hooks/door/delivered', 3);
  t.deepEqual(
    target.taken.map(({ body }) => body),
    ['1', '1', '2', '3'],
  );
});

test('what waits when the hub is killed is sent by the next one if there is a store', async (t) => {
  const folder = await createFolder(t, {});
  let isUp = false;
  const target = await startTarget(t, (response) => response.writeHead(isUp ? 204 : 503).end());
  const flow = {
    connections: {
      store: { type: 'store', folder: `${folder}/store` },
      hooks: { type: 'webhook', out: { door: { url: target.url, type: 'I', body: '{value}' } } },
    },
  };
  const first = await startHub(flow, folder, { hubFolder: thisTree, isQuick: true });
  for (const number of [1, 2, 3])
    await fetch(`http://127.0.0.1:${first.port}/update`, {
      method: 'POST',
      body: new URLSearchParams({ parameter: 'hooks/door', value: `${number}` }),
    });
  await target.has(1);
  await eventually(() => keptMessages(`${folder}/store/values.db`) === 3, 'three messages in the store');
  first.process.kill('SIGKILL');
  await once(first.process, 'exit');
  isUp = true;
  const before = target.taken.length;
  const second = await startHub(flow, folder, { hubFolder: thisTree, isQuick: true });
  await target.has(before + 3);
  await second.stop(true);
  t.deepEqual(
    target.taken.slice(before).map(({ body }) => body),
    ['1', '2', '3'],
  );
});

function keptMessages(file: string): unknown {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database.prepare('SELECT count(*) AS count FROM under_way').get()!.count;
  } finally {
    database.close();
  }
}

test('with simulate everything counts as delivered, and nothing is sent', async (t) => {
  const target = await startTarget(t);
  const hub = await startSending(t, { door: { url: target.url } }, { simulate: true });
  hub.write('hooks/door', true, writer);
  await has(hub, 'hooks/door/delivered', 1);
  t.is(target.taken.length, 0);
});

test('each error in the settings has its place', async (t) => {
  const mistakes = async (settings: object) =>
    (await mistakesOf(t, { connections: { desk, hooks: { type: 'webhook', ...settings } } })).join('\n');
  const url = 'https://example.org/';
  t.regex(await mistakes({}), /expected at least one webhook in `in` or `out`/);
  t.regex(await mistakes({ in: { bell: {} } }), /in\.bell: expected a secret or a token, because anyone could call/);
  t.regex(
    await mistakes({ in: { bell: { token: 'x', secret: 'y' } } }),
    /in\.bell: expected either `secret` or `token`/,
  );
  t.regex(
    await mistakes({ in: { Bell: { token: 'x' } } }),
    /expected a name of at most 64 characters a to z, 0 to 9 and -/,
  );
  t.regex(await mistakes({ in: { bell: { secret: 'whsec_!' } } }), /in\.bell\.secret: expected base64 after whsec_/);
  t.regex(
    await mistakes({ in: { bell: { secret: 's', signature: { header: 'x', content: '{timestamp}.{body}' } } } }),
    /expected the header of \{timestamp\} in `content`/,
  );
  t.regex(
    await mistakes({ in: { bell: { token: 'x', values: { a: { type: 'I', value: 'value +' } } } } }),
    /values\.a\.value/,
  );
  t.regex(await mistakes({ out: { door: { url: 'ftp://x' } } }), /out\.door\.url: expected the address of a target/);
  t.notRegex(await mistakes({ out: { door: { url: 'https://u:hidden@x/' } } }), /hidden/);
  t.regex(await mistakes({ out: { door: { url, body: '{mci}' } } }), /out\.door\.body: unknown name "mci"/);
  t.regex(await mistakes({ out: { door: { url, body: { a: '{= value * }' }, type: 'I' } } }), /out\.door\.body\.a/);
  t.regex(await mistakes({ out: { door: { url, headers: { 'X-A': 'a\r\nX-B: b' } } } }), /expected one line/);
  t.regex(
    await mistakes({ in: { door: { token: 'x', values: { pending: { type: 'I' } } } }, out: { door: { url } } }),
    /expected each Parameter ID once/,
  );
  const two = {
    connections: {
      a: { type: 'webhook', in: { bell: { token: 'x' } } },
      b: { type: 'webhook', in: { bell: { token: 'y' } } },
    },
  };
  t.regex((await mistakesOf(t, two)).join('\n'), /expected exclusive use of webhook bell, but "a" also uses it/);
});

test('https is verified, by a certificate or its fingerprint, before anything is sent', async (t) => {
  const folder = await createFolder(t);
  const cert = makeCertificate(folder, 'target');
  const key = await readFile(`${folder}/target.key`);
  const taken: string[] = [];
  const server = createSecureServer({ cert, key }, (request, response) => {
    taken.push(String(request.headers.authorization));
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as { port: number };
  const out = { door: { url: `https://localhost:${port}/`, headers: { authorization: 'Bearer only-for-it' } } };
  const { fingerprint256 } = new X509Certificate(cert);
  for (const tls of [
    {},
    { fingerprint: fingerprint256.replace(/^../, fingerprint256.startsWith('00') ? '01' : '00') },
  ]) {
    const hub = await startSending(t, out, { tls });
    hub.write('hooks/door', true, writer);
    await has(hub, 'hooks/door/online', false);
    t.regex(
      statusOf(hub, 'hooks').reason,
      /certificate is self-signed; set tls\.caFile|expected the certificate .*, got /,
    );
    await hub.stop();
  }
  t.deepEqual(taken, []);
  for (const tls of [{ fingerprint: fingerprint256 }, { caFile: `${folder}/target.crt` }]) {
    const hub = await startSending(t, out, { tls });
    hub.write('hooks/door', true, writer);
    await has(hub, 'hooks/door/delivered', 1);
  }
  t.deepEqual(taken, ['Bearer only-for-it', 'Bearer only-for-it']);
});

test('a rule in shadow sends nothing', async (t) => {
  const target = await startTarget(t);
  const hub = await startTestHub(t, {
    connections: { desk, hooks: { type: 'webhook', out: { door: { url: target.url }, live: { url: target.url } } } },
    rules: [
      { name: 'in shadow', from: 'desk/go', to: 'hooks/door', shadow: true },
      { name: 'live', from: 'desk/go', to: 'hooks/live' },
    ],
  });
  hub.write('desk/go', true, writer);
  await has(hub, 'hooks/live/delivered', 1);
  t.is(target.taken.length, 1);
  t.is(value(hub, 'hooks/door/pending'), 0);
});

test('the audit has each accepted delivery and wrong secrets, with the address behind a trusted proxy', async (t) => {
  const folder = await createFolder(t);
  const hub = await startTestHub(t, {
    connections: {
      api: { ...api, trustedProxies: ['127.0.0.1'] },
      hooks: { type: 'webhook', in: { doorbell: { token, where: { header: 'x' } } } },
      store: { type: 'store', folder, audit: {} },
    },
  });
  const post = (key: string) =>
    fetch(`http://127.0.0.1:${hub.port}/hub/hooks/doorbell`, {
      method: 'POST',
      headers: { x: key, 'x-forwarded-for': '203.0.113.7' },
    });
  t.is((await post(token)).status, 204);
  t.is((await post('wrong')).status, 401);
  const entries = async () => {
    const answer = await fetch(`http://127.0.0.1:${hub.port}/hub/audit?kind=sign-in`, {
      headers: { accept: 'application/json' },
    });
    return (await answer.text()).split('\n').join(' ');
  };
  await eventually(async () => /refused/.test(await entries()), 'an entry of the refused one');
  t.regex(await entries(), /api 203\.0\.113\.7.*in.*by webhook doorbell/);
  t.regex(hub.wire('hooks', 0)[0]!.text, /^doorbell from 203\.0\.113\.7 /);
});

test('what works but can be abused is a hint', async (t) => {
  const settings = {
    in: {
      one: { secret: 'the same', signature: { header: 'x' } },
      two: { secret: 'the same' },
      three: { token: 'another', where: { query: 'key' } },
    },
    out: { door: { url: 'http://10.0.0.9/', secret: 'third' } },
  };
  const flow = { connections: { hooks: { type: 'webhook', ...settings } } };
  const { hints } = await loadFlows([await createFolder(t, { 'flow.json5': flow })]);
  const found = [...(hints?.() ?? [])].join('\n');
  t.regex(found, /in\.one\.signature: a recorded delivery can be sent again/);
  t.regex(found, /in\.two: a delivery to one is valid here as well, because both have the same secret/);
  t.regex(found, /in\.three\.where: proxies and senders log request addresses/);
  t.regex(found, /out\.door\.url: http:\/\/ is not encrypted/);
});
