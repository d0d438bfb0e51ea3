import test from 'ava';
import fc from 'fast-check';
import { FrameReader } from './frame-reader.ts';
import { encodeClientText, encodeServerText } from './web-socket.ts';

/** What a reader hands on of a stream that comes in pieces; pieces lie in a buffer that is used again for each. */
function read(stream: Buffer, cuts: readonly number[]): string[] {
  const texts: string[] = [];
  const reader = new FrameReader((payload, opcode) => texts.push(`${opcode} ${payload}`));
  const chunk = Buffer.alloc(stream.length + 1);
  let at = 0;
  for (const cut of [...cuts, stream.length]) {
    const length = Math.min(cut, stream.length - at);
    stream.copy(chunk, 0, at, at + length);
    reader.read(chunk, length);
    chunk.fill(0xff);
    at += length;
  }
  return reader.isBetweenFrames ? texts : [...texts, 'incomplete'];
}

const lengths = fc.array(
  fc.oneof(fc.nat(3), fc.integer({ min: 120, max: 130 }), fc.integer({ min: 65_530, max: 65_540 })),
  {
    minLength: 1,
    maxLength: 6,
  },
);

test('frames of any length come out whole, in pieces of any length', (t) => {
  fc.assert(
    fc.property(lengths, fc.array(fc.oneof(fc.nat(12), fc.nat(70_000)), { maxLength: 30 }), (sizes, cuts) => {
      const texts = sizes.map((size, index) => String(index % 10).repeat(size));
      const stream = Buffer.concat(texts.map(encodeServerText));
      t.deepEqual(
        read(stream, cuts),
        texts.map((text) => `1 ${text}`),
      );
    }),
    { numRuns: 60 },
  );
});

test('a truncated frame has not arrived', (t) => {
  const stream = encodeServerText('x'.repeat(200));
  t.deepEqual(read(stream.subarray(0, -1), []), ['incomplete']);
  t.deepEqual(read(stream.subarray(0, 3), [1, 1, 1]), ['incomplete']);
});

test('frames of clients are masked, with the length that they need, and servers send none of these', (t) => {
  t.deepEqual([...encodeClientText('hi')], [0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]);
  t.deepEqual([...encodeClientText('x'.repeat(126)).subarray(0, 8)], [0x81, 0xfe, 0, 126, 0, 0, 0, 0]);
  const long = encodeClientText('x'.repeat(65_536));
  t.deepEqual([...long.subarray(0, 14)], [0x81, 0xff, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  t.throws(() => read(encodeClientText('hi'), []), { instanceOf: RangeError });
});
