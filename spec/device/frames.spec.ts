// Frames are found again however a stream is cut, glued, or has garbage in it.

import test from 'ava';
import fc from 'fast-check';
import { createFramer, type Framing } from '../../lib/device/frames.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');

const lines: Framing = { kind: 'end', ends: [bytes('\r\n'), bytes('\n')], sendEnd: bytes('\r\n'), isBlock: false };
const blocks: Framing = { kind: 'end', ends: [bytes('\n')], sendEnd: bytes('\n'), isBlock: true };
const angles: Framing = { kind: 'enclosed', start: bytes('<'), end: bytes('>'), escapeByte: undefined };
const stuffed: Framing = { kind: 'enclosed', start: bytes('\x10\x02'), end: bytes('\x10\x03'), escapeByte: 0x10 };
const sized: Framing = { kind: 'bytes', bytes: 5 };
const headed: Framing = { kind: 'length', at: 1, bytes: 2, isLittle: false, adds: 3 };

const anyBytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array));
const textOf = (alphabet: string, minLength = 1) =>
  fc.array(fc.constantFrom(...alphabet), { minLength, maxLength: 20 }).map((letters) => bytes(letters.join('')));

/** Each framing with the payloads that it can carry. */
const carried: readonly [name: string, framing: Framing, payload: fc.Arbitrary<Buffer>][] = [
  ['lines', lines, textOf('abc \x00\xff')],
  [
    'blocks',
    blocks,
    fc
      .array(textOf('ab:\xe4'), { minLength: 1, maxLength: 5 })
      .map((rows) => bytes(rows.map((row) => row.toString('latin1')).join('\n'))),
  ],
  ['enclosed', angles, textOf('ab \n\x00', 0)],
  ['stuffed', stuffed, anyBytes],
  ['of a length', sized, fc.uint8Array({ minLength: 5, maxLength: 5 }).map((array) => Buffer.from(array))],
  [
    'with a header',
    headed,
    anyBytes.map((rest) => Buffer.concat([Buffer.from([7, rest.length >> 8, rest.length & 0xff]), rest])),
  ],
];

/** A stream in pieces. */
function cutAt(stream: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [...new Set(places.map((place) => place % (stream.length + 1)))].sort((a, b) => a - b);
  return [0, ...sorted].map((start, index) => stream.subarray(start, sorted[index] ?? stream.length));
}

for (const [name, framing, payload] of carried)
  test(`frames (${name}) are restored from a stream in pieces of any length`, (t) => {
    fc.assert(
      fc.property(fc.array(payload, { maxLength: 12 }), fc.array(fc.nat(2000)), (payloads, places) => {
        const framer = createFramer(framing);
        const stream = Buffer.concat(payloads.map((one) => framer.wrap(one)));
        const found = cutAt(stream, places).flatMap((piece) => framer.push(piece));
        t.deepEqual(found, payloads);
        t.is(framer.droppedBytes, 0);
      }),
    );
  });

test('bytes between frames are dropped and counted', (t) => {
  const framer = createFramer(angles);
  t.deepEqual(framer.push(bytes('noise< REP 1 >more noise<')), [bytes(' REP 1 ')]);
  t.deepEqual(framer.push(bytes('lost < REP 2 >')), [bytes(' REP 2 ')], 'the end of a frame was lost');
  t.is(framer.droppedBytes, 'noise'.length + 'more noise'.length + 'lost <'.length);
});

test('a frame that is too long is dropped, and the next one is found', (t) => {
  for (const [name, framing] of carried.slice(0, 4)) {
    const framer = createFramer(framing, 100);
    const long = Buffer.alloc(5000, 'x');
    const found = cutAt(framer.wrap(long), [10, 300, 301, 4000]).flatMap((piece) => framer.push(piece));
    t.deepEqual(found, [], name);
    t.deepEqual(framer.push(framer.wrap(bytes('next'))), [bytes('next')], name);
    t.true(framer.droppedBytes >= 4000, name);
  }
});

test('a header with an impossible length is skipped', (t) => {
  const framer = createFramer(headed, 100);
  t.deepEqual(framer.push(Buffer.from([7, 0xff, 0xff, 7, 0, 1, 9])), [Buffer.from([7, 0, 1, 9])]);
  t.is(framer.droppedBytes, 3);
});

test('a lone escape, such as an acknowledgement, is a frame', (t) => {
  const framer = createFramer(stuffed);
  t.deepEqual(framer.push(Buffer.from([0x10, 0x06, 0x10, 0x02, 1, 0x10, 0x10, 0x10, 0x03])), [
    Buffer.from([0x10, 0x06]),
    Buffer.from([1, 0x10]),
  ]);
});

test('random bytes end no framer, which keeps at most a frame', (t) => {
  fc.assert(
    fc.property(fc.constantFrom(...carried), fc.array(fc.uint8Array({ maxLength: 300 })), ([, framing], pieces) => {
      const framer = createFramer(framing, 64);
      for (const piece of pieces) for (const frame of framer.push(piece)) t.true(frame.length <= 64 + 1);
      t.pass();
    }),
  );
});
