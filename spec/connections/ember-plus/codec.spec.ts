// The codec of ember-plus: values and messages as they were written, in both directions with the codec of others; and what is no message.

import { createRequire } from 'node:module';
import test from 'ava';
import fc from 'fast-check';
import {
  encodeCommand,
  encodeElements,
  encodeResult,
  encodeStreams,
} from '../../../lib/connections/ember-plus/encode.ts';
import { decodeGlow, readStream } from '../../../lib/connections/ember-plus/glow.ts';
import {
  encodeMessage,
  maxFrameBytes,
  maxRequestBytes,
  s101Framing,
} from '../../../lib/connections/ember-plus/s101.ts';
import { readMessage, showMessage } from '../../../lib/connections/ember-plus/text.ts';
import { maxDepth, readInteger, readItems, readReal, readRelativeOid, Writer } from '../../../lib/device/ber.ts';

// biome-ignore lint/suspicious/noExplicitAny: the package has types of its own, which the spec does not need
const { S101Codec, berDecode }: any = createRequire(import.meta.url)('emberplus-connection');

function written(write: (writer: Writer) => void) {
  const writer = new Writer();
  write(writer);
  return readItems(writer.finish())[0]!;
}

test('integers, reals and paths are read as they were written', (t) => {
  const range = { min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER };
  fc.assert(
    fc.property(fc.maxSafeInteger(), (value) => readInteger(written((writer) => writer.integer(value))) === value),
  );
  for (const value of [0, -1, 127, 128, -128, -129, 2 ** 31, -(2 ** 31), range.min, range.max])
    t.is(readInteger(written((writer) => writer.integer(value))), value);
  const finite = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
  fc.assert(
    fc.property(
      finite,
      (value) => readReal(written((writer) => writer.real(value))) === (Object.is(value, -0) ? 0 : value),
    ),
  );
  for (const value of [Number.MIN_VALUE, Number.MAX_VALUE, -0.1, 2 ** -1022])
    t.is(readReal(written((writer) => writer.real(value))), value);
  const path = fc.array(fc.nat(2 ** 31 - 1), { minLength: 1, maxLength: 16 });
  fc.assert(
    fc.property(path, (numbers) => {
      const read = readRelativeOid(
        written((writer) => writer.relativeOid(numbers)),
        16,
      );
      return read.join() === numbers.join();
    }),
  );
  t.pass();
});

test('lengths may be indefinite; depth, items and lengths are bounded', (t) => {
  const inside = Buffer.from('020105', 'hex');
  const items = readItems(Buffer.concat([Buffer.from('6080', 'hex'), inside, Buffer.from('0000', 'hex')]));
  t.is(readInteger(items[0]!.items[0]!), 5);
  t.throws(() => readItems(Buffer.concat(Array.from({ length: maxDepth + 2 }, () => Buffer.from('3080', 'hex')))), {
    message: `expected items to be nested at most ${maxDepth} levels deep`,
  });
  t.throws(() => readItems(Buffer.alloc(400_000)), { message: /at most 131072 items/ });
  t.throws(() => readItems(Buffer.from('0284ffffffff', 'hex')), { message: 'expected 4294967295 bytes, got 0' });
  t.throws(() => readItems(Buffer.from('0280', 'hex')), { message: /expected a definite length/ });
  t.throws(() => readRelativeOid(readItems(Buffer.from('0d05ffffffff7f', 'hex'))[0]!, 16), { message: /32 bits/ });
});

const texts = [
  'keep-alive',
  'keep-alive answer',
  'get',
  'get 1.2',
  'subscribe 1.2.3',
  'unsubscribe 1.2.3',
  'invoke 1.5',
  'result 7 failed',
  'empty',
  'stream 3 = -12.5; stream 4 = 7',
  '1 node "device"; 1.2 parameter "Gain; \\"x\\"" = -12.5; 1.3 parameter "Name" = "ü"',
  '1.2 node "device" offline',
  '1.3 matrix "Router" 40x30',
  '1.3 connect 0 = 5; 1.3 connect 1 = 3,7; 1.3 connect 2 = none',
  '1.2 = 5.0; 1.3 = true; 1.4 = x00ff; 1.5 = null',
  '1.2 parameter "a" = 1 online',
];

for (const text of texts)
  test(`a message as text: ${text}`, (t) => {
    t.is(showMessage(readMessage(text)), text);
  });

test('what is no message as text is an error that shows messages', (t) => {
  for (const text of ['go', '1.2 is 5', '1.2 = gain', 'get 1.2; 1 node "a"'])
    t.throws(() => readMessage(text), { message: /^expected a (message|value) such as/ }, text);
  t.is(showMessage(Buffer.from('00ff', 'hex')), '00ff');
});

/** Messages of all kinds, short and longer than a frame. */
const messages = [
  ...texts.map(readMessage),
  encodeElements(
    Array.from({ length: 100 }, (_, index) => ({
      kind: 'parameter' as const,
      at: `1.2.${index}`,
      contents: { identifier: `parameter ${index}`, value: { type: 'real' as const, value: index / 3 } },
    })),
  ),
].map((message) => Buffer.from(message));

test('messages survive frames, in pieces of any size', (t) => {
  const stream = Buffer.concat(messages.map(encodeMessage));
  for (const size of [1, 2, 7, 1000, stream.length]) {
    const refused: string[] = [];
    const framer = s101Framing(maxRequestBytes).createFramer((_, reason) => refused.push(reason));
    const got: Buffer[] = [];
    for (let at = 0; at < stream.length; at += size) got.push(...framer.push(stream.subarray(at, at + size)));
    t.deepEqual(got, messages);
    t.deepEqual(refused, []);
  }
});

test('a stream that is cut at any byte costs the cut message alone', (t) => {
  const [long, next] = [messages.at(-1)!, messages[3]!];
  const stream = Buffer.from(encodeMessage(long));
  for (let at = 1; at < stream.length; at++) {
    const framer = s101Framing(maxRequestBytes).createFramer(() => {});
    const got = framer.push(Buffer.concat([stream.subarray(0, at), encodeMessage(next), encodeMessage(next)]));
    t.deepEqual(got.slice(-2), [next, next], `cut at ${at}`);
    t.true(got.length <= 3);
  }
});

test('a message that is cut at any byte, or has any wrong byte, is refused with a sentence or read', (t) => {
  for (const message of messages.filter(([first]) => first === 0))
    for (let at = 1; at < Math.min(message.length, 400); at++) {
      for (const broken of [message.subarray(0, at), Buffer.from(message.with(at, message[at]! ^ 0x15))])
        try {
          decodeGlow(broken);
        } catch (error) {
          t.regex((error as Error).message, /^expected /);
          t.is((error as Error).constructor, Error);
        }
      t.is(typeof showMessage(message.subarray(0, at)), 'string');
    }
});

test('garbage is refused, in bounded memory', (t) => {
  let refused = 0;
  const framer = s101Framing(maxRequestBytes).createFramer((bytes) => {
    refused++;
    t.true(bytes.length <= 4096);
  });
  fc.assert(fc.property(fc.uint8Array({ maxLength: 2000 }), (bytes) => framer.push(Buffer.from(bytes)).length === 0));
  t.true(refused > 0);
  framer.push(Buffer.from(encodeMessage(messages[2]!)));
  const tooLong = Buffer.alloc(maxFrameBytes + 10, 1);
  t.deepEqual(framer.push(Buffer.concat([Buffer.of(0xfe), tooLong, Buffer.of(0xff)])), []);
  const reasons: string[] = [];
  const other = s101Framing(maxRequestBytes).createFramer((_, reason) => reasons.push(reason));
  const large = encodeElements([
    { kind: 'parameter', at: '1', contents: { value: { type: 'octets', value: Buffer.alloc(70_000) } } },
  ]);
  t.deepEqual(other.push(Buffer.from(encodeMessage(large))), []);
  t.regex(reasons[0]!, /at most 65536 bytes/);
  t.is(other.push(Buffer.from(encodeMessage(messages[2]!))).length, 1, 'the next message is read');
});

test('the codec of others reads what this one writes, and the other way', (t) => {
  for (const message of messages) {
    const codec = new S101Codec();
    const heard: string[] = [];
    codec.on('keepaliveReq', () => heard.push('keep-alive'));
    codec.on('keepaliveResp', () => heard.push('keep-alive answer'));
    codec.on('emberPacket', (data: Buffer) => heard.push(showMessage(Buffer.concat([Buffer.of(0), data]))));
    codec.on('emberStreamPacket', (data: Buffer) => heard.push(showMessage(Buffer.concat([Buffer.of(0), data]))));
    codec.dataIn(Buffer.from(encodeMessage(message)));
    t.deepEqual(heard, [showMessage(message)]);
    if (message[0] !== 0) continue;
    const framer = s101Framing(maxRequestBytes).createFramer((_, reason) => t.fail(reason));
    const frames: Buffer[] = codec.encodeBER(message.subarray(1));
    t.deepEqual(framer.push(Buffer.concat(frames)), [message]);
  }
  const { value, errors } = berDecode(messages.at(-1)!.subarray(1));
  t.deepEqual(errors, []);
  t.deepEqual(
    Object.values(value as Record<string, { contents: { value: number } }>).map(({ contents }) => contents.value),
    Array.from({ length: 100 }, (_, index) => index / 3),
  );
});

test('commands, streams and results are decoded as they were encoded', (t) => {
  const invocation = { id: 9, args: [{ type: 'integer', value: 5 } as const] };
  const { commands } = decodeGlow(encodeCommand({ path: '1.5', number: 33, invocation }, 'function'));
  t.deepEqual(commands, [{ path: '1.5', number: 33, invocation }]);
  const entry = [7, { type: 'real', value: 0.5 }] as const;
  t.deepEqual(decodeGlow(encodeStreams([entry])).streams, [entry]);
  t.deepEqual(decodeGlow(encodeResult({ id: 3, isSuccess: false })).result, { id: 3, isSuccess: false });
});

test('values of a stream that several parameters share are read by their format', (t) => {
  const bytes = Buffer.alloc(24);
  bytes.writeInt16BE(-5, 0);
  bytes.writeUInt32LE(70_000, 2);
  bytes.writeFloatLE(-12.5, 6);
  t.is(readStream(bytes, { format: 10, offset: 0 }), -5);
  t.is(readStream(bytes, { format: 5, offset: 2 }), 70_000);
  t.is(readStream(bytes, { format: 21, offset: 6 }), -12.5);
  t.is(readStream(bytes, { format: 22, offset: 20 }), undefined, 'too short');
  t.is(readStream(bytes, { format: 6, offset: 12 }), 0);
});
