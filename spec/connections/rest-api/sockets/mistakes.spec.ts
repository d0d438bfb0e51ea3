// Bad messages, bad frames and bad goodbyes of plain clients (D-26): each is answered or closed alone, and nobody else notices.

import { inspect } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { ask, openWire, request } from '../../../support/http.ts';
import { api, expectHits, expectQuietLog, startTestHub, writer } from '../../../support/hub.ts';
import { handshake, opcodes, openClient, openRawClient } from '../../../support/sockets/socket.ts';

const startDesk = (t: ExecutionContext, parameters: string[]) =>
  startTestHub(t, { connections: { api, desk: { type: 'dummy', parameters } } });

const mistakes: [message: string | Uint8Array, error: RegExp, p?: string][] = [
  ['', /^expected JSON /],
  ['hello', /^expected JSON \{"p":…,"v":…\}, but it cannot be parsed: /],
  ['{"p":"desk/i","v":1', /^expected JSON /],
  ["{p:'desk/i',v:1}", /^expected JSON /],
  ['null', /^expected an object \{"p":…,"v":…\}, got null$/],
  ['[]', /^expected an object .*, got \[\] \(array\)$/],
  ['"desk/i"', /^expected an object .*, got "desk\/i" \(string\)$/],
  ['1', /^expected an object .*, got 1 \(number\)$/],
  ['{}', /^p: expected an address, got nothing$/],
  ['{"p":1,"v":1}', /^p: expected an address, got 1 \(number\)$/],
  ['{"v":1}', /^p: expected an address, got nothing$/],
  ['{"p":"desk/i"}', /^v: expected a value, got nothing$/, 'desk/i'],
  ['{"p":"desk/i","v":null}', /^expected a number, got null$/, 'desk/i'],
  ['{"p":"desk/i","v":{"a":1}}', /^expected a number, got \{"a":1\} \(object\)$/, 'desk/i'],
  ['{"p":"desk/i","v":[1]}', /^expected a number, got \[1\] \(array\)$/, 'desk/i'],
  ['{"p":"desk/i","v":"loud"}', /^expected a number, got "loud" \(string\)$/, 'desk/i'],
  ['{"p":"desk/i","v":1e999}', /^expected a number, got Infinity/, 'desk/i'],
  ['{"p":"desk/go","v":null}', /^expected a boolean, a finite number or text, got null/, 'desk/go'],
  ['{"p":"desk/x","v":1}', /^desk\/x: no parameter has this address/, 'desk/x'],
  ['{"p":"","v":1}', /no parameter has this address/, ''],
  ['{"p":"constructor","v":1}', /^constructor: no parameter has this address/, 'constructor'],
  ['{"p":"clock/pulse/1","v":1}', /^clock\/pulse\/1: expected a writable parameter/, 'clock/pulse/1'],
  ['{"p":"clock/timer/1/start","v":-1}', /^expected a duration of 0\.\.2147483647 ms/, 'clock/timer/1/start'],
  ['{"p":"clock/timer/1/start","v":"-1"}', /^expected a duration .*, got "-1" \(string\)$/, 'clock/timer/1/start'],
  [Buffer.from('{"p":"desk/i","v":1}'), /^expected a text frame with \{"p":…,"v":…\}, got a binary frame$/],
  [`{"p":"desk/i","v":1}${' '.repeat(65_536)}`, /^expected at most 65536 bytes, got 65556$/],
  [`{"p":"desk/i","v":"${'9'.repeat(100_000)}"}`, /^expected at most 65536 bytes, got 1000\d\d$/],
];
for (const [message, error, p] of mistakes)
  test(`D-26: the bad message ${inspect(message).slice(0, 60)} is answered "${error.source.slice(1, 30)}…", and no socket closes`, async (t) => {
    const hub = await startTestHub(t, {
      connections: {
        api,
        desk: { type: 'dummy', parameters: ['i,I', 'go,T'] },
        clock: { type: 'timer', pulses: [{ enabled: false }] },
      },
    });
    const [ann, bob] = [await openClient(t, hub.port), await openClient(t, hub.port)];
    ann.send(message);
    const answer = await ann.next();
    t.regex(answer.error ?? '', error);
    t.is(answer.p, p);
    t.is(hub.revision, 0);
    ann.send({ p: 'desk/i', v: 8 });
    for (const client of [ann, bob]) t.deepEqual(await client.next(), { p: 'desk/i', v: '8' });
    expectQuietLog(t, hub);
  });

test('S-10: names other than p and v are ignored, and a repeated name counts once', async (t) => {
  const hub = await startDesk(t, ['i,I']);
  const client = await openClient(t, hub.port);
  client.send('{"p":"desk/x","p":"desk/i","v":1,"id":7,"__proto__":{"v":3}}');
  t.deepEqual(await client.next(), { p: 'desk/i', v: '1' });
});

const misbehaviour: [what: string, send: (client: Awaited<ReturnType<typeof openRawClient>>) => void][] = [
  ['sends text that is no UTF-8', (client) => client.send(opcodes.text, Buffer.from([0xff, 0xfe]))],
  ['sends an unknown opcode', (client) => client.send(5, 'x')],
  ['sends a ping that is too long', (client) => client.send(opcodes.ping, 'x'.repeat(126))],
  ['sends 5 MB in one message', (client) => client.send(opcodes.text, Buffer.alloc(5_000_000, 0x20))],
  ['says goodbye', (client) => client.send(opcodes.close, Buffer.from([0x03, 0xe8]))],
  ['says goodbye with nonsense', (client) => client.send(opcodes.close, Buffer.from([0x00]))],
];
for (const [what, misbehave] of misbehaviour)
  test(`D-26: only a client that ${what} is closed`, async (t) => {
    const hub = await startDesk(t, ['i,I']);
    const other = await openClient(t, hub.port);
    const client = await openRawClient(t, hub.port);
    misbehave(client);
    await client.closed();
    hub.write('desk/i', 1, writer);
    t.deepEqual(await other.next(), { p: 'desk/i', v: '1' });
    expectHits(t, hub, what.includes('5 MB') ? ['frameBytes'] : []);
  });

test('D-26: a client that vanishes without a goodbye has no effect on others', async (t) => {
  const hub = await startDesk(t, ['i,I']);
  const other = await openClient(t, hub.port);
  for (let count = 0; count < 20; count++) {
    const client = await openRawClient(t, hub.port, count % 2 ? '?snapshot=true' : `?filter=${count}`);
    client.send(opcodes.text, `{"p":"desk/i","v":${count}}`);
    t.deepEqual(await other.next(), { p: 'desk/i', v: String(count) });
    client.cut();
  }
  hub.write('desk/i', 100, writer);
  t.deepEqual(await other.next(), { p: 'desk/i', v: '100' });
  expectQuietLog(t, hub);
});

test('RFC 6455: a ping is answered, a message may come in fragments', async (t) => {
  const hub = await startDesk(t, ['i,I']);
  const client = await openRawClient(t, hub.port);
  client.send(opcodes.ping, 'are you there');
  t.deepEqual(await client.frames.next(), { opcode: opcodes.pong, payload: Buffer.from('are you there') });
  client.send(opcodes.text, '{"p":"desk', false);
  client.send(opcodes.ping, 'between');
  client.send(opcodes.continuation, '/i","v":', false);
  client.send(opcodes.continuation, '5}');
  t.is((await client.frames.next()).opcode, opcodes.pong);
  t.is((await client.frames.next()).payload.toString(), '{"p":"desk/i","v":"5"}');
});

test('D-13: /ws without a handshake is answered 426', async (t) => {
  const hub = await startDesk(t, []);
  const { status, headers, text } = await ask(t, hub.port, 'GET /ws');
  t.is(status, 426);
  t.is(headers.upgrade, 'websocket');
  t.is(text, '/ws: expected a WebSocket handshake, got plain HTTP\n');
  const wire = await openWire(t, hub.port);
  for (const key of [
    'short',
    `${'A'.repeat(22)}=`,
    `${'A'.repeat(23)}=`,
    `${'A'.repeat(24)}==`,
    'AAAAAAAAAAAAAAAAAAAA-_==',
  ]) {
    wire.send(request('GET /ws', { headers: { ...handshake(), 'sec-websocket-key': key } }));
    const answer = await wire.answer();
    t.is(answer.status, 400, key);
    t.regex(answer.text, /^Sec-WebSocket-Key: expected the base64 text of 16 bytes, got /);
  }
  const strange = [
    ['sec-websocket-version', '8', 'Sec-WebSocket-Version: expected 13, got "8"\n'],
    ['sec-websocket-version', '', 'Sec-WebSocket-Version: expected 13, got nothing\n'],
    ['upgrade', 'h2c', 'Upgrade: expected websocket, got "h2c"\n'],
    ['upgrade', '', 'Upgrade: expected websocket, got nothing\n'],
  ] as const;
  for (const [name, value, said] of strange) {
    wire.send(request('GET /ws', { headers: { ...handshake(), [name]: value } }));
    const answer = await wire.answer();
    t.is(answer.status, 426, said);
    t.is(answer.text, said);
    t.is(answer.headers['sec-websocket-version'], '13');
    t.is(answer.headers.upgrade, 'websocket');
  }
  wire.send(request('GET /ws', { headers: { ...handshake(), upgrade: 'foo, WebSocket' } }));
  t.is((await wire.answer()).status, 101);
});
