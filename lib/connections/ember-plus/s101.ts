// S101, the framing that Ember+ uses on a TCP stream. A frame begins with BOF, ends with a checksum and EOF, and escapes these bytes in its
// content. A long message is split into several frames. The hub represents a message as one byte for the command, followed by the Glow
// data.

import type { Framer, Framing, Refuse } from '../../device/ports.ts';

/** The maximum length of a message from a provider, in bytes. The directory of a large node can arrive in a single message. */
export const maxMessageBytes = 1_048_576;
/** The maximum length of a message from a consumer, in bytes. */
export const maxRequestBytes = 65_536;
/**
 * The maximum length of a received frame without its escape bytes, in bytes. The protocol allows 1,290 bytes, but some devices send longer
 * frames.
 */
export const maxFrameBytes = 65_536;

/** The possible values of the first byte of a message. */
export const command = { glow: 0, keepAlive: 1, keepAliveAnswer: 2 } as const;

const [bof, eof, escaping, escaped] = [0xfe, 0xff, 0xfd, 0xf8];
const [slot, ember, version, glowDtd] = [0x00, 0x0e, 0x01, 0x01];
const [minor, major] = [0x1f, 0x02];
const flags = { first: 0x80, last: 0x40, empty: 0x20 } as const;
/** The maximum number of data bytes in a frame that the hub sends. */
const sentBytes = 1024;

const crcTable = Uint16Array.from({ length: 256 }, (_, index) => {
  let crc = index;
  for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 0 ? crc >> 1 : (crc >> 1) ^ 0x8408;
  return crc;
});

/** The CRC result over the content of an intact frame, including the frame's own checksum. */
const rightCrc = 0xf0b8;

function crcOf(bytes: Uint8Array, length: number): number {
  let crc = 0xffff;
  for (let at = 0; at < length; at++) crc = (crc >> 8) ^ crcTable[(crc ^ bytes[at]!) & 0xff]!;
  return crc;
}

/** Returns the S101 framing for messages of up to `mostBytes` bytes. Invalid bytes are reported and do not affect the next message. */
export function s101Framing(mostBytes: number): Framing {
  return { createFramer: (refuse) => new S101Framer(mostBytes, refuse), wrap: encodeMessage };
}

class S101Framer implements Framer {
  readonly #mostBytes: number;
  readonly #refuse: Refuse;
  #frame = Buffer.allocUnsafe(2048);
  #length = 0;
  #isInside = false;
  #isEscaped = false;
  #isTooLong = false;
  /** The part of the message received so far; undefined between messages. */
  #message: Buffer | undefined;
  #messageBytes = 0;

  constructor(mostBytes: number, refuse: Refuse) {
    this.#mostBytes = mostBytes;
    this.#refuse = refuse;
  }

  push(bytes: Buffer): Buffer[] {
    const messages: Buffer[] = [];
    let strayBytes = 0;
    for (const byte of bytes) {
      if (byte === bof) {
        if (this.#isInside && this.#length > 0) this.#fault('expected the end of a frame before the next one');
        this.#begin();
      } else if (!this.#isInside) strayBytes++;
      else if (byte === eof) {
        const message = this.#end();
        if (message !== undefined) messages.push(message);
      } else if (byte === escaping) this.#isEscaped = true;
      else if (byte >= escaped) this.#drop('expected the bytes F8 to FF to be escaped');
      else this.#add(byte);
    }
    if (strayBytes > 0) this.#refuse(bytes.subarray(0, 64), 'expected a frame, which begins with FE');
    return messages;
  }

  #begin(): void {
    this.#isInside = true;
    this.#isEscaped = this.#isTooLong = false;
    this.#length = 0;
  }

  #add(byte: number): void {
    if (this.#length >= maxFrameBytes) {
      this.#isTooLong = true;
      return;
    }
    if (this.#length === this.#frame.length)
      this.#frame = Buffer.concat([this.#frame, Buffer.allocUnsafe(this.#frame.length)]);
    this.#frame[this.#length++] = this.#isEscaped ? byte ^ 0x20 : byte;
    this.#isEscaped = false;
  }

  #end(): Buffer | undefined {
    this.#isInside = false;
    const frame = this.#frame.subarray(0, this.#length);
    if (this.#isTooLong) return this.#fault(`expected a frame of at most ${maxFrameBytes} bytes`);
    if (frame.length < 5 || crcOf(frame, frame.length) !== rightCrc)
      return this.#fault('expected a frame with a correct checksum');
    if (frame[0] !== slot || frame[1] !== ember) return this.#fault('expected an Ember+ frame');
    if (frame[2] === command.keepAlive || frame[2] === command.keepAliveAnswer) return Buffer.of(frame[2]);
    if (frame[2] !== command.glow) return this.#fault('expected data or a keep-alive');
    if (frame.length < 9 || frame.length < 9 + frame[6]!) return this.#fault('expected a complete frame header');
    if (frame[5] !== glowDtd) return this.#fault('expected Glow data');
    return this.#join(frame[4]!, frame.subarray(7 + frame[6]!, -2));
  }

  #join(flag: number, data: Buffer): Buffer | undefined {
    if ((flag & flags.empty) !== 0 && data.length === 0) return undefined;
    if ((flag & flags.first) !== 0) {
      if (this.#message !== undefined) this.#fault('expected the rest of a message before the next one');
      this.#message = Buffer.allocUnsafe(data.length + 1);
      this.#message[0] = command.glow;
      this.#messageBytes = 1;
    } else if (this.#message === undefined) return this.#fault('expected the first frame of a message');
    const bytes = this.#messageBytes + data.length;
    if (bytes > this.#mostBytes) return this.#fault(`expected a message of at most ${this.#mostBytes} bytes`);
    if (bytes > this.#message.length)
      this.#message = Buffer.concat([this.#message, Buffer.allocUnsafe(Math.max(bytes, this.#message.length))]);
    data.copy(this.#message, this.#messageBytes);
    this.#messageBytes = bytes;
    if ((flag & flags.last) === 0) return undefined;
    const message = this.#message.subarray(0, bytes);
    this.#message = undefined;
    return message;
  }

  #drop(reason: string): void {
    this.#isInside = false;
    this.#fault(reason);
  }

  /** Reports a refused frame and discards the message that the frame belongs to. */
  #fault(reason: string): undefined {
    this.#refuse(Buffer.from(this.#frame.subarray(0, Math.min(this.#length, 4096))), reason);
    this.#message = undefined;
    return undefined;
  }
}

/** Encodes a message as one or more S101 frames. */
export function encodeMessage(message: Uint8Array): Uint8Array {
  const frames: Buffer[] = [];
  if (message[0] !== command.glow) frames.push(encodeFrame(Buffer.of(slot, ember, message[0]!, version)));
  else
    for (let at = 1; at < message.length; at += sentBytes) {
      const end = Math.min(at + sentBytes, message.length);
      const flag = (at === 1 ? flags.first : 0) | (end === message.length ? flags.last : 0);
      const head = Buffer.of(slot, ember, command.glow, version, flag, glowDtd, 2, minor, major);
      frames.push(encodeFrame(Buffer.concat([head, message.subarray(at, end)])));
    }
  return frames.length === 1 ? frames[0]! : Buffer.concat(frames);
}

function encodeFrame(content: Buffer): Buffer {
  const crc = ~crcOf(content, content.length) & 0xffff;
  const bytes = Buffer.allocUnsafe(2 * content.length + 6);
  let at = 0;
  bytes[at++] = bof;
  const add = (byte: number) => {
    if (byte >= escaped) {
      bytes[at++] = escaping;
      bytes[at++] = byte ^ 0x20;
    } else bytes[at++] = byte;
  };
  for (const byte of content) add(byte);
  add(crc & 0xff);
  add(crc >> 8);
  bytes[at++] = eof;
  return bytes.subarray(0, at);
}
