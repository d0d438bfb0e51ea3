// What uWebSockets.js makes of frames by itself (D-42): the hub sees messages, never frames.

import test, { type ExecutionContext } from 'ava';
import { openWire, request, type Wire } from '../../../support/http.ts';
import { api, expectQuietLog, startTestHub } from '../../../support/hub.ts';
import { handshake, opcodes } from '../../../support/sockets/socket.ts';

const desk = { type: 'dummy', parameters: ['i,I,0'] };
const write = (value: number) => `{"p":"desk/i","v":${value}}`;

/** The bytes of a frame whose mask is zero; `lengthBits` is how its length is written. */
function frame(opcode: number, payload: string | Buffer, { isFinal = true, lengthBits = 0 } = {}): Buffer {
  const bytes = Buffer.from(payload);
  const bits = lengthBits || (bytes.length < 126 ? 7 : 16);
  const length = Buffer.alloc(bits === 7 ? 1 : bits === 16 ? 3 : 9);
  length[0] = 0x80 | (bits === 7 ? bytes.length : bits === 16 ? 126 : 127);
  if (bits === 16) length.writeUInt16BE(bytes.length, 1);
  if (bits === 64) length.writeBigUInt64BE(BigInt(bytes.length), 1);
  return Buffer.concat([Buffer.from([(isFinal ? 0x80 : 0) | opcode]), length, Buffer.alloc(4), bytes]);
}

const closing = (code: number, reason = 'bye') => {
  const payload = Buffer.alloc(2);
  payload.writeUInt16BE(code);
  return frame(opcodes.close, Buffer.concat([payload, Buffer.from(reason)]));
};

async function open(t: ExecutionContext) {
  const hub = await startTestHub(t, { connections: { api, desk } });
  const connect = async (): Promise<Wire> => {
    const wire = await openWire(t, hub.port);
    wire.send(request('GET /ws', { headers: handshake() }));
    t.is((await wire.answer()).status, 101);
    return wire;
  };
  return { hub, connect };
}

/** What the hub sends as text, in a frame of less than 64 KiB. */
async function nextText(wire: Wire): Promise<string> {
  const [, short = 0] = await wire.take(2);
  const length = short < 126 ? short : (await wire.take(2)).readUInt16BE();
  return (await wire.take(length)).toString();
}

test('D-42: a message with a binary frame has no effect, and the socket continues', async (t) => {
  const { hub, connect } = await open(t);
  for (const [first, within] of [
    [opcodes.text, opcodes.binary],
    [opcodes.binary, opcodes.binary],
  ] as const) {
    const wire = await connect();
    wire.send(frame(first, '{"p":"desk/i"', { isFinal: false }));
    wire.send(frame(within, ',"v":5}'));
    t.regex(await nextText(wire), /got a binary frame/);
    wire.send(frame(opcodes.continuation, ''));
    t.regex(await nextText(wire), /"error"/);
    t.is(hub.find('desk/i')!.value, 0);
    wire.send(frame(opcodes.text, write(1)));
    t.is(await nextText(wire), '{"p":"desk/i","v":"1"}');
    hub.write('desk/i', 0, { kind: 'client', name: 'spec' });
  }
  expectQuietLog(t, hub);
});

const cut: [what: string, ...frames: Buffer[]][] = [
  ['a text frame within a message', frame(opcodes.text, '{', { isFinal: false }), frame(opcodes.text, write(5))],
  [
    'a text frame within a binary message',
    frame(opcodes.binary, '{', { isFinal: false }),
    frame(opcodes.text, write(5)),
  ],
  ['the rest of no message', frame(opcodes.continuation, write(5))],
  ['a ping in fragments', frame(opcodes.ping, 'x', { isFinal: false })],
  ['a ping of 126 bytes', frame(opcodes.ping, 'x'.repeat(126))],
  ['a ping whose length is written longer', frame(opcodes.ping, 'x', { lengthBits: 16 })],
  ['an unknown opcode', frame(3, write(5))],
  ['an unknown control opcode', frame(11, '')],
  ['text that is not UTF-8', frame(opcodes.text, Buffer.from([0xff]))],
];
for (const [what, ...frames] of cut)
  test(`D-42: ${what} cuts the socket, without a code`, async (t) => {
    const { hub, connect } = await open(t);
    const wire = await connect();
    for (const one of frames) wire.send(one);
    t.is((await wire.closed()).length, 0);
    t.is(hub.find('desk/i')!.value, 0);
    expectQuietLog(t, hub);
  });

test('D-42: an overlong encoding of a length is accepted', async (t) => {
  const { connect } = await open(t);
  const wire = await connect();
  for (const [value, lengthBits] of [
    [1, 16],
    [2, 64],
  ] as const) {
    wire.send(frame(opcodes.text, write(value), { lengthBits }));
    t.is(await nextText(wire), `{"p":"desk/i","v":"${value}"}`);
  }
  wire.send(frame(opcodes.text, write(3).padEnd(200), { lengthBits: 64 }));
  t.is(await nextText(wire), '{"p":"desk/i","v":"3"}');
});

test('D-42: close codes are echoed, those that the library does not know without a code', async (t) => {
  const { connect } = await open(t);
  const own = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 4000, 4999];
  const others = [0, 999, 1004, 1005, 1006, 1012, 1013, 1014, 1015, 1016, 2999, 3000, 3500, 3999, 5000, 65_535];
  for (const code of [...own, ...others]) {
    const wire = await connect();
    wire.send(closing(code));
    const answer = await wire.closed();
    t.is(answer[0], 0x80 | opcodes.close, `${code}`);
    t.is(answer.length > 2 ? answer.readUInt16BE(2) : undefined, own.includes(code) ? code : undefined, `${code}`);
  }
  for (const payload of [Buffer.alloc(0), Buffer.from('x'), Buffer.from([3, 232, 0xff])]) {
    const wire = await connect();
    wire.send(frame(opcodes.close, payload));
    t.deepEqual(await wire.closed(), Buffer.from([0x80 | opcodes.close, 0]), payload.toString('hex'));
  }
});
