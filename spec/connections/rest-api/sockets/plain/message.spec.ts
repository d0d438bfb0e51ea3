// Whatever a plain client sends, the reader makes of it what the JSON parser and the conversions (D-02) make of it.

import test from 'ava';
import fc from 'fast-check';
import { PlainReader } from '../../../../../lib/connections/rest-api/sockets/plain/message.ts';
import { HubError } from '../../../../../lib/model/error.ts';
import { convert, type ValueType, valueTypes } from '../../../../../lib/model/value.ts';
import { codePoint } from '../../../../support/any-text.ts';

/** An address and a value, or the code of an error. */
type Outcome = { p: string; v: unknown } | { p?: string; error: string };

const bytesOf = (text: string): ArrayBuffer => new TextEncoder().encode(text).buffer as ArrayBuffer;

/** What the reader makes of a message. */
function read(reader: PlainReader, text: string, asNumber = false): Outcome {
  let p: string | undefined;
  try {
    p = reader.read(bytesOf(text));
    return { p, v: reader.value(asNumber) };
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    return { ...(p !== undefined && { p }), error: error.code };
  }
}

/** What the reader must make of it. */
function parse(text: string): Outcome {
  const error = 'bad-request';
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return { error };
  }
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return { error };
  const { p, v } = data as { p?: unknown; v?: unknown };
  if (typeof p !== 'string') return { error };
  return v === undefined ? { p, error } : { p, v };
}

/** What a parameter of the type holds after the outcome, or why it does not. */
function converted(type: ValueType, outcome: Outcome): unknown {
  if ('error' in outcome) return outcome;
  try {
    return { p: outcome.p, value: convert(type, outcome.v) };
  } catch (error) {
    return { p: outcome.p, message: (error as HubError).message };
  }
}

const messages: string[] = [
  '{"p":"desk/lamp","v":"true"}',
  '{"p":"desk/lamp","v":true}',
  '{"p":"desk/lamp","v":null}',
  '{"p":"desk/level","v":"0.123"}',
  '{"p":"desk/level","v":0.123}',
  '{"p": "desk/level", "v": -12.5}',
  '{"p":  "desk/level","v":1}',
  '{"p":"desk/level" ,"v":1}',
  '{"p":"desk/level","v":1 }',
  ' {"p":"desk/level","v":1}\n',
  '{"p":"desk/level","v":"1e3"}',
  '{"p":"desk/level","v":" 5 "}',
  '{"p":"desk/level","v":"-0"}',
  '{"p":"desk/level","v":-0}',
  '{"p":"desk/level","v":-0.0}',
  '{"p":"desk/level","v":"007"}',
  '{"p":"desk/level","v":007}',
  '{"p":"desk/level","v":-01}',
  '{"p":"desk/level","v":0}',
  '{"p":"desk/level","v":00}',
  '{"p":"desk/level","v":.5}',
  '{"p":"desk/level","v":5.}',
  '{"p":"desk/level","v":+5}',
  '{"p":"desk/level","v":1e5}',
  '{"p":"desk/level","v":-}',
  '{"p":"desk/level","v":}',
  '{"p":"desk/level","v":12345678901234567}',
  '{"p":"desk/level","v":"12345678901234567"}',
  '{"p":"desk/level","v":"9007199254740993"}',
  '{"p":"desk/level","v":0.1234567890123456789}',
  '{"p":"desk/level","v":"1.9"}',
  '{"p":"desk/level","v":"-1.9"}',
  '{"p":"desk/level","v":""}',
  '{"p":"desk/level","v":"}',
  '{"p":"desk/level","v":"1',
  '{"p":"desk/level","v":"1"',
  '{"p":"desk/level","v":"1"}}',
  '{"p":"desk/level","v":"1","v":"2"}',
  '{"p":"desk/level","v":1,"v":"2"}',
  '{"p":"desk/x","p":"desk/level","v":1}',
  '{"v":1,"p":"desk/level"}',
  '{"p":"desk/level","v":"\\u0031"}',
  '{"p":"desk\\/level","v":"1"}',
  '{"p":"desk/le\\"vel","v":"1"}',
  '{"p":"desk/le\nvel","v":"1"}',
  '{"p":"desk/level","v":"1\n"}',
  '{"p":"desk/level","v":"\u007f"}',
  '{"p":"desk/Zürich 🎚","v":"ü 🎚"}',
  '{"p":"","v":"1"}',
  '{"p":"',
  '{"p":"desk/level"',
  '{"p":"desk/level","v":',
  '{"p":"desk/level","v"',
  '{"p":1,"v":1}',
  '"desk/level","v":1}',
  '"p":"desk/level","v":1}',
  '{"P":"desk/level","v":1}',
  '{"p":"desk/level""v":1}',
  '{"p":"desk/level"1}',
  '{"p":"desk/level"}',
  '{"p":',
  '{',
  '',
  '\ufeff{"p":"desk/level","v":1}',
];
for (const text of messages)
  test(`S-10: ${JSON.stringify(text)} is read as JSON says`, (t) => {
    expectSame(t, new PlainReader(), text);
  });

function expectSame(t: { deepEqual(one: unknown, other: unknown): void }, reader: PlainReader, text: string): void {
  const expected = parse(text);
  t.deepEqual(read(reader, text), expected);
  const asNumber = read(reader, text, true);
  for (const type of ['I', 'F'] as const) t.deepEqual(converted(type, asNumber), converted(type, expected));
  for (const type of valueTypes) t.deepEqual(converted(type, read(reader, text)), converted(type, expected));
}

test('S-10: any message is read as JSON, after any other message', (t) => {
  const piece = fc.oneof(
    fc.constantFrom(
      '{"p":',
      ',"v":',
      '"desk/level"',
      '"desk/lamp"',
      '"',
      '}',
      ' ',
      '-',
      '0',
      '.',
      'e',
      '\\',
      'true',
      ',',
    ),
    fc.string({ unit: codePoint, maxLength: 8 }),
  );
  const value = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.stringMatching(/^-?[0-9]{1,17}(\.[0-9]{1,6})?$/),
    fc.stringMatching(/^-?[0-9]{1,17}(\.[0-9]{1,6})?$/).map((text) => `"${text}"`),
    fc.string({ unit: codePoint, maxLength: 8 }).map((text) => `"${text}"`),
    fc.jsonValue().map((json) => JSON.stringify(json)),
  );
  const address = fc.oneof(
    fc.constantFrom('"desk/level"', '"desk/lamp"'),
    fc.string({ unit: codePoint, maxLength: 12 }).map((text) => JSON.stringify(text)),
  );
  const space = fc.oneof(
    { weight: 12, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: fc.constantFrom(' ', '  ', '\n') },
  );
  const message = fc
    .tuple(space, address, space, space, value, space)
    .map(([a, p, b, c, v, d]) => `{"p":${a}${p}${b},"v":${c}${v}${d}}`);
  const cut = fc.tuple(message, fc.nat(50), fc.string({ unit: codePoint, maxLength: 2 })).map(([text, at, other]) => {
    return text.slice(0, at) + other + text.slice(at + other.length);
  });
  const reader = new PlainReader();
  let accepted = 0;
  fc.assert(
    fc.property(
      fc.oneof(
        { weight: 4, arbitrary: message },
        { weight: 2, arbitrary: cut },
        { weight: 1, arbitrary: fc.array(piece).map((pieces) => pieces.join('')) },
      ),
      (any) => {
        const text = any.toWellFormed(); // what a text frame holds
        if (!('error' in parse(text))) accepted++;
        expectSame({ deepEqual: assertSame }, reader, text);
      },
    ),
    { numRuns: 5000 },
  );
  t.true(accepted > 2000);
});

test('an address is distinguished from others with the same place in the table, and from longer and shorter ones', (t) => {
  const reader = new PlainReader();
  const addresses = Array.from({ length: 5000 }, (_, index) => `desk/${index % 2500}${'ü'.repeat(index % 7)}`);
  for (const p of [...addresses, ...addresses, 'x'.repeat(300), 'x'.repeat(300)])
    if (reader.read(bytesOf(JSON.stringify({ p, v: 1 }))) !== p) t.fail(p);
  t.pass();
});

test('D-15: a message of 64 KiB is read, a longer one is refused', (t) => {
  const text = (bytes: number) => `{"p":"desk/s","v":"${'x'.repeat(bytes - 21)}"}`;
  t.like(read(new PlainReader(), text(65_536)), { p: 'desk/s' });
  t.throws(() => new PlainReader().read(bytesOf(text(65_537))), {
    message: 'expected at most 65536 bytes, got 65537',
  });
});

/** Like `deepEqual`, which tells minus zero from zero, but quick enough for a property that runs many times. */
function assertSame(one: unknown, other: unknown): void {
  const text = (value: unknown) =>
    JSON.stringify(value, (_, inner) => (Object.is(inner, -0) ? 'minus zero' : inner === undefined ? 'none' : inner));
  if (text(one) !== text(other)) throw new Error(`expected ${text(other)}, got ${text(one)}`);
}
