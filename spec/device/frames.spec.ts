// Frames are found again however a stream is cut, glued, or has garbage in it.

import test from 'ava';
import fc from 'fast-check';
import { createFramer, type Framer, type Framing, textsOf, withMarks } from '../../lib/device/frames.ts';
import { angles, blocks, bytes, headed, kinds, lines, midi, prompted, sized, stuffed } from '../support/framings.ts';

const push = (framer: Framer, piece: Uint8Array) => framer.push(piece).map((frame) => frame.toBuffer());

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
  ['with prompts', prompted, textOf('abc \x00\xff')],
  [
    'of a length by a byte',
    kinds,
    fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 1 }).map(([last]) => Buffer.from([7, 1, last!])),
      fc.uint8Array({ minLength: 3, maxLength: 3 }).map((rest) => Buffer.from([7, 2, ...rest])),
      textOf('ab\x01').map((rest) => Buffer.concat([Buffer.from([7, 0xf0]), rest, Buffer.from([0xf7])])),
    ),
  ],
  [
    'of MIDI',
    midi,
    fc.oneof(
      textOf('ab\x01', 0).map((rest) => Buffer.concat([Buffer.from([0xf0]), rest, Buffer.from([0xf7])])),
      fc.tuple(fc.constantFrom(0x90, 0xb3, 0xef), fc.nat(127), fc.nat(127)).map((three) => Buffer.from(three)),
      fc.tuple(fc.constantFrom(0xc0, 0xd1), fc.nat(127)).map((two) => Buffer.from(two)),
    ),
  ],
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
        const found = cutAt(stream, places).flatMap((piece) => push(framer, piece));
        t.deepEqual(found, payloads);
        t.is(framer.droppedBytes, 0);
      }),
    );
  });

test('bytes between frames are dropped and counted', (t) => {
  const framer = createFramer(angles);
  t.deepEqual(push(framer, bytes('noise< REP 1 >more noise<')), [bytes(' REP 1 ')]);
  t.deepEqual(push(framer, bytes('lost < REP 2 >')), [bytes(' REP 2 ')], 'the end of a frame was lost');
  t.is(framer.droppedBytes, 'noise'.length + 'more noise'.length + 'lost <'.length);
});

test('a frame that is too long is dropped, and the next one is found', (t) => {
  for (const [name, framing] of carried.slice(0, 4)) {
    const framer = createFramer(framing, 100);
    const long = Buffer.alloc(5000, 'x');
    const found = cutAt(framer.wrap(long), [10, 300, 301, 4000]).flatMap((piece) => push(framer, piece));
    t.deepEqual(found, [], name);
    t.deepEqual(push(framer, framer.wrap(bytes('next'))), [bytes('next')], name);
    t.true(framer.droppedBytes >= 4000, name);
  }
});

test('a header with an impossible length is skipped', (t) => {
  const framer = createFramer(headed, 100);
  t.deepEqual(push(framer, Buffer.from([7, 0xff, 0xff, 7, 0, 1, 9])), [Buffer.from([7, 0, 1, 9])]);
  t.is(framer.droppedBytes, 3);
});

test('a prompt at the beginning of a line is a frame without an end, however the bytes are cut', (t) => {
  const stream = bytes('OK> OK> volume 3\r\n7 OK> 8\r\n\r\nOK> >>on\r\nOK> ');
  const expected = ['OK> ', 'OK> ', 'volume 3', '7 OK> 8', 'OK> ', '>>', 'on', 'OK> '];
  for (let piece = 1; piece <= stream.length; piece++) {
    const framer = createFramer(prompted);
    const found: Buffer[] = [];
    for (let at = 0; at < stream.length; at += piece) found.push(...push(framer, stream.subarray(at, at + piece)));
    t.deepEqual(found.map(String), expected, `pieces of ${piece}`);
  }
  t.deepEqual(withMarks(prompted, bytes('OK> ')), bytes('OK> '));
});

test('MIDI: a status byte may be left out, real-time bytes stand within frames, and an incomplete frame is dropped', (t) => {
  const framer = createFramer(midi, 16);
  const stream = Buffer.from([
    ...[5, 0x90, 1, 0x7f, 2, 0xfe, 0x3f], // garbage, a note, another one without its status, with active sensing in it
    ...[0xb0, 0x63, 0xc1, 9, 0xc1, 8, 7], // a control change that breaks off, program changes
    ...[0xf0, 1, 0xf8, 2, 0xf7, 3], // a message with a clock in it, after which no status counts
    ...[0xf0, ...Array(20).fill(1), 0xf7, 0x90, 3, 0], // one that is too long
  ]);
  t.deepEqual(
    push(framer, stream).map((frame) => frame.toString('hex')),
    ['90017f', 'fe', '90023f', 'c109', 'c108', 'c107', 'f8', 'f00102f7', '900300'],
  );
  t.is(framer.droppedBytes, 1 + 2 + 1 + 21 + 1);
});

test('a byte decides the length; bytes that begin no frame are skipped', (t) => {
  const framer = createFramer(kinds, 16);
  t.deepEqual(
    push(framer, Buffer.from([7, 1, 5, 0x55, 7, 2, 1, 2, 3, 7, 0xf0, 1, 0xf7])).map((frame) => frame.toString('hex')),
    ['070105', '0702010203', '07f001f7'],
  );
  t.is(framer.droppedBytes, 1);
});

test('a lone escape, such as an acknowledgement, is a frame', (t) => {
  const framer = createFramer(stuffed);
  t.deepEqual(push(framer, Buffer.from([0x10, 0x06, 0x10, 0x02, 1, 0x10, 0x10, 0x10, 0x03])), [
    Buffer.from([0x10, 0x06]),
    Buffer.from([1, 0x10]),
  ]);
});

test('random bytes end no framer, which keeps at most a frame', (t) => {
  fc.assert(
    fc.property(fc.constantFrom(...carried), fc.array(fc.uint8Array({ maxLength: 300 })), ([, framing], pieces) => {
      const framer = createFramer(framing, 64);
      for (const piece of pieces) for (const frame of push(framer, piece)) t.true(frame.length <= 64 + 1);
      t.pass();
    }),
  );
});

test('frames that are decoded together have the texts that each has by itself', (t) => {
  const texts = fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '…', '7', ' '), maxLength: 40 }), {
    minLength: 1,
    maxLength: 80,
  });
  fc.assert(
    fc.property(texts, fc.constantFrom('utf8', 'latin1'), (written, encoding) => {
      const stream = Buffer.from(written.map((text) => `${text}x\n`).join(''));
      const frames = createFramer(lines).push(stream);
      const expected = frames.map((frame) => frame.toBuffer().toString(encoding));
      t.deepEqual(textsOf(frames, 0, frames.length, encoding), expected);
      t.deepEqual(textsOf(frames, frames.length - 1, frames.length, encoding), expected.slice(-1));
    }),
  );
});
