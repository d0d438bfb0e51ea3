// The codec for OSC 1.0 and 1.1: packets, messages and bundles, and their text form. A packet takes effect only after it has been decoded
// completely, and every part has a maximum size. Errors in packets are returned, because throwing exceptions would make a flood of invalid
// packets expensive.

import { shortestFloat } from '../../model/digits.ts';
import { describe } from '../../model/error.ts';

/** The maximum size of a packet, in bytes: the UDP limit, which is applied to TCP as well. */
export const maxPacketBytes = 65_507;
/** The maximum length of an address, in bytes. */
export const maxAddressBytes = 1024;
/** The maximum number of arguments in a message. */
export const maxArguments = 1024;
/** The maximum number of messages and bundles in a packet. */
export const maxElements = 4096;
/** The maximum nesting depth of bundles and of arrays of arguments. */
export const maxNesting = 16;

/**
 * The value of an argument. Blobs and MIDI messages are strings of hexadecimal digits, colours have the form `#rrggbbaa`, and times are
 * milliseconds since 1970. The tag `N` stands for null, and `I` for 1.
 */
export type OscValue = number | string | boolean | null;

export interface OscMessage {
  readonly address: string;
  /** The type tags without the comma, including the brackets of arrays: `if[TF]`. */
  readonly tags: string;
  /** The values of the arguments, including the arguments in arrays. */
  readonly args: readonly OscValue[];
}

export interface OscBundle {
  /** The time at which the bundle takes effect, in milliseconds since 1970; 0 means immediately. */
  readonly timeMs: number;
  readonly elements: readonly OscPacket[];
}

export type OscPacket = OscMessage | OscBundle;

/** The type tags whose arguments take no bytes, with the values that the tags stand for. */
const emptyTags: Readonly<Record<string, OscValue>> = { T: true, F: false, N: null, I: 1 };
const bundleMark = '#bundle';
/** The number of seconds from 1900, the NTP epoch, to 1970. */
const ntpOffset = 2_208_988_800;
const fraction = 2 ** 32;

/** Decodes a packet. If the packet is invalid, returns a sentence that describes the first error. */
export function decodePacket(bytes: Buffer): OscPacket | string {
  if (bytes.length > maxPacketBytes) return `expected a packet of at most ${maxPacketBytes} bytes`;
  return new Decoder(bytes).element(0, bytes.length, 0);
}

class Decoder {
  readonly #bytes: Buffer;
  #at = 0;
  #elements = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  element(start: number, end: number, depth: number): OscPacket | string {
    if (++this.#elements > maxElements) return `expected at most ${maxElements} messages in a packet`;
    if (end - start < 4 || (end & 3) !== 0) return 'expected a length that is a multiple of 4';
    this.#at = start;
    const first = this.#bytes[start];
    if (first === 0x2f) return this.#message(end);
    if (first === 0x23) return this.#bundle(start, end, depth);
    return 'expected an address that begins with /, or a bundle';
  }

  #message(end: number): OscMessage | string {
    const start = this.#at;
    const address = this.#text(end);
    if (address === undefined) return 'expected an address that ends with a zero byte';
    if (this.#at - start > maxAddressBytes) return `expected an address of at most ${maxAddressBytes} bytes`;
    if (this.#at === end) return { address, tags: '', args: [] }; // the sender is older than OSC type tags
    if (this.#bytes[this.#at] !== 0x2c) return 'expected type tags that begin with a comma';
    const tags = this.#text(end);
    if (tags === undefined) return 'expected type tags that end with a zero byte';
    const args: OscValue[] = [];
    let depth = 0;
    for (let place = 1; place < tags.length; place++) {
      const tag = tags.charCodeAt(place);
      if (tag === 0x5b) {
        if (++depth > maxNesting) return `expected at most ${maxNesting} levels of nested arrays`;
        continue;
      }
      if (tag === 0x5d) {
        if (--depth < 0) return 'expected a [ before each ] in the type tags';
        continue;
      }
      if (args.length >= maxArguments) return `expected at most ${maxArguments} arguments`;
      const value = this.#argument(tag, end);
      if (value === undefined) return 'expected arguments that match known type tags';
      args.push(value);
    }
    if (depth !== 0) return 'expected a ] after each [ in the type tags';
    if (this.#at !== end) return 'expected no bytes after the arguments';
    return { address, tags: tags.slice(1), args };
  }

  /** Reads an argument. Returns undefined if the tag is unknown or bytes are missing. */
  #argument(tag: number, end: number): OscValue | undefined {
    const at = this.#at;
    const bytes = this.#bytes;
    switch (tag) {
      case 0x69: // i
        return this.#takes(4, end) ? bytes.readInt32BE(at) : undefined;
      case 0x66: // f
        return this.#takes(4, end) ? shortestFloat(bytes.readFloatBE(at)) : undefined;
      case 0x73: // s
      case 0x53: // S
        return this.#text(end);
      case 0x54:
        return true;
      case 0x46:
        return false;
      case 0x4e:
        return null;
      case 0x49:
        return 1;
      case 0x64: // d
        return this.#takes(8, end) ? bytes.readDoubleBE(at) : undefined;
      case 0x68: {
        // h
        if (!this.#takes(8, end)) return undefined;
        const whole = bytes.readBigInt64BE(at);
        const number = Number(whole);
        return Number.isSafeInteger(number) ? number : String(whole);
      }
      case 0x74: // t
        return this.#takes(8, end) ? timeMsAt(bytes, at) : undefined;
      case 0x62: {
        // b
        if (at + 4 > end) return undefined;
        const length = bytes.readUInt32BE(at);
        const from = at + 4;
        this.#at = from + ((length + 3) & ~3);
        if (length > end - from || this.#at > end) return undefined;
        return bytes.toString('hex', from, from + length);
      }
      case 0x63: {
        // c
        if (!this.#takes(4, end)) return undefined;
        const code = bytes.readUInt32BE(at);
        return code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
      }
      case 0x72: // r
        return this.#takes(4, end) ? `#${bytes.toString('hex', at, at + 4)}` : undefined;
      case 0x6d: // m
        return this.#takes(4, end) ? bytes.toString('hex', at, at + 4) : undefined;
    }
    return undefined;
  }

  /** Returns whether at least `count` bytes are left before `end`. */
  #takes(count: number, end: number): boolean {
    this.#at += count;
    return this.#at <= end;
  }

  /** Reads a string and its zero bytes. Returns undefined if there is no zero byte. */
  #text(end: number): string | undefined {
    const start = this.#at;
    const bytes = this.#bytes;
    let at = start;
    let isAscii = true;
    for (; at < end && bytes[at] !== 0; at++) if (bytes[at]! > 0x7f) isAscii = false;
    if (at === end) return undefined;
    this.#at = start + ((at - start + 4) & ~3);
    return bytes.toString(isAscii ? 'latin1' : 'utf8', start, at);
  }

  #bundle(start: number, end: number, depth: number): OscBundle | string {
    if (depth >= maxNesting) return `expected at most ${maxNesting} levels of nested bundles`;
    if (end - start < 16 || this.#bytes.toString('latin1', start, start + 8) !== `${bundleMark}\0`)
      return 'expected #bundle and a time tag';
    const timeMs = timeMsAt(this.#bytes, start + 8);
    const elements: OscPacket[] = [];
    let at = start + 16;
    while (at < end) {
      if (at + 4 > end) return 'expected the length of a bundle element';
      const length = this.#bytes.readUInt32BE(at);
      at += 4;
      if (length > end - at) return 'expected an element that ends within its bundle';
      const element = this.element(at, at + length, depth + 1);
      if (typeof element === 'string') return element;
      elements.push(element);
      at += length;
    }
    return { timeMs, elements };
  }
}

/** Returns a time tag in milliseconds since 1970; 0 means immediately. */
function timeMsAt(bytes: Buffer, at: number): number {
  const seconds = bytes.readUInt32BE(at);
  const parts = bytes.readUInt32BE(at + 4);
  if (seconds === 0 && parts <= 1) return 0;
  // The first NTP era ends in 2036, when the seconds start from 0 again.
  const era = seconds < ntpOffset ? fraction : 0;
  return Math.round((seconds + era - ntpOffset + parts / fraction) * 1e6) / 1e3;
}

// Encoding

export const tagNames = 'ifsSbTFNIhdtcrm';

/** Encodes a message. Errors: `Error` with a readable message if a tag cannot carry its argument or the message is too long. */
export function encodeMessage(address: string, tags: string, args: readonly OscValue[]): Buffer {
  const parts: Buffer[] = [paddedText(address), paddedText(`,${tags}`)];
  let place = 0;
  for (const tag of tags) if (tag !== '[' && tag !== ']') parts.push(encodeArgument(tag, args[place++]!));
  const bytes = Buffer.concat(parts);
  if (bytes.length > maxPacketBytes)
    throw new Error(`expected a message of at most ${maxPacketBytes} bytes, got ${bytes.length}`);
  return bytes;
}

/** Encodes a bundle from encoded messages. `timeMs` is in milliseconds since 1970; 0 means immediately. */
export function encodeBundle(timeMs: number, elements: readonly Buffer[]): Buffer {
  const parts = [Buffer.from(`${bundleMark}\0`), encodeTime(timeMs)];
  for (const element of elements) parts.push(uint32(element.length), element);
  return Buffer.concat(parts);
}

const nothing = Buffer.alloc(0);

function encodeArgument(tag: string, value: OscValue): Buffer {
  const number = Number(value);
  switch (tag) {
    case 'i': {
      const bytes = Buffer.allocUnsafe(4);
      bytes.writeInt32BE(number);
      return bytes;
    }
    case 'f': {
      const bytes = Buffer.allocUnsafe(4);
      bytes.writeFloatBE(number);
      return bytes;
    }
    case 'd': {
      const bytes = Buffer.allocUnsafe(8);
      bytes.writeDoubleBE(number);
      return bytes;
    }
    case 'h': {
      const bytes = Buffer.allocUnsafe(8);
      bytes.writeBigInt64BE(BigInt(value as number | string));
      return bytes;
    }
    case 't':
      return encodeTime(number);
    case 's':
    case 'S':
      return paddedText(String(value));
    case 'b': {
      const data = hexBytes(String(value));
      return Buffer.concat([uint32(data.length), data], 4 + ((data.length + 3) & ~3));
    }
    case 'c': {
      const [character = '', ...others] = String(value);
      if (character === '' || others.length > 0) throw new Error(`expected one character, got ${describe(value)}`);
      return uint32(character.codePointAt(0)!);
    }
    case 'r':
    case 'm': {
      const text = String(value);
      const data = hexBytes(tag === 'r' ? text.replace(/^#/, '') : text);
      if (data.length !== 4)
        throw new Error(`expected ${tag === 'r' ? 'a colour such as "#ff8800ff"' : '4 bytes in hex'}`);
      return data;
    }
  }
  if (!(tag in emptyTags)) throw new Error(`expected a type tag, one of ${tagNames}, got "${tag}"`);
  return nothing;
}

function encodeTime(timeMs: number): Buffer {
  const bytes = Buffer.alloc(8);
  if (timeMs === 0) {
    bytes[7] = 1;
    return bytes;
  }
  const seconds = Math.floor(timeMs / 1000);
  bytes.writeUInt32BE((seconds + ntpOffset) % fraction, 0);
  bytes.writeUInt32BE(Math.min(Math.round((timeMs / 1000 - seconds) * fraction), fraction - 1), 4);
  return bytes;
}

function hexBytes(text: string): Buffer {
  const plain = text.replaceAll(' ', '');
  if (!/^(?:[\da-f]{2})*$/i.test(plain)) throw new Error('expected bytes in hex such as "81 01 ff"');
  return Buffer.from(plain, 'hex');
}

function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function paddedText(text: string): Buffer {
  if (text.includes('\0')) throw new Error('expected text without NUL characters');
  const length = Buffer.byteLength(text);
  const bytes = Buffer.alloc((length + 4) & ~3);
  bytes.write(text);
  return bytes;
}

// Packets as text, in the format of `oscsend` and `oscdump`: `/ch/01/mix/fader f 0.75`, `#bundle now { /a i 1 ; /b s "text" }`

/** Returns a packet as text. Bytes that are not a packet are shown as hexadecimal digits. */
export function showPacket(bytes: Uint8Array): string {
  const packet = decodePacket(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  return typeof packet === 'string' ? Buffer.from(bytes).toString('hex') : textOf(packet);
}

function textOf(packet: OscPacket): string {
  if ('elements' in packet) {
    const time = packet.timeMs === 0 ? 'now' : new Date(packet.timeMs).toISOString();
    return `#bundle ${time} { ${packet.elements.map(textOf).join(' ; ')} }`;
  }
  const { address, tags, args } = packet;
  let place = 0;
  const shown = [...tags].flatMap((tag) => {
    if (tag === '[' || tag === ']') return [];
    const value = args[place++]!;
    if (tag in emptyTags) return [];
    if (tag === 't') return [value === 0 ? 'now' : new Date(value as number).toISOString()];
    return value === '' || 'sSc'.includes(tag) ? [JSON.stringify(value)] : [String(value)];
  });
  return [address, ...(tags === '' ? [] : [tags]), ...shown].join(' ');
}

/** Parses a packet from text. Errors: `Error` with a readable message. */
export function readPacket(text: string): Buffer {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|\S+/g) ?? [];
  const bytes = readElement(tokens);
  if (tokens.length > 0) throw new Error(`expected the end of the message, got "${tokens[0]}"`);
  return bytes;
}

function readElement(tokens: string[]): Buffer {
  const address = tokens.shift();
  if (address === bundleMark) return readBundle(tokens);
  if (address?.startsWith('/') !== true)
    throw new Error(
      `expected an address such as "/cue/1/start", got ${address === undefined ? 'nothing' : `"${address}"`}`,
    );
  if (tokens.length === 0 || isMark(tokens[0]!)) return encodeMessage(address, '', []);
  const tags = tokens.shift()!.replace(/^,/, '');
  const args = [...tags]
    .filter((tag) => tag !== '[' && tag !== ']')
    .map((tag) => (tag in emptyTags ? emptyTags[tag]! : readArgument(tag, tokens.shift())));
  return encodeMessage(address, tags, args);
}

function isMark(token: string): boolean {
  return token === ';' || token === '}';
}

function readArgument(tag: string, token: string | undefined): OscValue {
  if (!tagNames.includes(tag)) throw new Error(`expected a type tag, one of ${tagNames} or a bracket, got "${tag}"`);
  if (token === undefined || isMark(token))
    throw new Error(`expected an argument for the type tag "${tag}", got nothing`);
  if (token.startsWith('"')) return JSON.parse(token) as string;
  if (tag === 't') return readTime(token);
  if ('sSbcrm'.includes(tag)) return token;
  const number = Number(token);
  if (Number.isNaN(number)) throw new Error(`expected a number for the type tag "${tag}", got "${token}"`);
  return tag === 'h' ? token : number;
}

function readTime(token: string | undefined): number {
  const timeMs = token === 'now' ? 0 : Date.parse(token ?? '');
  if (Number.isNaN(timeMs)) throw new Error(`expected "now" or a time such as "2024-01-01T00:00:02Z", got "${token}"`);
  return timeMs;
}

function readBundle(tokens: string[]): Buffer {
  const timeMs = readTime(tokens.shift());
  if (tokens.shift() !== '{') throw new Error('expected { after the time of the bundle');
  const elements: Buffer[] = [];
  while (tokens.length > 0 && tokens[0] !== '}') {
    elements.push(readElement(tokens));
    if (tokens[0] === ';') tokens.shift();
  }
  if (tokens.shift() !== '}') throw new Error('expected } at the end of the bundle');
  return encodeBundle(timeMs, elements);
}
