// Packets of sACN and Art-Net: what is encoded is decoded again, also by the package `sacn`, and no bytes end the decoder.

import test from 'ava';
import fc from 'fast-check';
import { Packet as SacnPacket } from 'sacn';
import {
  artNet,
  artPoll,
  artReplies,
  listOfUniverses,
  maxChannels,
  readShown,
  sacn,
  showPacket,
} from '../../../lib/connections/dmx/packets.ts';

const cid = Buffer.from('00112233445566778899aabbccddeeff', 'hex');
const channels = fc.uint8Array({ minLength: 1, maxLength: maxChannels });
const sentOf = (most: number) =>
  fc.record({
    universe: fc.integer({ min: 1, max: most }),
    channels,
    sequence: fc.integer({ min: 1, max: 255 }),
    priority: fc.integer({ min: 0, max: 200 }),
    name: fc.string({ unit: 'grapheme', maxLength: 80 }),
    cid: fc.constant(cid),
    isTerminated: fc.boolean(),
  });

test('sACN packets are decoded as they were encoded, also by another program', (t) => {
  fc.assert(
    fc.property(sentOf(63_999), (sent) => {
      const bytes = sacn.encode(sent);
      const found = sacn.decode(bytes);
      const { universe, priority, sequence, isTerminated } = sent;
      t.like(found, { kind: 'dmx', universe, priority, sequence, isTerminated, source: cid.toString('hex') });
      t.deepEqual(typeof found === 'object' && found.kind === 'dmx' && [...found.channels], [...sent.channels]);
      t.is(sacn.universeOf(bytes), universe);
      const other = new SacnPacket(bytes);
      t.is(other.universe, universe);
      t.is(other.priority, priority);
      t.deepEqual([...other.payloadAsBuffer!], [...sent.channels]);
    }),
    { numRuns: 300 },
  );
});

test('Art-Net packets are decoded as they were encoded, with an even number of channels', (t) => {
  fc.assert(
    fc.property(sentOf(32_767), (sent) => {
      const bytes = artNet.encode(sent);
      const found = artNet.decode(bytes);
      t.like(found, { kind: 'dmx', universe: sent.universe, sequence: sent.sequence });
      const expected = [...sent.channels, ...(sent.channels.length % 2 === 1 ? [0] : [])];
      t.deepEqual(typeof found === 'object' && found.kind === 'dmx' && [...found.channels], expected);
      t.is(artNet.universeOf(bytes), sent.universe);
    }),
    { numRuns: 300 },
  );
});

test('replies to a poll list every universe that the hub receives', (t) => {
  const receives = [0, 1, 2, 3, 4, 5, 16, 300, 32_767];
  const replies = artReplies({ receives, sends: [7], name: 'Hub', address: '10.0.0.5' });
  const listed = replies.flatMap((reply) => {
    const found = artNet.decode(reply);
    return typeof found === 'object' && found.kind === 'node' ? found.universes : [];
  });
  t.deepEqual(listed, receives);
  t.is(showPacket(artPoll()), 'poll');
  t.is(
    listOfUniverses(
      Array.from({ length: 600 }, (_, index) => index + 1),
      'Hub',
      cid,
    ).length,
    2,
  );
});

test('the form of tests stands for the same channels', (t) => {
  fc.assert(
    fc.property(channels, (values) => {
      const bytes = sacn.encode({
        universe: 9,
        channels: values,
        sequence: 1,
        priority: 100,
        name: '',
        cid,
        isTerminated: false,
      });
      const { universe, channels: read } = readShown(showPacket(bytes));
      t.is(universe, 9);
      t.deepEqual([...read.subarray(0, values.length)], [...values]);
    }),
    { numRuns: 100 },
  );
  for (const text of ['', 'universe', 'universe 1: 513=1', 'universe 1: 1=256', 'universe 1: 0=1', 'universe 1 1=1'])
    t.throws(() => readShown(text), { message: /^expected channels 1\.\.512/ });
});

test('no bytes end the decoders', (t) => {
  const whole = [
    sacn.encode({
      universe: 1,
      channels: new Uint8Array(512),
      sequence: 1,
      priority: 100,
      name: 'a',
      cid,
      isTerminated: false,
    }),
    artNet.encode({
      universe: 1,
      channels: new Uint8Array(512),
      sequence: 1,
      priority: 100,
      name: 'a',
      cid,
      isTerminated: false,
    }),
    artPoll(),
    ...artReplies({ receives: [1], sends: [], name: 'a', address: '10.0.0.5' }),
    ...listOfUniverses([1], 'a', cid),
  ];
  const damaged = fc
    .tuple(
      fc.constantFrom(...whole),
      fc.array(fc.tuple(fc.nat(640), fc.integer({ min: 0, max: 255 })), { maxLength: 6 }),
      fc.nat(640),
    )
    .map(([packet, changes, length]) => {
      const bytes = Buffer.from(packet.subarray(0, length));
      for (const [at, byte] of changes) if (at < bytes.length) bytes[at] = byte;
      return bytes;
    });
  fc.assert(
    fc.property(
      fc.oneof(
        damaged,
        fc.uint8Array({ maxLength: 700 }).map((bytes) => Buffer.from(bytes)),
      ),
      (bytes) => {
        for (const protocol of [sacn, artNet]) {
          const found = protocol.decode(bytes);
          if (typeof found === 'object' && found.kind === 'dmx') t.true(found.channels.length <= maxChannels);
        }
        t.is(typeof showPacket(bytes), 'string');
      },
    ),
    { numRuns: 5000 },
  );
});
