// Patterns of frames: what they read, what they write, and what is wrong with them.

import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { Pattern, PatternError, type Values } from '../../lib/device/pattern.ts';
import { HubError } from '../../lib/model/error.ts';
import type { Value } from '../../lib/model/value.ts';

/** Expressions here are names, or texts in quotes. */
const compile = (text: string) => {
  const literal = /^"(.*)"$/.exec(text);
  if (text === '') throw new Error('expected an expression');
  return (values: Values): Value => (literal === null ? (values.get(text) ?? 'unknown') : literal[1]!);
};
const text = (written: string) => Pattern.parse(written, false, compile);
const hex = (written: string) => Pattern.parse(written, true, compile);
const bytes = (...codes: number[]) => String.fromCharCode(...codes);

function reads(t: ExecutionContext, pattern: Pattern, frame: string, expected: Record<string, Value> | undefined) {
  const found = pattern.match(frame);
  t.deepEqual(found && Object.fromEntries(found), expected, `${pattern.text} reads ${JSON.stringify(frame)}`);
}

function writes(t: ExecutionContext, pattern: Pattern, values: Record<string, Value>, expected: string) {
  t.is(pattern.format(new Map(Object.entries(values))), expected, pattern.text);
}

test('a pattern of characters reads and writes the same frame', (t) => {
  const cases: [string, string, Record<string, Value>][] = [
    ['%1POWR={value:int}', '%1POWR=2', { value: 2 }],
    ['{n:int} {label}', '7 Camera 8', { n: 7, label: 'Camera 8' }],
    ['Out{n:int(width=2)} In{value:int(width=3,offset=1)} All', 'Out07 In012 All', { n: 7, value: 11 }],
    ['gain={value:float(digits=2)}dB', 'gain=-12.50dB', { value: -12.5 }],
    ['mute {value:on(ON,OFF)}', 'mute OFF', { value: false }],
    ['{value:one(stop=0,play=1,pause=2)}!', 'pause!', { value: 2 }],
    ['ADDR:{value:quoted} N:{name:quoted}', String.raw`ADDR:"a \"b\"" N:"c\\"`, { value: 'a "b"', name: 'c\\' }],
    ['{{{value:word}}}', '{x}', { value: 'x' }],
    ['{a}, {b}', 'one, two, three', { a: 'one', b: 'two, three' }],
    ['id {value:hex(width=4)}', 'id 00FF', { value: 255 }],
    ['{value}', '', { value: '' }],
  ];
  for (const [pattern, frame, values] of cases) {
    reads(t, text(pattern), frame, values);
    writes(t, text(pattern), values, frame);
  }
});

test('a pattern of bytes reads and writes the same frame', (t) => {
  const cases: [string, string, Record<string, Value>][] = [
    ['90 50 {value:uint} FF', bytes(0x90, 0x50, 2, 0xff), { value: 2 }],
    ['9050{value:nibbles(count=4)}FF', bytes(0x90, 0x50, 0, 1, 2, 0xf, 0xff), { value: 0x12f }],
    ['{value:nibbles(count=4,signed=yes)}', bytes(0xf, 0xf, 0xf, 0xe), { value: -2 }],
    ['01 {value:uint(bytes=2,endian=little)}', bytes(1, 0x34, 0x12), { value: 0x1234 }],
    ['{value:uint(bytes=2,signed=yes)}', bytes(0xff, 0xfe), { value: -2 }],
    ['90 {value:on(02,03)}', bytes(0x90, 3), { value: false }],
    ['90 {value:on(7F|7E, 3F)} 00', bytes(0x90, 0x7f, 0), { value: true }],
    ['{value:on}', bytes(0), { value: false }],
    ['{value:one(00=off,01 02=on,1A=3)} FF', bytes(1, 2, 0xff), { value: 'on' }],
    ['02 {value:text(width=4)} 03', `${bytes(2)}ab  ${bytes(3)}`, { value: 'ab  ' }],
  ];
  for (const [pattern, frame, values] of cases) {
    reads(t, hex(pattern), frame, values);
    writes(t, hex(pattern), values, frame);
  }
  reads(t, hex('{value:bits(3)} {low:bits(0,1)}'), bytes(0x08, 0x06), { value: true, low: 2 });
});

test('a checksum is written, and a frame with a wrong one is not read', (t) => {
  const nmea = text('$GPHDT,{value:float},T*{xor8(from=1,before=1)}');
  reads(t, nmea, '$GPHDT,123.456,T*32', { value: 123.456 });
  reads(t, nmea, '$GPHDT,123.456,T*33', undefined);
  writes(t, nmea, { value: 123.456 }, '$GPHDT,123.456,T*32');
  writes(t, hex('01 03 00 00 00 0A {crc16(kind=modbus)}'), {}, bytes(1, 3, 0, 0, 0, 10, 0xc5, 0xcd));
  writes(t, text('123456789{crc16}'), {}, '12345678929B1');
  writes(t, text('123456789{crc16(kind=xmodem)}'), {}, '12345678931C3');
  writes(t, hex('01 02 {sum8(kind=complement)}'), {}, bytes(1, 2, 0xfd));
});

test('a known value has to match the frame, and so does a repeated one', (t) => {
  const pattern = text('<{n:int} {value:word}>');
  t.deepEqual(pattern.match('<3 ON>', new Map([['n', 3]]))?.get('value'), 'ON');
  t.is(pattern.match('<4 ON>', new Map([['n', 3]])), undefined);
  reads(t, text('{a:word}={a:word}'), 'x=x', { a: 'x' });
  reads(t, text('{a:word}={a:word}'), 'x=y', undefined);
});

test('an expression is written, and has to match the frame', (t) => {
  writes(t, text('login {= "me"} {= nonce}'), { nonce: 'n' }, 'login me n');
  reads(t, text('{nonce:word} {= nonce}'), 'abc abc', { nonce: 'abc' });
  reads(t, text('{nonce:word} {= nonce}'), 'abc abd', undefined);
  t.is(text('{= "a}b"}').format(new Map()), 'a}b', 'a brace within text');
});

test('a mismatch is reported with the expected text', (t) => {
  const refused = (pattern: Pattern, value: Value) =>
    t.throws(() => pattern.format(new Map([['value', value]])), { instanceOf: HubError }).message;
  t.is(refused(text('{value:int(width=2)}'), 100), 'expected at most 2 digits, got 100');
  t.is(refused(text('{value:int}'), 'x'), 'expected a number, got "x"');
  t.is(refused(hex('{value:uint}'), 256), 'expected a number 0..255, got 256');
  t.is(refused(text('{value:one(a=1,b=2)}'), 3), 'expected one of 1, 2, got 3');
  t.is(refused(text('{value:text(max=3)}'), 'four'), 'expected at most 3 characters, got "four"');
  t.is(refused(text('{other}'), 1), 'expected a value for {other}, but it is unknown');
});

test('mistakes in patterns are reported with their place', (t) => {
  const mistake = (written: string, isOfBytes = false) => {
    const { message, offset } = t.throws(() => Pattern.parse(written, isOfBytes, compile), {
      instanceOf: PatternError,
    });
    return `${offset}: ${message}`;
  };
  t.is(mistake('a {value:itn}'), '2: unknown converter "itn", did you mean "int"?');
  t.is(mistake('a {value'), '2: expected "}" after "{"; a literal brace is "{{"');
  t.is(mistake('a } b'), '2: expected "}}" for a literal brace');
  t.is(mistake('{value:int(wdth=2)}'), '0: int: unknown argument "wdth", did you mean "width"?');
  t.is(mistake('{value:word(width=2)}'), '0: word: unknown argument "width": it takes no arguments');
  t.is(mistake('{value:int(width=x)}'), '0: int: expected width to be an integer 1..20, got "x"');
  t.is(mistake('90 5 FF', true), '3: expected two hexadecimal digits, got "5 "');
  t.is(mistake('{a}{b}'), '0: expected literal characters after {a}, or a length for it, such as {a:text(width=4)}');
  t.is(mistake('{value:on(zz,03)}', true), '0: on: expected bytes in hexadecimal digits, such as 02, got "zz"');
  t.is(mistake('{value:one(127=on)}', true), '0: one: expected bytes in hexadecimal digits, such as 02, got "127"');
  t.is(mistake('x {=}'), '4: expression: expected an expression');
});

test('a pattern reads its own output back', (t) => {
  const pattern = text('{n:int} <{value:float}> {flag:on(yes,no)} {name:quoted} {rest}');
  const values = fc.record({
    n: fc.integer(),
    value: fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    flag: fc.boolean(),
    name: fc.string(),
    rest: fc.string(),
  });
  fc.assert(
    fc.property(values, (given) => {
      const frame = pattern.format(new Map(Object.entries(given)));
      t.deepEqual(Object.fromEntries(pattern.match(frame)!), given);
    }),
  );
});

test('random frames are read or not, in the usual time', (t) => {
  const pattern = text('{a} {b:float} {c}, {d:int}{e}');
  const long = `${'1 '.repeat(30_000)},`;
  const start = process.cpuUsage();
  pattern.match(long);
  t.true(process.cpuUsage(start).user < 200_000);
  fc.assert(fc.property(fc.string(), (frame) => void pattern.match(frame)));
  t.pass();
});
