// A proxy and the hub behind it could cut these requests at different places (RFC 9112 sections 6.3 and 11.2). The hub refuses them, closes
// their connection, and does nothing of what came behind them.

import test from 'ava';
import { ask, openWire } from '../../../support/http.ts';
import { api, expectQuietLog, startTestHub } from '../../../support/hub.ts';

const body = 'parameter=desk/i&value=5';
const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
const smuggled = 'GET /update?parameter=desk/i&value=9 HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** `said` is what the hub itself says. Where it is missing, the library refuses before the hub sees anything. */
const refused: [headers: string[], body: string, said?: RegExp][] = [
  [['Content-Length: 24', 'Content-Length: 3'], body, /^Content-Length: expected one header, got 2\n$/],
  [['Content-Length: 3', 'Content-Length: 24'], body, /^Content-Length: expected one header, got 2\n$/],
  [['Content-Length: 24', 'content-length: 24'], body, /^Content-Length: expected one header, got 2\n$/],
  [['Content-Length:', 'Content-Length: 24'], body, /^Content-Length: expected one header, got 2\n$/],
  [['Content-Length:'], '', /^Content-Length: expected a number of bytes, got ""\n$/],
  [['Content-Length: 24, 24'], body],
  [['Content-Length: +24'], body],
  [['Content-Length: -1'], body],
  [['Content-Length: 0x18'], body],
  [['Content-Length: 2 4'], body],
  [['Content-Length: 99999999999999999999'], body],
  [['Content-Length : 24'], body],
  [['Content-Length: 24', 'Transfer-Encoding: chunked'], chunked],
  [
    ['Content-Length:', 'Transfer-Encoding: chunked'],
    chunked,
    /^expected Content-Length or Transfer-Encoding, got both\n$/,
  ],
  [['Transfer-Encoding:', 'Content-Length: 24'], body, /^expected Content-Length or Transfer-Encoding, got both\n$/],
  [['Transfer-Encoding: gzip'], chunked, /^Transfer-Encoding: expected chunked, got "gzip"\n$/],
  [['Transfer-Encoding: xchunked'], chunked, /^Transfer-Encoding: expected chunked, got "xchunked"\n$/],
  [['Transfer-Encoding: identity'], chunked, /^Transfer-Encoding: expected chunked, got "identity"\n$/],
  [['Transfer-Encoding: chunked, gzip'], chunked, /^Transfer-Encoding: expected chunked, got "chunked, gzip"\n$/],
  [['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], chunked, /^Transfer-Encoding: expected one header/],
  [['Transfer-Encoding : chunked'], chunked],
  [['X: a', ' folded: b', 'Content-Length: 24'], body],
  [['X: a\nContent-Length: 24'], body],
  [['X: a\0b', 'Content-Length: 24'], body],
  [['Host: foreign.example', 'Content-Length: 24'], body],
  [['Transfer-Encoding: chunked'], `+${chunked}`],
  [['Transfer-Encoding: chunked'], `0x${chunked}`],
];

test('RFC 9112: an ambiguous request is answered 400, and has no effect', async (t) => {
  const hub = await startTestHub(t, {
    connections: { api, desk: { type: 'dummy', parameters: ['i,I,0'] } },
  });
  const form = 'Content-Type: application/x-www-form-urlencoded';
  for (const [headers, content, said] of refused) {
    const what = headers.join(' | ');
    const head = ['POST /update HTTP/1.1', 'Host: localhost', form, ...headers].join('\r\n');
    const alone = await openWire(t, hub.port);
    alone.send(Buffer.from(`${head}\r\n\r\n${content}`, 'latin1'));
    const { status, text } = await alone.answer();
    t.is(status, 400, what);
    if (said !== undefined) t.regex(text, said, what);
    await alone.closed();
    const first = await openWire(t, hub.port);
    first.send(Buffer.from(`${head}\r\n\r\n${content}${smuggled}`, 'latin1'));
    t.notRegex((await first.closed()).toString(), /^HTTP\/1\.1 (?!400)/m, what);
    t.is(hub.find('desk/i')!.value, 0, what);
  }
  expectQuietLog(t, hub);
});

/** What uWebSockets.js makes of a request by itself; the README of the room says so. */
const unseen: [what: string, headers: string, content: string, statuses: number[]][] = [
  ['line ends of chunks are any bytes', 'Transfer-Encoding: chunked\r\n', chunked.replace('5\r\n0', '5XX0'), [200]],
  ['headers end at an empty name', `: x\r\nContent-Length: ${smuggled.length}\r\n`, smuggled, [400, 200]],
];
test('RFC 9112: the library accepts or refuses these before the hub can see them', async (t) => {
  const hub = await startTestHub(t, { connections: { api, desk: { type: 'dummy', parameters: ['i,I,0'] } } });
  for (const [what, headers, content, statuses] of unseen) {
    const wire = await openWire(t, hub.port);
    const form = 'Content-Type: application/x-www-form-urlencoded\r\n';
    wire.send(`POST /update HTTP/1.1\r\nHost: localhost\r\n${form}${headers}\r\n${content}`);
    for (const status of statuses) t.is((await wire.answer()).status, status, what);
  }
  const wire = await openWire(t, hub.port);
  wire.send(`GET /hub/health HTTP/1.1\r\nHost: localhost\r\nContent-Length:\r\nContent-Length: 9\r\n\r\n${smuggled}`);
  for (const status of [200, 200])
    t.is((await wire.answer()).status, status, 'of what only reads, a length behind an empty one');
});

const trailer = chunked.replace(/\r\n$/, 'X: y\r\n\r\n');
/** What comes at once, and what later; the library takes a trailer for the next request, and answers that. */
const trailers: [what: string, line: string, headers: string, now: string, later: string, status: number][] = [
  ['with the body', 'POST /update', '', trailer, '', 505],
  ['with the last chunk', 'POST /update', '', trailer.slice(0, -11), trailer.slice(-11), 505],
  ['that is announced', 'POST /update', 'Trailer: X\r\n', '', trailer, 400],
  ['that is announced, with the body', 'POST /update', 'Trailer: X\r\n', trailer, '', 505],
  ['that is announced and does not come', 'POST /update', 'trailer: x\r\n', chunked, '', 400],
  ['of a GET', 'GET /update?parameter=desk/i&value=9', '', trailer, '', 505],
  ['of a GET, later', 'GET /update?parameter=desk/i&value=9', '', '', trailer, 400],
  [
    'of a switch',
    'POST /hub/connections/desk',
    'Content-Type: application/json\r\n',
    '11\r\n{"action":"stop"}\r\n0\r\nX: y\r\n\r\n',
    '',
    505,
  ], // prettier-ignore
];
test('D-41: a request with a trailer has no effect', async (t) => {
  const hub = await startTestHub(t, { connections: { api, desk: { type: 'dummy', parameters: ['i,I,0'] } } });
  for (const [what, line, headers, now, later, status] of trailers) {
    const form = headers.includes('Content-Type') ? '' : 'Content-Type: application/x-www-form-urlencoded\r\n';
    const wire = await openWire(t, hub.port);
    wire.send(`${line} HTTP/1.1\r\nHost: localhost\r\n${form}${headers}Transfer-Encoding: chunked\r\n\r\n${now}`);
    if (later !== '') {
      await ask(t, hub.port, 'GET /hub/health/live'); // so that it comes by itself: the hub has read what came before
      wire.send(later);
    }
    t.regex((await wire.closed()).toString(), new RegExp(`^HTTP/1\\.1 ${status} `), what);
    t.is(hub.find('desk/i')!.value, 0, what);
    t.is(hub.connections().find(({ id }) => id === 'desk')!.state, 'running');
  }
});

test('RFC 9112: a request after a chunked body ends the connection, and neither has an effect', async (t) => {
  const hub = await startTestHub(t, { connections: { api, desk: { type: 'dummy', parameters: ['i,I,0'] } } });
  const form = 'Content-Type: application/x-www-form-urlencoded\r\n';
  const wire = await openWire(t, hub.port);
  const head = `POST /update HTTP/1.1\r\nHost: localhost\r\n${form}Transfer-Encoding: chunked\r\n\r\n`;
  wire.send(head + chunked + smuggled);
  t.is((await wire.closed()).length, 0);
  t.is(hub.find('desk/i')!.value, 0);
  const next = await openWire(t, hub.port);
  next.send(head + chunked);
  t.is((await next.answer()).text, 'OK');
  next.send(smuggled);
  t.is((await next.answer()).text, 'OK');
  t.is(hub.find('desk/i')!.value, 9);
});

for (const line of [
  'GET /hub/health HTTP/1.0',
  'GET http://localhost/hub/health HTTP/1.1',
  'OPTIONS * HTTP/1.1',
  'CONNECT localhost:80 HTTP/1.1',
  'GET /hub/health HTTP/2.0',
])
  test(`D-41: ${line} is answered 505`, async (t) => {
    const hub = await startTestHub(t, { connections: { api } });
    const wire = await openWire(t, hub.port);
    wire.send(`${line}\r\nHost: localhost\r\n\r\n`);
    t.is((await wire.answer()).status, 505);
    await wire.closed();
  });

test('RFC 9112: a HEAD, an OPTIONS and a handshake with two lengths are refused as well', async (t) => {
  const hub = await startTestHub(t, { connections: { api: { ...api, allowedOrigins: ['https://panel.example'] } } });
  const lengths = 'Host: localhost\r\nContent-Length: 0\r\nContent-Length: 1\r\n';
  const preflight = 'Origin: https://panel.example\r\nAccess-Control-Request-Method: POST\r\n';
  const upgrade =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: 1234567890123456789012==\r\n';
  for (const [line, more] of [
    ['HEAD /hub/health', ''],
    ['OPTIONS /update', preflight],
    ['GET /ws', upgrade],
    ['DELETE /update', ''],
  ]) {
    const wire = await openWire(t, hub.port);
    wire.send(`${line} HTTP/1.1\r\n${lengths}${more}\r\n`);
    t.is((await wire.answer({ isHead: line === 'HEAD /hub/health' })).status, 400, line);
    t.is((await wire.closed()).length, 0);
  }
});

test('RFC 9112: a single length is accepted, and chunked in upper or lower case', async (t) => {
  const hub = await startTestHub(t, { connections: { api, desk: { type: 'dummy', parameters: ['i,I,0'] } } });
  const wire = await openWire(t, hub.port);
  const head = 'POST /update HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n';
  for (const rest of [
    `Content-Length: 24\r\n\r\n${body}`,
    `Transfer-Encoding: chunked\r\n\r\n${chunked}`,
    `Transfer-Encoding: Chunked\r\n\r\n${chunked}`,
  ]) {
    hub.write('desk/i', 0, { kind: 'client', name: 'spec' });
    wire.send(head + rest);
    t.is((await wire.answer()).text, 'OK');
    t.is(hub.find('desk/i')!.value, 5);
  }
});
