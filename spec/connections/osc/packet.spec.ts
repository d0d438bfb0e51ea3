// The codec: what others have written is read and written byte for byte, and nothing that arrives can harm it.

import test from 'ava';
import {
  decodePacket,
  encodeBundle,
  encodeMessage,
  maxArguments,
  maxElements,
  maxNesting,
  maxPacketBytes,
  type OscBundle,
  type OscMessage,
  type OscPacket,
  readPacket,
  showPacket,
} from '../../../lib/connections/osc/packet.ts';
import { Random } from '../../support/random.ts';
import { fromBuffer, toBuffer } from './osc-min.ts';

const decoded = (bytes: Buffer) => decodePacket(bytes) as OscMessage;
const refused = (bytes: Buffer) => {
  const packet: OscPacket | string = decodePacket(bytes);
  return typeof packet === 'string' ? packet : showPacket(bytes);
};

test('the examples of the specification are read, and written byte for byte', (t) => {
  const one = Buffer.from('2f6f7363696c6c61746f722f342f6672657175656e6379002c66000043dc0000', 'hex');
  t.deepEqual(decoded(one), { address: '/oscillator/4/frequency', tags: 'f', args: [440] });
  t.deepEqual(encodeMessage('/oscillator/4/frequency', 'f', [440]), one);
  const two = Buffer.from('2f666f6f000000002c69697366660000000003e8ffffffff68656c6c6f0000003f9df3b640b5b22d', 'hex');
  t.deepEqual(decoded(two), { address: '/foo', tags: 'iisff', args: [1000, -1, 'hello', 1.234, 5.678] });
  t.deepEqual(encodeMessage('/foo', 'iisff', [1000, -1, 'hello', 1.234, 5.678]), two);
});

for (const [tag, value, hex] of [
  ['i', -2_147_483_648, '80000000'],
  ['f', 0.1, '3dcccccd'],
  ['s', 'abcd', '6162636400000000'],
  ['s', 'ü', 'c3bc0000'],
  ['S', '', '00000000'],
  ['b', '0102030405', '000000050102030405000000'],
  ['b', '', '00000000'],
  ['T', true, ''],
  ['F', false, ''],
  ['N', null, ''],
  ['I', 1, ''],
  ['h', 5_000_000_000, '000000012a05f200'],
  ['h', '9223372036854775807', '7fffffffffffffff'],
  ['d', 0.1, '3fb999999999999a'],
  ['t', 0, '0000000000000001'],
  ['t', 1_704_067_200_500, 'e93c7f0080000000'],
  ['c', 'x', '00000078'],
  ['r', '#ff8800ff', 'ff8800ff'],
  ['m', '00903c7f', '00903c7f'],
] as const)
  test(`the argument ${tag} ${value} is ${hex === '' ? 'no bytes' : hex}`, (t) => {
    const bytes = encodeMessage('/a', tag, [value]);
    t.is(bytes.toString('hex', 8), hex);
    t.deepEqual(decoded(bytes), { address: '/a', tags: tag, args: [value] });
    const text = showPacket(bytes);
    t.deepEqual(readPacket(text), bytes, text);
  });

test('a float is what its sender typed, and others stay what they are', (t) => {
  for (const value of [0.75, 0.7, 1e-7, 123_456.789, -90, 3.402_823_4e38]) {
    const [read] = decoded(encodeMessage('/a', 'f', [value])).args;
    t.is(Math.fround(read as number), Math.fround(value));
    t.true(String(read).length <= Math.max(String(value).length, 10), String(read));
  }
  t.is(decoded(encodeMessage('/a', 'f', [Number.NaN])).args[0], Number.NaN);
});

test('arrays keep their tags, and their arguments stand in a row', (t) => {
  const bytes = readPacket('/a i[f[s]T]i 1 2.5 "x" 3');
  t.deepEqual(decoded(bytes), { address: '/a', tags: 'i[f[s]T]i', args: [1, 2.5, 'x', true, 3] });
  t.is(showPacket(bytes), '/a i[f[s]T]i 1 2.5 "x" 3');
});

test('a message without type tags has no arguments', (t) => {
  t.deepEqual(decoded(Buffer.from('/xremote\0\0\0\0')), { address: '/xremote', tags: '', args: [] });
});

test('osc-min reads what is written here, and the other way round', (t) => {
  const args = [
    { type: 'integer', value: 7 },
    { type: 'float', value: 0.5 },
    { type: 'string', value: 'hall' },
    { type: 'true', value: true },
    { type: 'null', value: null },
    { type: 'double', value: 0.1 },
  ] as const;
  const message = { address: '/ch/1', args: [...args] };
  const theirs = toBuffer({ timetag: [3_913_056_000, 0], elements: [message] });
  const bytes = Buffer.from(theirs.buffer, theirs.byteOffset, theirs.byteLength);
  const { timeMs, elements } = decodePacket(bytes) as OscBundle;
  t.is(timeMs, Date.UTC(2024, 0, 1));
  t.deepEqual(elements, [{ address: '/ch/1', tags: 'ifsTNd', args: [7, 0.5, 'hall', true, null, 0.1] }]);
  const own = encodeBundle(timeMs, [encodeMessage('/ch/1', 'ifsTNd', [7, 0.5, 'hall', true, null, 0.1])]);
  t.deepEqual(own, bytes);
  const read = fromBuffer(own);
  t.is(read.oscType, 'bundle');
});

test('times before and after 2036 are kept', (t) => {
  for (const time of ['1970-01-02T00:00:00.000Z', '2035-12-31T00:00:00.000Z', '2040-06-01T12:00:00.125Z'])
    t.is(showPacket(readPacket(`#bundle ${time} { /a }`)), `#bundle ${time} { /a }`);
});

for (const [what, hex, reason] of [
  ['nothing', '', /multiple of 4/],
  ['a length that is no multiple of 4', '2f61000001', /multiple of 4/],
  ['no address', '61626300', /begins with \//],
  ['an address without an end', '2f616161', /ends with a zero byte/],
  ['type tags without a comma', '2f61000069000000', /begin with a comma/],
  ['type tags without an end', '2f6100002c696969', /end with a zero byte/],
  ['an unknown type tag', '2f6100002c780000', /known type tags/],
  ['too few bytes', '2f6100002c690000', /known type tags/],
  ['too many bytes', '2f6100002c690000000000010000000000', /multiple of 4|no bytes after/],
  ['four bytes too many', '2f6100002c6900000000000100000000', /no bytes after/],
  ['a blob that is longer than its packet', '2f6100002c62000000ffffff00000000', /known type tags/],
  ['a blob of almost 4 GiB', '2f6100002c620000fffffffd00000000', /known type tags/],
  ['text without an end', '2f6100002c73000061616161', /known type tags/],
  ['a [ without a ]', '2f6100002c5b0000', /\] after each \[/],
  ['a ] without a [', '2f6100002c5d0000', /\[ before each \]/],
  ['a bundle without a time', '2362756e646c6500', /time tag/],
  ['another word', '2362756e646c65780000000000000001', /time tag/],
  [
    'an element that is longer than its bundle',
    '2362756e646c65000000000000000001000000ff2f610000',
    /within its bundle/,
  ],
  ['half a length of an element', '2362756e646c650000000000000000010000', /multiple of 4/],
  ['an element of no bytes', '2362756e646c6500000000000000000100000000', /multiple of 4/],
] as const)
  test(`a packet with ${what} is refused`, (t) => t.regex(refused(Buffer.from(hex, 'hex')), reason));

test('each bound holds: bytes, arguments, messages, nesting', (t) => {
  t.regex(refused(Buffer.alloc(maxPacketBytes + 1)), /at most 65507 bytes/);
  const many = 'T'.repeat(maxArguments + 1);
  t.regex(
    refused(Buffer.concat([Buffer.from('/a\0\0,'), Buffer.from(many), Buffer.alloc(2)])),
    /at most 1024 arguments/,
  );
  t.is(decoded(encodeMessage('/a', many.slice(1), Array(maxArguments).fill(true))).args.length, maxArguments);
  const messages = (count: number) => encodeBundle(0, Array(count).fill(Buffer.from('/a\0\0')));
  t.is((decodePacket(messages(maxElements - 1)) as OscBundle).elements.length, maxElements - 1);
  t.regex(refused(messages(maxElements)), /at most 4096 messages/);
  let nested: Buffer = Buffer.from('/a\0\0');
  for (let depth = 0; depth < maxNesting; depth++) nested = encodeBundle(0, [nested]);
  t.false(typeof decodePacket(nested) === 'string');
  t.regex(refused(encodeBundle(0, [nested])), /at most 16 levels of nested bundles/);
  const arrays = '['.repeat(maxNesting + 1) + ']'.repeat(maxNesting + 1);
  t.regex(refused(encodeMessage('/a', arrays, [])), /at most 16 levels of nested arrays/);
  t.regex(refused(encodeMessage(`/${'a'.repeat(1030)}`, '', [])), /at most 1024 bytes/);
});

test('no packet that is damaged or made of chance throws, and what is read can be written again', (t) => {
  const random = new Random(65, 0);
  const packets = [
    readPacket('/ch/01/mix/fader f 0.75'),
    readPacket('/a ifsbTFNIhdtcrm[i] 1 2 "text" 0102 5 6 now "x" #01020304 00903c7f 9'),
    readPacket('#bundle 2024-01-01T00:00:02.000Z { /a i 1 ; #bundle now { /b s "x" ; /c } }'),
  ];
  let read = 0;
  for (let round = 0; round < 60_000; round++) {
    const bytes = Buffer.from(packets[round % packets.length]!);
    for (let change = random.below(4); change >= 0; change--) bytes[random.below(bytes.length)] = random.below(256);
    const cut = random.below(3) === 0 ? bytes.subarray(0, random.below(bytes.length)) : bytes;
    const packet = decodePacket(cut);
    if (typeof packet === 'string') continue;
    read++;
    t.is(typeof showPacket(cut), 'string');
  }
  t.true(read > 5000, String(read));
});

for (const [text, reason] of [
  ['', /an address such as "\/cue\/1\/start", got nothing/],
  ['cue', /an address such as .*got "cue"/],
  ['/a x 1', /a type tag, one of ifsSbTFNIhdtcrm or a bracket, got "x"/],
  ['/a i', /an argument for the type tag "i", got nothing/],
  ['/a i one', /a number for the type tag "i", got "one"/],
  ['/a i 1 2', /the end of the message, got "2"/],
  ['/a i 5000000000', /./],
  ['/a c "xy"', /one character/],
  ['/a r #12', /a colour such as/],
  ['#bundle soon { /a }', /"now" or a time/],
  ['#bundle now /a', /\{ after the time/],
  ['#bundle now { /a', /\} at the end/],
] as const)
  test(`the text ${JSON.stringify(text)} is refused`, (t) => {
    t.throws(() => readPacket(text), { message: reason });
  });
