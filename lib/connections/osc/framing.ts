// The framing of OSC packets over TCP: SLIP as in OSC 1.1, or a length before each packet as in OSC 1.0.

import type { Framer, Framing, Refuse } from '../../device/ports.ts';
import { maxPacketBytes } from './packet.ts';
import type { OscSettings } from './settings.ts';

/** Returns the TCP framing for the setting `framing`. */
export function framingOf(name: OscSettings['framing']): Framing {
  return name === 'slip'
    ? { createFramer: (refuse) => new SlipFramer(refuse), wrap: wrapSlip }
    : { createFramer: (refuse) => new LengthFramer(refuse), wrap: wrapLength };
}

const end = 0xc0;
const escapeByte = 0xdb;
const escapedEnd = 0xdc;
const escapedEscape = 0xdd;

/**
 * A framer for SLIP (RFC 1055), with an END before and after each packet. A packet that is too long is dropped, and the framer continues
 * with the next packet.
 */
class SlipFramer implements Framer {
  readonly #refuse: Refuse;
  #packet = Buffer.allocUnsafe(256);
  #length = 0;
  #isEscaped = false;
  #fault: string | undefined;

  constructor(refuse: Refuse) {
    this.#refuse = refuse;
  }

  push(bytes: Buffer): Buffer[] {
    const packets: Buffer[] = [];
    for (let place = 0; place < bytes.length; place++) {
      const byte = bytes[place]!;
      if (byte === end) this.#end(packets);
      else if (this.#isEscaped) {
        this.#isEscaped = false;
        if (byte === escapedEnd) this.#add(end);
        else if (byte === escapedEscape) this.#add(escapeByte);
        else this.#fault = 'expected an escaped SLIP END or ESC';
      } else if (byte === escapeByte) this.#isEscaped = true;
      else this.#add(byte);
    }
    return packets;
  }

  #add(byte: number): void {
    if (this.#length >= maxPacketBytes) {
      this.#fault = `expected a packet of at most ${maxPacketBytes} bytes`;
      return;
    }
    if (this.#length === this.#packet.length) this.#packet = Buffer.concat([this.#packet], this.#length * 2);
    this.#packet[this.#length++] = byte;
  }

  #end(packets: Buffer[]): void {
    const fault = this.#isEscaped ? 'expected an escaped SLIP END or ESC' : this.#fault;
    const packet = Buffer.from(this.#packet.subarray(0, this.#length));
    if (fault !== undefined) this.#refuse(packet, fault);
    else if (packet.length > 0) packets.push(packet);
    if (this.#packet.length > 4096) this.#packet = Buffer.allocUnsafe(256);
    this.#length = 0;
    this.#isEscaped = false;
    this.#fault = undefined;
  }
}

function wrapSlip(packet: Uint8Array): Buffer {
  const bytes = [end];
  for (const byte of packet) {
    if (byte === end) bytes.push(escapeByte, escapedEnd);
    else if (byte === escapeByte) bytes.push(escapeByte, escapedEscape);
    else bytes.push(byte);
  }
  bytes.push(end);
  return Buffer.from(bytes);
}

/**
 * A framer for packets that are preceded by their length in four bytes. If a length is too large, the stream has lost synchronization.
 * Errors: `Error`.
 */
class LengthFramer implements Framer {
  readonly #refuse: Refuse;
  #unread: Buffer = Buffer.alloc(0);
  /** The number of unread bytes required to decode the next length or packet. */
  #needed = 4;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;

  constructor(refuse: Refuse) {
    this.#refuse = refuse;
  }

  push(bytes: Buffer): Buffer[] {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#unread.length + this.#waitingBytes < this.#needed) return [];
    this.#unread = Buffer.concat([this.#unread, ...this.#waiting]);
    this.#waiting = [];
    this.#waitingBytes = 0;
    const packets: Buffer[] = [];
    let at = 0;
    for (;;) {
      this.#needed = 4;
      if (this.#unread.length - at < 4) break;
      const length = this.#unread.readUInt32BE(at);
      if (length > maxPacketBytes) {
        this.#refuse(this.#unread.subarray(at, at + 4), `expected a length of at most ${maxPacketBytes} bytes`);
        throw new Error(`expected packets of at most ${maxPacketBytes} bytes, got a packet of ${length} bytes`);
      }
      this.#needed = 4 + length;
      if (this.#unread.length - at < this.#needed) break;
      if (length > 0) packets.push(this.#unread.subarray(at + 4, at + 4 + length));
      at += 4 + length;
    }
    this.#unread = this.#unread.subarray(at);
    return packets;
  }
}

function wrapLength(packet: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(4 + packet.length);
  bytes.writeUInt32BE(packet.length);
  bytes.set(packet, 4);
  return bytes;
}
