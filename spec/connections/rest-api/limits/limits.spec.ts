// What clients may cost (S-06, D-13, D-15), and requests that are large, late or broken.

import test, { type ExecutionContext } from 'ava';
import type { LimitName } from '../../../../lib/connections/rest-api/limits/client-limits.ts';
import { restApi } from '../../../../lib/connections/rest-api/rest-api.ts';
import { connectionSchema } from '../../../../lib/flow/check/schema.ts';
import { ask, openWire, request } from '../../../support/http.ts';
import { api, expectHits, expectQuietLog, type HubUnderTest, startTestHub } from '../../../support/hub.ts';
import { type Client, handshake, openClient } from '../../../support/sockets/socket.ts';

const writer = { kind: 'client', name: 'test' } as const;
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const chunked = { ...form, 'transfer-encoding': 'chunked' };

async function startDesk(t: ExecutionContext, settings: object = {}): Promise<{ hub: HubUnderTest; watcher: Client }> {
  const hub = await startTestHub(t, {
    connections: { api: { ...api, ...settings }, desk: { type: 'dummy', parameters: ['i,I', 's'] } },
  });
  return { hub, watcher: await openClient(t, hub.port) };
}

/** Fails unless the hub serves others, the watcher's socket is open and hears, and the log tells of nothing but limits that were hit. */
async function expectUndisturbed(
  t: ExecutionContext,
  hub: HubUnderTest,
  watcher: Client,
  hits: readonly LimitName[] = [],
): Promise<void> {
  t.is((await ask(t, hub.port, 'GET /update?parameter=desk/i&value=77')).text, 'OK');
  t.deepEqual(await watcher.frames.until(({ v }) => v === '77').then((frames) => frames.at(-1)), {
    p: 'desk/i',
    v: '77',
  });
  t.true(watcher.isOpen);
  expectHits(t, hub, hits);
}

const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

test('S-06: the defaults', (t) => {
  const config = connectionSchema(restApi).parse({ type: 'rest-api' });
  t.like(config, { port: 17_011, bindIp: '', documentRoot: '', username: '', password: '', token: '' });
  t.deepEqual(config.webSocketFilters, []);
  t.deepEqual(
    restApi.parameters(config, (path) => path),
    [],
  );
});

const head = 'parameter=desk/s&value=';
for (const [what, bytes, status] of [
  ['64 KiB', 65_536, 200],
  ['64 KiB and a byte', 65_537, 413],
  ['1 MB', 1_000_000, 413],
  ['20 MB', 20_000_000, 413],
] as const)
  test(`D-13: a body of ${what}, announced or in chunks, is answered ${status}, and the connection continues`, async (t) => {
    const { hub, watcher } = await startDesk(t);
    const body = head + 'x'.repeat(bytes - head.length);
    const wire = await openWire(t, hub.port);
    wire.send(request('POST /update', { headers: form, body }));
    const announced = await wire.answer();
    t.is(announced.status, status);
    wire.send(request('POST /update', { headers: chunked }));
    for (let at = 0; at < bytes; at += 100_000) wire.send(chunk(body.slice(at, at + 100_000)));
    wire.send('0\r\n\r\n');
    const inChunks = await wire.answer();
    t.is(inChunks.status, status);
    if (status === 413) {
      t.is(announced.text, 'body: expected at most 65536 bytes, got more\n');
      t.is(inChunks.text, announced.text);
      t.is(hub.revision, 0);
    } else t.is(String(hub.find('desk/s')?.value).length, bytes - head.length);
    wire.send(request('GET /parameters/desk/i'));
    t.is((await wire.answer()).status, 503);
    await expectUndisturbed(t, hub, watcher);
  });

test('D-13: a body that only announces 1 TB is answered immediately', async (t) => {
  const { hub, watcher } = await startDesk(t);
  const headers = { ...form, 'content-length': '1000000000000', accept: 'application/json' };
  const { status, text } = await ask(t, hub.port, 'POST /update', { headers });
  t.is(status, 413);
  t.like(JSON.parse(text), { code: 'body-too-large', status: 413 });
  await expectUndisturbed(t, hub, watcher);
});

test('D-13: a body may arrive in pieces, also after "Expect: 100-continue"', async (t) => {
  const { hub, watcher } = await startDesk(t);
  const wire = await openWire(t, hub.port);
  const body = 'parameter=desk/s&value=h%C3%A4llo';
  const headers = { ...form, 'content-length': String(body.length), expect: '100-continue' };
  wire.send(request('POST /update', { headers }));
  t.is((await wire.answer()).status, 100);
  for (const letter of body) {
    await new Promise((resolve) => wire.socket.write(letter, resolve));
    await new Promise(setImmediate);
  }
  t.is((await wire.answer()).text, 'OK');
  wire.send(request('POST /update', { headers: chunked }));
  for (const piece of ['parameter=de', 'sk/i&val', 'ue=5']) wire.send(chunk(piece));
  wire.send('0\r\n\r\n');
  t.is((await wire.answer()).text, 'OK');
  t.is(hub.find('desk/s')?.value, 'hällo');
  t.is(hub.find('desk/i')?.value, 5);
  await expectUndisturbed(t, hub, watcher);
});

const halves: [what: string, bytes: string | Buffer][] = [
  ['half a request line', 'GET /parameters/de'],
  ['half of the headers', 'GET /parameters/desk/i HTTP/1.1\r\nHost: local'],
  [
    'half a body',
    request('POST /update', { headers: { ...form, 'content-length': '100' }, body: 'parameter=desk/i&' }),
  ],
  ['half of the chunks', Buffer.concat([request('POST /update', { headers: chunked }), Buffer.from('ff\r\nparam')])],
  ['half a handshake', 'GET /ws HTTP/1.1\r\nUpgrade: websocket\r\nSec-WebSocket-Key: '],
  ['half a frame', Buffer.concat([request('GET /ws', { headers: handshake() }), Buffer.from([0x81, 0xfe, 0x10])])],
];
for (const [what, bytes] of halves)
  test(`D-13: ${what}, followed by nothing or a goodbye, has no effect on others`, async (t) => {
    const { hub, watcher } = await startDesk(t);
    for (let count = 0; count < 10; count++) {
      const wire = await openWire(t, hub.port);
      await new Promise((resolve) => wire.socket.write(bytes, resolve));
      if (count % 3 === 0) wire.socket.destroy();
      if (count % 3 === 1) wire.socket.resetAndDestroy();
    }
    await expectUndisturbed(t, hub, watcher);
    t.is(hub.revision, 1);
  });

const broken: [what: string, bytes: string, status: number][] = [
  ['no HTTP at all', '\u0000\u0001\u0002\r\n\r\n', 505],
  ['a TLS hello', '\u0016\u0003\u0001\u0002\u0000\u0001\r\n\r\n', 505],
  ['HTTP/1.0', 'GET / HTTP/1.0\r\nHost: localhost\r\n\r\n', 505],
  ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400],
  [
    'a Content-Length that is no number',
    'POST /update HTTP/1.1\r\nHost: localhost\r\nContent-Length: abc\r\n\r\n',
    400,
  ],
  [
    'two lengths of one body',
    'POST /update HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n',
    400,
  ],
  ['headers of 20 KB', `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ['a path of 20 KB', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, 431],
  ['200 headers', `GET / HTTP/1.1\r\nHost: localhost\r\n${'X: x\r\n'.repeat(200)}\r\n`, 431],
];
for (const [what, bytes, status] of broken)
  test(`RFC 9112: ${what} is answered ${status} and only its connection is closed`, async (t) => {
    const { hub, watcher } = await startDesk(t);
    const wire = await openWire(t, hub.port);
    wire.send(Buffer.from(bytes, 'latin1'));
    t.regex((await wire.closed()).toString(), new RegExp(`^HTTP/1\\.1 ${status} `));
    await expectUndisturbed(t, hub, watcher);
  });

test('D-15: WebSocket clients above maxClients are refused with 503, until one leaves', async (t) => {
  const { hub, watcher } = await startDesk(t, { maxClients: 3 });
  const clients = [await openClient(t, hub.port), await openClient(t, hub.port)];
  for (let count = 0; count < 5; count++) {
    const wire = await openWire(t, hub.port);
    wire.send(request('GET /ws', { headers: handshake() }));
    const { status, headers, text } = await wire.answer();
    t.is(status, 503);
    t.is(headers.connection, 'close');
    t.is(text, 'expected at most 3 WebSocket clients: all slots are taken\n');
    await wire.closed(); // thousands of such connections would else wait until they are idle for too long
  }
  clients[0]!.close();
  await clients[0]!.closed();
  await openClient(t, hub.port);
  await expectUndisturbed(t, hub, watcher, ['clients']);
});

test('D-15: 1000 mistakes of one client are 1000 answers to that client', async (t) => {
  const { hub, watcher } = await startDesk(t);
  const wire = await openWire(t, hub.port);
  const client = await openClient(t, hub.port);
  for (let count = 0; count < 1000; count++) {
    if (count % 20 === 0)
      for (let next = count; next < count + 20; next++) {
        wire.send(request(`GET /update?parameter=desk/i&value=wrong${next}`));
        client.send(`wrong${next}`);
      }
    const { status, text } = await wire.answer();
    if (status !== 400 || !text.includes(`"wrong${count}"`)) t.fail(`${count} was answered ${status} ${text}`);
    if ((await client.next()).error === undefined) t.fail(`${count} was not answered`);
  }
  await expectUndisturbed(t, hub, watcher);
});

test('D-17: two hundred simultaneous clients all receive every change, in order', async (t) => {
  const { hub } = await startDesk(t);
  hub.write('desk/s', 'before', writer);
  const clients = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const client = await openClient(t, hub.port, index % 2 ? '' : '?snapshot=true');
      if (index % 2 === 0) t.deepEqual(await client.next(), { p: 'desk/s', v: 'before' });
      return client;
    }),
  );
  for (let value = 1; value <= 50; value++) hub.write('desk/i', value, writer);
  clients[17]!.send({ p: 'desk/i', v: 'last' });
  clients[18]!.send({ p: 'desk/i', v: 51 });
  const expected = Array.from({ length: 51 }, (_, index) => String(index + 1));
  for (const client of clients) {
    const heard = await client.frames.until(({ v }) => v === '51');
    t.deepEqual(
      heard.flatMap(({ v }) => v ?? []),
      expected,
    );
  }
  expectQuietLog(t, hub);
});
