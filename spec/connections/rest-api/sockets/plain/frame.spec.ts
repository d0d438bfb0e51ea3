// A frame that is written into shared bytes is, byte for byte, what JSON makes of the notification.

import test from 'ava';
import fc from 'fast-check';
import { encodeFrame, FrameEncoder, framePrefix } from '../../../../../lib/connections/rest-api/sockets/plain/frame.ts';
import { toText, type Value } from '../../../../../lib/model/value.ts';
import { codePoint } from '../../../../support/any-text.ts';

const expectedOf = (p: string, value: Value) => JSON.stringify({ p, v: toText(value) });

test('S-09: a frame is the JSON of any address and value, after any other frame', (t) => {
  const text = fc.string({ unit: codePoint, maxLength: 20 }).map((any) => any.toWellFormed());
  const value = fc.oneof(
    text,
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    fc.tuple(fc.integer(), fc.nat(6)).map(([digits, decimals]) => digits / 10 ** decimals),
  );
  const encoder = new FrameEncoder();
  const prefixes = new Map<string, Uint8Array>();
  fc.assert(
    fc.property(fc.oneof(fc.constantFrom('desk/lamp', 'desk/level'), text), value, (address, sent) => {
      const prefix = prefixes.get(address) ?? framePrefix(address);
      prefixes.set(address, prefix);
      const expected = expectedOf(address, sent);
      return (
        Buffer.from(encoder.encode(prefix, sent)).toString() === expected && encodeFrame(address, sent) === expected
      );
    }),
    { numRuns: 5000 },
  );
  t.pass();
});

for (const length of [0, 300, 320, 330, 340, 990, 1000, 1010, 1024, 70_000])
  for (const [what, unit] of Object.entries({ ASCII: 'x', 'two bytes': 'ü', 'three bytes': '€', escapes: '\u0001' }))
    test(`text of ${length} (${what}), and an address as long, are written whole`, (t) => {
      const encoder = new FrameEncoder();
      const text = unit.repeat(length);
      for (const [address, value] of [
        ['desk/s', text],
        ['desk/s', 0.5],
        [`desk/${text}`, -2147.483647],
        [`desk/${text}`, true],
        ['desk/s', text],
      ] as const)
        t.is(Buffer.from(encoder.encode(framePrefix(address), value)).toString(), expectedOf(address, value));
    });
