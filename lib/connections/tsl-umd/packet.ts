// TSL UMD packets, according to the protocol document by TSL Products. Packets of versions 3.1 and 4.0 contain one display of 16
// characters; packets of version 5.0 contain any number of displays. This file also contains the TCP framing and the text form of packets:
// `1 "CAM 1" lh=red brightness=3`.

import type { Framer, Framing, Refuse } from '../../device/ports.ts';
import { describe } from '../../model/error.ts';
import type { Value } from '../../model/value.ts';

export type Version = 3.1 | 4 | 5;

/** A value that belongs to a display: its text, its brightness, a lamp that is on or off, or a lamp with a colour. */
export type Part =
  | 'text'
  | 'brightness'
  | `tally/${1 | 2 | 3 | 4}`
  | 'lh'
  | 'txt'
  | 'rh'
  | 'right/lh'
  | 'right/txt'
  | 'right/rh';

const tallyParts = ['tally/1', 'tally/2', 'tally/3', 'tally/4'] as const;
const leftLamps = ['lh', 'txt', 'rh'] as const;
const rightLamps = ['right/lh', 'right/txt', 'right/rh'] as const;

/** The parts of a display in each protocol version. Version 4 has two displays at each address, left and right. */
export const partsOfVersion: Readonly<Record<Version, readonly Part[]>> = {
  3.1: ['text', ...tallyParts, 'brightness'],
  4: ['text', ...tallyParts, ...leftLamps, ...rightLamps, 'brightness'],
  5: ['text', ...leftLamps, 'brightness'],
};

export const colours = ['off', 'red', 'green', 'amber'] as const;
export const fullBrightness = 3;

/** A display in a packet. Parts that the packet does not contain are missing from `values`. */
export interface Display {
  /** The screen number; 0 in versions 3.1 and 4. */
  readonly screen: number;
  readonly index: number;
  readonly values: Readonly<Partial<Record<Part, Value>>>;
}

export interface Packet {
  readonly version: Version;
  readonly displays: readonly Display[];
}

/** In version 5, the screen number that stands for all screens and the index that stands for all displays on a screen. */
export const everywhere = 0xffff;
/** The highest index that a display can have in each protocol version. */
export const highestIndex: Readonly<Record<Version, number>> = { 3.1: 126, 4: 126, 5: everywhere };
/** The maximum size of a version 5 packet, in bytes, as specified by the protocol. */
export const maxPacketBytes = 2048;
/** The maximum length of a display's text, in UTF-16 code units. */
export const maxTextLength = 512;

const baseBytes = 18;
const textBytes = 16;
const v5HeaderBytes = 6;
const utf16Flag = 1;
const screenControlFlag = 2;
const displayControlFlag = 0x8000;

// Decoding

/** Decodes a packet of any version. If the bytes are not a valid packet, returns the reason as a sentence. */
export function decodePacket(bytes: Buffer): Packet | string {
  if (bytes.length >= v5HeaderBytes && bytes.readUInt16LE() === bytes.length - 2) return decode5(bytes);
  if (bytes.length >= baseBytes && bytes[0]! >= 0x80) return decodeBase(bytes);
  return 'expected a packet of TSL UMD 3.1, 4 or 5';
}

function decodeBase(bytes: Buffer): Packet | string {
  const control = bytes[1]!;
  if (control >= 0x80) return 'expected a control byte below 128';
  const values: Partial<Record<Part, Value>> = { text: readText(bytes.toString('latin1', 2, baseBytes)) };
  for (const [index, part] of tallyParts.entries()) values[part] = (control & (1 << index)) !== 0;
  values.brightness = (control >> 4) & 3;
  const display: Display = { screen: 0, index: bytes[0]! - 0x80, values };
  if (bytes.length === baseBytes) return { version: 3.1, displays: [display] };
  if ((control & 0x40) !== 0) return 'expected display data, got control data, which TSL UMD 4 does not define';
  const extraBytes = bytes.length < baseBytes + 2 ? -1 : bytes[baseBytes + 1]! & 0x0f;
  if (bytes.length !== baseBytes + 2 + extraBytes)
    return 'expected the number of bytes that byte 20 of a TSL UMD 4 packet states';
  if (bytes[baseBytes] !== checksum(bytes)) return 'expected a correct checksum in byte 19 of a TSL UMD 4 packet';
  for (const [index, parts] of [leftLamps, rightLamps].entries())
    if (index < extraBytes) readLamps(bytes[baseBytes + 2 + index]!, parts, values);
  return { version: 4, displays: [display] };
}

function decode5(bytes: Buffer): Packet | string {
  const flags = bytes[3]!;
  if ((flags & screenControlFlag) !== 0)
    return 'expected displays, got screen control data, which TSL UMD 5 does not define';
  const screen = bytes.readUInt16LE(4);
  const displays: Display[] = [];
  for (let at = v5HeaderBytes; at < bytes.length; ) {
    if (bytes.length - at < 6) return 'expected complete displays in a TSL UMD 5 packet';
    const control = bytes.readUInt16LE(at + 2);
    if ((control & displayControlFlag) !== 0)
      return 'expected displays, got control data, which TSL UMD 5 does not define';
    const length = bytes.readUInt16LE(at + 4);
    const end = at + 6 + length;
    if (end > bytes.length) return 'expected complete texts in a TSL UMD 5 packet';
    const encoded = bytes.subarray(at + 6, end);
    const text = (flags & utf16Flag) === 0 ? narrowText(encoded) : encoded.toString('utf16le');
    const values: Partial<Record<Part, Value>> = { text: readText(text), brightness: (control >> 6) & 3 };
    readLamps(control, leftLamps, values);
    displays.push({ screen, index: bytes.readUInt16LE(at), values });
    at = end;
  }
  return { version: 5, displays };
}

/** Returns the values of the lamps in bits 4 and 5, 2 and 3, and 0 and 1. */
function readLamps(bits: number, parts: readonly Part[], values: Partial<Record<Part, Value>>): void {
  for (const [index, part] of parts.entries()) values[part] = (bits >> (4 - 2 * index)) & 3;
}

/** Decodes text that should be ASCII. Many senders use UTF-8 instead. If the bytes are not valid UTF-8, they are decoded as Latin-1. */
function narrowText(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.includes('\ufffd') ? bytes.toString('latin1') : text;
}

function readText(padded: string): string {
  return padded
    .toWellFormed()
    .replace(/\p{Cc}/gu, '')
    .trimEnd()
    .slice(0, maxTextLength);
}

/** Returns the checksum of a version 4 packet: the two's complement of the sum of the first 18 bytes, modulo 128. */
function checksum(bytes: Buffer): number {
  let sum = 0;
  for (let at = 0; at < baseBytes; at++) sum += bytes[at]!;
  return -sum & 0x7f;
}

// Encoding

/**
 * Encodes the first displays in the list into one packet: at least one display, and as many as fit. Returns the packet and the number of
 * displays in it. A lamp without a value is off, and a missing brightness counts as full.
 */
export function encodePacket(version: Version, displays: readonly Display[]): { bytes: Buffer; count: number } {
  return version === 5 ? encode5(displays) : { bytes: encodeBase(version, displays[0]!), count: 1 };
}

function encodeBase(version: Version, { index, values }: Display): Buffer {
  const bytes = Buffer.alloc(version === 4 ? baseBytes + 4 : baseBytes);
  let control = brightnessOf(values) << 4;
  for (const [bit, part] of tallyParts.entries()) if (values[part] === true) control |= 1 << bit;
  bytes[0] = 0x80 + index;
  bytes[1] = control;
  bytes.write(asciiText(values.text).slice(0, textBytes).padEnd(textBytes), 2, 'latin1');
  if (version === 4) {
    bytes[baseBytes] = checksum(bytes);
    bytes[baseBytes + 1] = 2;
    bytes[baseBytes + 2] = lampBits(values, leftLamps);
    bytes[baseBytes + 3] = lampBits(values, rightLamps);
  }
  return bytes;
}

function encode5(displays: readonly Display[]): { bytes: Buffer; count: number } {
  const { screen } = displays[0]!;
  const isWide = !isAscii(displays[0]!.values.text);
  const parts: Buffer[] = [];
  let length = v5HeaderBytes;
  for (const { screen: itsScreen, index, values } of displays) {
    if (itsScreen !== screen || isWide === isAscii(values.text)) break;
    const text = Buffer.from(String(values.text ?? ''), isWide ? 'utf16le' : 'latin1');
    if (length + 6 + text.length > maxPacketBytes) break;
    const head = Buffer.alloc(6);
    head.writeUInt16LE(index);
    head.writeUInt16LE(lampBits(values, leftLamps) | (brightnessOf(values) << 6), 2);
    head.writeUInt16LE(text.length, 4);
    parts.push(head, text);
    length += 6 + text.length;
  }
  const header = Buffer.alloc(v5HeaderBytes);
  header.writeUInt16LE(length - 2);
  header[3] = isWide ? utf16Flag : 0;
  header.writeUInt16LE(screen, 4);
  return { bytes: Buffer.concat([header, ...parts], length), count: parts.length / 2 };
}

function brightnessOf({ brightness = fullBrightness }: Display['values']): number {
  return Number(brightness) & 3;
}

function lampBits(values: Display['values'], parts: readonly Part[]): number {
  return parts.reduce((bits, part) => (bits << 2) | (Number(values[part] ?? 0) & 3), 0);
}

function isAscii(text: Value | undefined): boolean {
  return /^[\0-\x7f]*$/.test(String(text ?? ''));
}

/** Converts text for displays that show only ASCII: removes accents, and replaces every other character with a question mark. */
function asciiText(text: Value | undefined): string {
  return String(text ?? '')
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^ -~]/gu, '?');
}

// Framing over TCP

const dle = 0xfe;
const stx = 0x02;

/**
 * A framer for version 5 packets that are preceded by DLE STX and in which each DLE is doubled. The first two bytes of a packet contain its
 * length.
 */
class DleFramer implements Framer {
  readonly #refuse: Refuse;
  readonly #packet = Buffer.alloc(maxPacketBytes);
  #length = 0;
  #isInPacket = false;
  #isEscaped = false;

  constructor(refuse: Refuse) {
    this.#refuse = refuse;
  }

  push(bytes: Buffer): Buffer[] {
    const packets: Buffer[] = [];
    let outside = 0;
    for (const byte of bytes) {
      if (this.#isEscaped) {
        this.#isEscaped = false;
        if (byte === stx) this.#start();
        else if (byte === dle && this.#isInPacket) this.#add(dle, packets);
        else if (this.#isInPacket) this.#fail('expected DLE or STX after DLE');
        else outside++;
      } else if (byte === dle) this.#isEscaped = true;
      else if (this.#isInPacket) this.#add(byte, packets);
      else outside++;
    }
    if (outside > 0) this.#refuse(bytes, 'expected DLE and STX before a packet');
    return packets;
  }

  #start(): void {
    if (this.#isInPacket) this.#fail('expected the end of a packet before the next one');
    this.#isInPacket = true;
    this.#length = 0;
  }

  #add(byte: number, packets: Buffer[]): void {
    this.#packet[this.#length++] = byte;
    if (this.#length < 2) return;
    const whole = 2 + this.#packet.readUInt16LE();
    if (whole > maxPacketBytes) this.#fail(`expected a packet of at most ${maxPacketBytes} bytes`);
    else if (this.#length === whole) {
      packets.push(Buffer.from(this.#packet.subarray(0, whole)));
      this.#isInPacket = false;
    }
  }

  #fail(reason: string): void {
    this.#isInPacket = false;
    this.#refuse(Buffer.from(this.#packet.subarray(0, this.#length)), reason);
  }
}

/**
 * A framer for version 5 packets that follow each other directly. If a length is too large, the stream has lost synchronization. Errors:
 * `Error`.
 */
class LengthFramer implements Framer {
  #unread: Buffer = Buffer.alloc(0);

  push(bytes: Buffer): Buffer[] {
    this.#unread = Buffer.concat([this.#unread, bytes]);
    const packets: Buffer[] = [];
    let at = 0;
    while (this.#unread.length - at >= 2) {
      const whole = 2 + this.#unread.readUInt16LE(at);
      if (whole > maxPacketBytes) throw new Error(`expected a packet of at most ${maxPacketBytes} bytes, got ${whole}`);
      if (this.#unread.length - at < whole) break;
      packets.push(this.#unread.subarray(at, at + whole));
      at += whole;
    }
    this.#unread = Buffer.from(this.#unread.subarray(at));
    return packets;
  }
}

/** A framer for packets of version 3.1 or 4, in which only the first byte has its highest bit set. */
class HeaderFramer implements Framer {
  readonly #refuse: Refuse;
  readonly #version: Version;
  readonly #packet = Buffer.alloc(baseBytes + 2 + 0x0f);
  #length = 0;

  constructor(version: Version, refuse: Refuse) {
    this.#version = version;
    this.#refuse = refuse;
  }

  push(bytes: Buffer): Buffer[] {
    const packets: Buffer[] = [];
    let outside = 0;
    for (const byte of bytes) {
      if (byte >= 0x80) {
        if (this.#length > 0)
          this.#refuse(Buffer.from(this.#packet.subarray(0, this.#length)), 'expected a complete packet');
        this.#length = 0;
      } else if (this.#length === 0) {
        outside++;
        continue;
      }
      this.#packet[this.#length++] = byte;
      if (this.#length < this.#wholeBytes()) continue;
      packets.push(Buffer.from(this.#packet.subarray(0, this.#length)));
      this.#length = 0;
    }
    if (outside > 0) this.#refuse(bytes, 'expected a packet that begins with the address of a display plus 128');
    return packets;
  }

  #wholeBytes(): number {
    if (this.#version === 3.1) return baseBytes;
    return this.#length < baseBytes + 2 ? baseBytes + 2 : baseBytes + 2 + (this.#packet[baseBytes + 1]! & 0x0f);
  }
}

function wrapDle(packet: Uint8Array): Buffer {
  const bytes = [dle, stx];
  for (const byte of packet) byte === dle ? bytes.push(dle, dle) : bytes.push(byte);
  return Buffer.from(bytes);
}

/** Returns the TCP framing for a protocol version; `framing` matters only for version 5. */
export function framingOf(version: Version, framing: 'dle' | 'length'): Framing {
  if (version !== 5) return { createFramer: (refuse) => new HeaderFramer(version, refuse), wrap: (packet) => packet };
  if (framing === 'dle') return { createFramer: (refuse) => new DleFramer(refuse), wrap: wrapDle };
  return { createFramer: () => new LengthFramer(), wrap: (packet) => packet };
}

/** Returns the packet in a UDP datagram. Some senders use the TCP framing for version 5 packets over UDP as well. */
export function unwrapDatagram(bytes: Buffer): Buffer {
  if (bytes[0] !== dle || bytes[1] !== stx || bytes.readUInt16LE() === bytes.length - 2) return bytes;
  return new DleFramer(() => {}).push(bytes)[0] ?? bytes;
}

// Packets as text

/** Returns a packet as text: `1 "CAM 1" lh=red brightness=3 ; 2 "CAM 2" brightness=3`. Invalid packets are shown as hexadecimal digits. */
export function showPacket(frame: Uint8Array): string {
  const bytes = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength);
  const packet = decodePacket(bytes);
  return typeof packet === 'string' ? bytes.toString('hex') : packet.displays.map(showDisplay).join(' ; ');
}

function showDisplay({ screen, index, values }: Display): string {
  const words = [screen === 0 ? `${index}` : `${screen}/${index}`, JSON.stringify(values.text)];
  const on = tallyParts.flatMap((part, place) => (values[part] === true ? [place + 1] : []));
  if (on.length > 0) words.push(`tally=${on}`);
  for (const part of [...leftLamps, ...rightLamps])
    if (Number(values[part] ?? 0) > 0) words.push(`${part}=${colours[Number(values[part])]}`);
  return [...words, `brightness=${values.brightness}`].join(' ');
}

const wordPattern = /"(?:[^"\\]|\\.)*"|\S+/g;

/** Parses displays in the format that `showPacket` produces. Errors: `Error` with a readable message. */
export function readDisplays(text: string): readonly Display[] {
  return text.split(/ +; +/).map((display) => {
    const [place = '', ...words] = display.match(wordPattern) ?? [];
    const [, screen = '0', index = ''] = /^(?:(\d{1,5})\/)?(\d{1,5})$/.exec(place) ?? [];
    if (index === '')
      throw new Error(`expected a display such as 1 "CAM 1" lh=red brightness=3, got ${describe(text)}`);
    const values: Partial<Record<Part, Value>> = { text: '' };
    for (const word of words) readWord(word, values);
    return { screen: Number(screen), index: Number(index), values };
  });
}

function readWord(word: string, values: Partial<Record<Part, Value>>): void {
  if (word.startsWith('"')) {
    values.text = JSON.parse(word) as string;
    return;
  }
  const [name = '', value = ''] = word.split('=');
  const colour = (colours as readonly string[]).indexOf(value);
  if (name === 'brightness' && /^[0-3]$/.test(value)) values.brightness = Number(value);
  else if (name === 'tally' && /^[1-4](?:,[1-4])*$/.test(value))
    for (const number of value.split(',')) values[`tally/${Number(number) as 1}`] = true;
  else if (colour >= 0 && [...leftLamps, ...rightLamps].some((part) => part === name)) values[name as Part] = colour;
  else throw new Error(`expected text in quotes, tally=1,2, lh=red or brightness=3, got ${describe(word)}`);
}
