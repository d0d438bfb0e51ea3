// What RFC 9110 says of requests: methods, Expect, lists over several lines, preconditions of what has no tags.

import test, { type ExecutionContext } from 'ava';
import { ask, openWire, type Wire } from '../../../support/http.ts';
import { api, startTestHub } from '../../../support/hub.ts';
import { handshake } from '../../../support/sockets/socket.ts';

const desk = { type: 'dummy', parameters: ['i,I,7', 'lamp,B,true', 'never'] };
const start = (t: ExecutionContext, settings: object = {}) =>
  startTestHub(t, { connections: { api: { ...api, ...settings }, desk } });
const form = 'Content-Type: application/x-www-form-urlencoded';
const body = 'parameter=desk/i&value=5';

/** Sends a request of lines, with `Host`; what follows an empty line is its body. */
async function send(t: ExecutionContext, port: number, line: string, ...lines: string[]): Promise<Wire> {
  const wire = await openWire(t, port);
  wire.send(`${[`${line} HTTP/1.1`, 'Host: localhost', ...lines].join('\r\n')}\r\n\r\n`);
  return wire;
}

test('section 9.1: an unknown method is answered 501, one that is not allowed 405 with Allow', async (t) => {
  const hub = await start(t);
  for (const path of ['/parameters/desk/i', '/update', '/hub/', '/hub/health/live', '/ws', '/nothing'])
    for (const method of ['FOO', 'get', 'Get', 'post', 'BREW', 'GETT', 'X-1', '123']) {
      const { status, text } = await ask(t, hub.port, `${method} ${path}`, { headers: { accept: 'text/plain' } });
      t.is(status, 501, `${method} ${path}`);
      t.is(text, `expected a known method, got ${method}\n`);
    }
  for (const method of ['PUT', 'DELETE', 'PATCH', 'TRACE', 'OPTIONS', 'CONNECT', 'PROPFIND']) {
    const { status, headers } = await ask(t, hub.port, `${method} /parameters/desk/i`);
    t.deepEqual([status, headers.allow], [405, 'GET, HEAD'], method);
  }
  t.is((await ask(t, hub.port, 'FOO /update', { headers: { 'content-length': '3' }, body: 'abc' })).status, 501);
});

const expectations: string[][] = [
  ['Expect: 100-continue'],
  ['Expect: 100-Continue'],
  ['expect: 100-CONTINUE'],
  ['Expect: 100-continue, 100-Continue'],
  ['Expect: ,100-Continue'],
  ['Expect: 100-Continue', 'Expect: 100-Continue'],
  ['Expect: x', 'Expect: 100-continue'],
];
for (const lines of expectations)
  test(`section 10.1.1: a waiting client may send its body: ${lines.join(', ')}`, async (t) => {
    const hub = await start(t, { token: 'token-of-the-hub-itself' });
    const right = 'Authorization: Bearer token-of-the-hub-itself';
    for (const [accept, text] of [
      ['Accept: text/plain', 'OK'],
      ['Accept: application/json', '{"p":"desk/i","v":5}'],
    ] as const) {
      const wire = await send(
        t,
        hub.port,
        'POST /update',
        right,
        form,
        accept,
        ...lines,
        `Content-Length: ${body.length}`,
      );
      t.is((await wire.answer()).status, 100);
      t.is(wire.rest().length, 0, 'nothing comes before the body has');
      wire.send(body);
      const answer = await wire.answer();
      t.deepEqual([answer.status, answer.text], [200, text]);
      t.is(answer.headers['x-content-type-options'], 'nosniff');
      t.is(answer.headers['content-type'], accept.includes('json') ? 'application/json' : 'text/plain; charset=utf-8');
      wire.send(`GET /parameters/desk/i HTTP/1.1\r\nHost: localhost\r\n${right}\r\n\r\n`);
      t.is((await wire.answer()).text, '5', 'the connection goes on');
    }
    const chunks = await send(t, hub.port, 'POST /update', right, form, ...lines, 'Transfer-Encoding: chunked');
    t.is((await chunks.answer()).status, 100);
    chunks.send(`${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
    t.is((await chunks.answer()).text, 'OK');
    const wrong = await send(t, hub.port, 'POST /update', right, form, ...lines, 'Content-Length: 1');
    t.is((await wrong.answer()).status, 100);
    wrong.send('x');
    t.is((await wrong.answer()).status, 400);
    const posted = await send(
      t,
      hub.port,
      'POST /hub/rules',
      right,
      'Content-Type: application/json',
      ...lines,
      'Content-Length: 2',
    ); // prettier-ignore
    t.is((await posted.answer()).status, 100);
    posted.send('{}');
    const { status, headers } = await posted.answer();
    t.deepEqual([status, headers['content-type']], [400, 'application/problem+json']);
  });

test('section 10.1.1: a refused client that waits to continue gets the answer immediately, and its connection ends', async (t) => {
  const hub = await start(t, { token: 'token-of-the-hub-itself' });
  const right = 'Authorization: Bearer token-of-the-hub-itself';
  for (const [line, lines, expected] of [
    ['POST /update', [form], 401],
    ['POST /update', [right, 'Content-Type: text/plain'], 415],
    ['POST /update', [right, form, 'Origin: https://evil.example'], 403],
    ['PUT /update', [right], 405],
    ['FOO /update', [right], 501],
    ['POST /nothing', [right], 405],
  ] as const) {
    const wire = await send(t, hub.port, line, ...lines, 'Expect: 100-Continue', `Content-Length: ${body.length}`);
    const { status, headers } = await wire.answer();
    t.deepEqual([status, headers.connection], [expected, 'close'], `${line} ${lines}`);
    t.is((await wire.closed()).length, 0);
  }
  const long = await send(t, hub.port, 'POST /update', right, form, 'Expect: 100-Continue', 'Content-Length: 100000');
  t.is((await long.answer()).status, 413);
  await long.closed();
});

test('section 10.1.1: unknown expectations, and an Expect without a body, make no difference', async (t) => {
  const hub = await start(t);
  const wire = await send(t, hub.port, 'POST /update', form, 'Expect: something', `Content-Length: ${body.length}`);
  wire.send(body);
  t.is((await wire.answer()).text, 'OK');
  const get = await send(t, hub.port, 'GET /parameters/desk/i', 'Expect: 100-Continue');
  t.is((await get.answer()).text, '5');
});

const negotiated: [lines: string[], isJson: boolean][] = [
  [['Accept: application/json'], true],
  [['Accept: text/html', 'Accept: application/json'], true],
  [['Accept: text/plain;q=0.5', 'accept: application/json'], true],
  [['Accept: text/plain', 'Accept: application/json;q=0.5'], false],
  [['Accept: application/json;q=0.1', 'Accept: text/plain'], false],
  [['Accept: audio/ogg', 'Accept: text/css2', 'Accept: application/json'], true],
  [['Accept: */*;q=0.1', 'Accept: application/json'], true],
  [['Accept: text/html, application/json'], true],
  [['Accept: application/*'], true],
  [['Accept: text/plain, application/*;q=0.5'], false],
  [['Accept: text/html', 'Accept: audio/ogg'], false],
];
for (const [lines, isJson] of negotiated)
  test(`section 5.3: ${lines.join(' | ')} is ${isJson ? '' : 'not '}for JSON`, async (t) => {
    const hub = await start(t);
    const type = isJson ? 'application/json' : 'text/plain; charset=utf-8';
    for (const line of ['GET /parameters/desk/i', 'GET /update?parameter=desk/i&value=7'])
      t.is((await (await send(t, hub.port, line, ...lines)).answer()).headers['content-type'], type, line);
    const posted = await send(t, hub.port, 'POST /update', form, ...lines, `Content-Length: ${body.length}`);
    posted.send(body);
    t.is((await posted.answer()).headers['content-type'], type);
    const wrong = await send(t, hub.port, 'GET /parameters/desk/nothing', ...lines);
    t.is(
      (await wrong.answer()).headers['content-type'],
      isJson ? 'application/problem+json' : 'text/plain; charset=utf-8',
    );
  });

test('section 5.3: tags are searched in all lines of If-None-Match and If-Match', async (t) => {
  const hub = await start(t);
  for (const path of ['/hub/connections', '/hub/rules', '/hub/openapi.json']) {
    const { etag = '' } = (await ask(t, hub.port, `GET ${path}`)).headers;
    const rows: [lines: string[], status: number][] = [
      [['If-None-Match: "x"', `If-None-Match: ${etag}`], 304],
      [['If-None-Match: "x", "y"', `if-none-match: "z",W/${etag}`], 304],
      [['If-None-Match: "x"', 'If-None-Match: *'], 304],
      [['If-None-Match: "x"', 'If-None-Match: "y"'], 200],
      [['If-Match: "x"', `If-Match: ${etag}`], 200],
      [['If-Match: "x"', 'If-Match: *'], 200],
      [['If-Match: "x"', 'If-Match: "y"'], 412],
      [[`If-Match: W/${etag}`], 412],
      [['If-Match: "x"', `If-None-Match: ${etag}`], 412],
      [[`If-Match: ${etag}`, `If-None-Match: ${etag}`], 304],
      [['If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT'], 200],
    ];
    for (const [lines, status] of rows)
      t.is((await (await send(t, hub.port, `GET ${path}`, ...lines)).answer()).status, status, `${path} ${lines}`);
  }
});

test('section 13.1.1: a resource without tags never matches If-Match, so nothing is read and nothing is done', async (t) => {
  const hub = await start(t);
  const json = 'Content-Type: application/json';
  for (const [line, lines, content] of [
    ['GET /parameters/desk/lamp', [], ''],
    ['HEAD /parameters/desk/lamp', [], ''],
    ['GET /update?parameter=desk/lamp&value=false', [], ''],
    ['POST /update', [form], 'parameter=desk/lamp&value=false'],
    ['POST /hub/connections/desk', [json], '{"action":"stop"}'],
  ] as const)
    for (const [tags, isRefused] of [
      [['If-Match: "x"'], true],
      [['If-Match: W/"x", "y"'], true],
      [['If-Match: "x"', 'If-Match: *'], false],
      [['If-Match: *'], false],
    ] as const) {
      if (!isRefused && line.startsWith('POST')) continue;
      const wire = await send(t, hub.port, line, ...lines, ...tags, `Content-Length: ${content.length}`);
      wire.send(content);
      t.is((await wire.answer({ isHead: line.startsWith('HEAD') })).status, isRefused ? 412 : 200, `${line} ${tags}`);
      if (isRefused) t.is(hub.find('desk/lamp')!.value, true, `${line} ${tags}`);
      else hub.write('desk/lamp', true, { kind: 'client', name: 'spec' });
    }
  t.is(hub.connections().find(({ id }) => id === 'desk')!.state, 'running');
});

test('RFC 9112 section 9.6: a connection ends with the answer if close is one of several options, or in another line', async (t) => {
  const hub = await start(t);
  for (const lines of [
    ['Connection: close'],
    ['Connection: TE, close'],
    ['connection: Close , TE', 'TE: trailers'],
    ['Connection: TE', 'Connection: close'],
  ]) {
    // prettier-ignore
    for (const line of [
      'GET /parameters/desk/i',
      'GET /parameters/desk/nothing',
      'GET /hub/connections',
      'GET /update?parameter=desk/i&value=1',
    ]) {
      // prettier-ignore
      const wire = await send(t, hub.port, line, ...lines);
      t.true((await wire.answer()).status < 500);
      t.is((await wire.closed()).length, 0, `${line} ${lines}`);
    }
  }
  const stays = await send(t, hub.port, 'GET /parameters/desk/i', 'Connection: keep-alive, TE', 'Connection: closed');
  await stays.answer();
  stays.send('GET /parameters/desk/i HTTP/1.1\r\nHost: localhost\r\n\r\n');
  t.is((await stays.answer()).status, 200);
});

const named = (fields: Record<string, string | readonly string[]>) =>
  Object.entries(fields).flatMap(([name, values]) => [values].flat().map((value) => `${name}: ${value}`));

test('RFC 6455 section 4.2.1: subprotocols, Connection and Upgrade are read from all of their lines', async (t) => {
  const hub = await start(t);
  for (const [fields, protocol] of [
    [{ 'sec-websocket-protocol': ['foo', 'patchbay.v1'] }, 'patchbay.v1'],
    [{ 'sec-websocket-protocol': ['patchbay.v1', 'foo'] }, 'patchbay.v1'],
    [{ 'sec-websocket-protocol': 'foo,patchbay.v1 ,bar' }, 'patchbay.v1'],
    [{ 'sec-websocket-protocol': ['foo, bar', 'baz,patchbay.v1'] }, 'patchbay.v1'],
    [{ 'sec-websocket-protocol': ['foo', 'bar'] }, undefined],
    [{ 'sec-websocket-protocol': 'patchbay.v10, xpatchbay.v1, PATCHBAY.V1' }, undefined],
    [{ connection: 'keep-alive, Upgrade' }, undefined],
    [{ connection: ['keep-alive', 'upgrade'] }, undefined],
    [{ upgrade: ['h2c', 'WebSocket'] }, undefined],
  ] as const) {
    const wire = await send(t, hub.port, 'GET /ws', ...named({ ...handshake(), ...fields }));
    const { status, headers } = await wire.answer();
    t.deepEqual([status, headers['sec-websocket-protocol']], [101, protocol], JSON.stringify(fields));
  }
});

test('RFC 6455 section 4.2.1: an incomplete or malformed handshake is refused', async (t) => {
  const hub = await start(t);
  for (const [fields, expected] of [
    [{ connection: [] }, 426],
    [{ connection: 'keep-alive' }, 426],
    [{ connection: 'Upgrades' }, 426],
    [{ upgrade: [] }, 426],
    [{ upgrade: 'websockets' }, 426],
    [{ 'sec-websocket-version': [] }, 426],
    [{ 'sec-websocket-version': '8' }, 426],
    [{ 'sec-websocket-version': '013' }, 426],
    [{ 'sec-websocket-version': '13, 8' }, 426],
    [{ 'sec-websocket-version': ['13', '13'] }, 426],
    [{ 'sec-websocket-key': [] }, 426],
    [{ 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25j' }, 400],
    [{ 'sec-websocket-key': '!!!!IHNhbXBsZSBub25jZQ==' }, 400],
    [{ 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZXNl' }, 400],
    [{ 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ=x' }, 400],
    [{ 'sec-websocket-key': ['dGhlIHNhbXBsZSBub25jZQ==', 'dGhlIHNhbXBsZSBub25jZQ=='] }, 400],
    [{ 'content-length': '3' }, 400],
    [{ 'transfer-encoding': 'chunked' }, 400],
  ] as const) {
    const wire = await send(t, hub.port, 'GET /ws', ...named({ ...handshake(), ...fields }));
    const { status, headers } = await wire.answer();
    t.is(status, expected, JSON.stringify(fields));
    if (expected === 426) t.deepEqual([headers['sec-websocket-version'], headers.upgrade], ['13', 'websocket']);
  }
  for (const method of ['POST', 'PUT', 'HEAD'])
    t.is(
      (await (await send(t, hub.port, `${method} /ws`, ...named(handshake()))).answer({ isHead: method === 'HEAD' }))
        .status,
      method === 'HEAD' ? 426 : 405,
    ); // prettier-ignore
});

test('section 5.3: credentials in a subprotocol are found in any line', async (t) => {
  const hub = await start(t, { token: 'token-of-the-hub-itself' });
  const offered = `patchbay.authorization.${Buffer.from('Bearer token-of-the-hub-itself').toString('base64url')}`;
  for (const protocols of [
    [`patchbay.v1, ${offered}`],
    ['patchbay.v1', offered],
    [offered, 'patchbay.v1'],
    ['foo', `bar,${offered}`],
  ]) {
    // prettier-ignore
    const wire = await send(t, hub.port, 'GET /ws', ...named({ ...handshake(), 'sec-websocket-protocol': protocols }));
    t.is((await wire.answer()).status, 101, `${protocols}`);
  }
});
