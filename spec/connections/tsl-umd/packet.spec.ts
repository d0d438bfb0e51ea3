// The codec of TSL UMD: packets as the protocol document lays them out, every packet back as it was, and nothing that garbage could break.

import test from 'ava';
import fc from 'fast-check';
import {
  colours,
  type Display,
  decodePacket,
  encodePacket,
  framingOf,
  maxPacketBytes,
  partsOfVersion,
  readDisplays,
  showPacket,
  unwrapDatagram,
  type Version,
} from '../../../lib/connections/tsl-umd/packet.ts';

const hex = (text: string) => Buffer.from(text.replaceAll(/[^\da-f]/g, ''), 'hex');
const ignore = () => {};

const rows: readonly (readonly [version: Version, text: string, bytes: string])[] = [
  [3.1, '1 "CAM 1" tally=1,3 brightness=3', '81 35 43414d2031 2020202020202020202020'],
  [3.1, '126 "0123456789abcdef" brightness=0', 'fe 00 30313233343536373839616263646566'],
  // the sum of the first 18 bytes is 0x5a8: the checksum completes it to a multiple of 128
  [4, '2 "A" tally=2 lh=red right/rh=amber brightness=1', '82 12 41 202020202020202020202020202020 4b 02 10 03'],
  [5, '1 "CAM 1" lh=red txt=green rh=amber brightness=3', '0f00 00 00 0000 0100 db00 0500 43414d2031'],
  [5, '3/65535 "Gr\u00fcn" brightness=2', '1200 00 01 0300 ffff 8000 0800 4700 7200 fc00 6e00'],
  [5, '7/1 "A" brightness=3 ; 7/2 "" rh=red brightness=3', '1100 00 00 0700 0100 c000 0100 41 0200 c100 0000'],
];

for (const [version, text, bytes] of rows)
  test(`${version}: ${text}`, (t) => {
    const { bytes: encoded, count } = encodePacket(version, readDisplays(text));
    t.is(count, text.split(' ; ').length);
    t.is(encoded.toString('hex'), hex(bytes).toString('hex'));
    t.is(showPacket(encoded), text);
    t.is((decodePacket(encoded) as { version: Version }).version, version);
  });

const displays = (version: Version): fc.Arbitrary<Display> => {
  const ascii = fc.string({ unit: fc.constantFrom(...' AZaz09~'), maxLength: version === 5 ? 40 : 16 });
  const text = version === 5 ? fc.oneof(ascii, fc.constantFrom('Gr\u00fc\u00dfe', '\ud83d\udd34 ON')) : ascii;
  const parts = partsOfVersion[version].map((part) => {
    if (part === 'text') return [part, text.map((one) => one.trimEnd())];
    if (part.startsWith('tally')) return [part, fc.boolean()];
    return [part, fc.nat(3)];
  });
  return fc.record({
    screen: fc.nat(version === 5 ? 0xffff : 0),
    index: fc.nat(version === 5 ? 0xffff : 126),
    values: fc.record(Object.fromEntries(parts)),
  }) as fc.Arbitrary<Display>;
};

for (const version of [3.1, 4, 5] as const)
  test(`${version}: what is encoded is decoded as it was, also over TCP in pieces`, (t) => {
    const list = fc.array(displays(version), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(list, fc.constantFrom('dle', 'length'), fc.integer({ min: 1, max: 7 }), (sent, name, piece) => {
        const framing = framingOf(version, name as 'dle');
        const framer = framing.createFramer((_, reason) => t.fail(reason));
        const got: Display[] = [];
        for (let rest = sent; rest.length > 0; ) {
          const { bytes, count } = encodePacket(version, rest);
          if (version === 5) t.true(bytes.length <= maxPacketBytes);
          rest = rest.slice(count);
          const wrapped = Buffer.from(framing.wrap(bytes));
          for (let at = 0; at < wrapped.length; at += piece)
            for (const packet of framer.push(wrapped.subarray(at, at + piece))) {
              const decoded = decodePacket(packet);
              if (typeof decoded === 'string') throw new Error(decoded);
              got.push(...decoded.displays);
            }
        }
        t.deepEqual(got, sent);
      }),
      { numRuns: 100 },
    );
  });

test('garbage and changed packets are refused or read, and never throw; the next packet is read', (t) => {
  const bytes = fc.uint8Array({ maxLength: 80 });
  const good = encodePacket(5, readDisplays('1 "CAM" lh=red')).bytes;
  const old = encodePacket(3.1, readDisplays('1 "CAM" tally=1')).bytes;
  fc.assert(
    fc.property(bytes, fc.nat(20), fc.nat(255), (noise, place, byte) => {
      for (const one of [noise, Object.assign(Buffer.from(good), { [place]: byte })]) {
        const decoded = decodePacket(unwrapDatagram(Buffer.from(one)));
        if (typeof decoded !== 'string')
          for (const { values } of decoded.displays) t.true(Number(values.lh ?? 0) < colours.length);
        showPacket(one);
      }
      const dle = framingOf(5, 'dle');
      const framer = dle.createFramer(ignore);
      framer.push(Buffer.from(noise));
      framer.push(Buffer.from(dle.wrap(good)));
      // noise may end in a DLE, or within a packet: the one after the next is read at the latest
      t.deepEqual(framer.push(Buffer.from(dle.wrap(good))), [good]);
      const headers = framingOf(3.1, 'dle').createFramer(ignore);
      headers.push(Buffer.from(noise));
      t.true(headers.push(old).length <= 1);
      t.deepEqual(headers.push(old), [old]);
    }),
    { numRuns: 2000 },
  );
});

test('a stream of version 5 without DLE ends at an impossible length', (t) => {
  const framer = framingOf(5, 'length').createFramer(ignore);
  t.throws(() => framer.push(hex('ffff00')), { message: /at most 2048 bytes, got 65537/ });
});

test('a datagram that is framed as over TCP is read, and one that only looks so as well', (t) => {
  const packet = encodePacket(5, readDisplays('254 "CAM 254" lh=red brightness=3')).bytes;
  t.is(showPacket(unwrapDatagram(Buffer.from(framingOf(5, 'dle').wrap(packet)))), '254 "CAM 254" lh=red brightness=3');
  const texts = Array.from(
    { length: 7 },
    (_, index) => `${index} "${'x'.repeat(index === 0 ? 96 : 102)}" brightness=3`,
  );
  const long = encodePacket(5, readDisplays(texts.join(' ; '))).bytes;
  const looksSo = Buffer.alloc(768, long);
  looksSo.writeUInt16LE(766);
  t.is(unwrapDatagram(looksSo), looksSo);
});

test('displays that show ASCII alone get text without accents', (t) => {
  const { bytes } = encodePacket(3.1, [
    { screen: 0, index: 1, values: { text: 'Caf\u00e9 \u2192 Gr\u00f6\u00dfe 12345' } },
  ]);
  t.is(showPacket(bytes), '1 "Cafe ? Gro?e 123" brightness=3');
});

for (const [what, bytes, reason] of [
  ['a checksum', '82 12 41 202020202020202020202020202020 4c 02 10 03', /correct checksum/],
  ['a count', '82 12 41 202020202020202020202020202020 4b 03 10 03', /number of bytes that byte 20/],
  ['a control byte', '81 b5 43414d2031 2020202020202020202020', /control byte below 128/],
  ['control data of 4', '82 52 41 202020202020202020202020202020 0b 02 10 03', /control data/],
  ['screen control data', '0400 00 02 0000', /screen control data/],
  ['control data of 5', '0a00 00 00 0000 0100 0080 0000', /got control data/],
  ['half a display', '0600 00 00 0000 0100', /complete displays/],
  ['half a text', '0b00 00 00 0000 0100 0000 0500 41', /complete texts/],
  ['something else', '0102030405', /packet of TSL UMD/],
] as const)
  test(`${what} that is wrong is refused`, (t) => {
    t.regex(String(decodePacket(hex(bytes))), reason);
  });

for (const text of ['', '"CAM"', '1 lh=blue', '1 tally=5', '1 brightness=4', '1 side=red'])
  test(`the text ${JSON.stringify(text)} is no packet`, (t) => {
    t.throws(() => readDisplays(text), { message: /^expected / });
  });
