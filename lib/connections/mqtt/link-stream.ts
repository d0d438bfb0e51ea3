// The link to a broker as a stream for the client of MQTT. It reads in slices, so that a flood of messages does not hold up the rest of the hub, and
// bounds what a broker sends: the length of a packet, and what waits to be read. Plain messages, which are nearly all of a flood, bypass
// the client; they never overtake a packet that the client has not handled yet.

import { Duplex } from 'node:stream';
import type { DeviceLink } from '../../device/link.ts';
import { type Published, packetLength, readPublish } from './publish-packet.ts';

/** The longest packet that the hub reads, in bytes. */
export const maxPacketBytes = 16 * 1_048_576;
/** The maximum number of received bytes that wait to be read. Beyond that, the link pauses. */
export const maxUnreadBytes = 262_144;
/** How many received bytes, and packets, are handled in one round of the event loop. */
export const readPerRoundBytes = 2048;
export const readPerRound = 32;

/** The reports of the stream. */
export interface LinkStreamEvents {
  /** A message came that the client need not see. */
  published(message: Published): void;
  fail(reason: string): void;
}

/** Passes received bytes to the MQTT client in small parts, one in each round of the event loop. */
export class LinkStream extends Duplex {
  readonly #link: Pick<DeviceLink, 'send' | 'pause'>;
  readonly #version: 4 | 5;
  readonly #events: LinkStreamEvents;
  #unread: Buffer[] = [];
  /** How much of the first part is read. */
  #at = 0;
  #unreadBytes = 0;
  #isPaused = false;
  #isReading = false;
  /** What is left of the packet that the client is receiving. */
  #restBytes = 0;
  /** How many packets the client has not handled yet. */
  #untaken = 0;
  isHeard = false;

  constructor(link: Pick<DeviceLink, 'send' | 'pause'>, version: 4 | 5, events: LinkStreamEvents) {
    super({ autoDestroy: false });
    this.#link = link;
    this.#version = version;
    this.#events = events;
  }

  receive(bytes: Uint8Array): void {
    this.isHeard = true;
    this.#unread.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
    this.#unreadBytes += bytes.length;
    if (!this.#isPaused && this.#unreadBytes > maxUnreadBytes) this.#pause(true);
    this.#pass();
  }

  /** The client handles a packet. */
  taken(): void {
    this.#untaken--;
  }

  override _read(): void {}

  /** Ignores chunks that are not bytes: the client may answer a malformed packet with one, and the error that follows would end the hub. */
  override write(chunk: unknown): boolean {
    try {
      return super.write(chunk);
    } catch {
      this.#events.fail('the broker sent a malformed packet');
      return false;
    }
  }

  override _write(bytes: Buffer, _: BufferEncoding, done: () => void): void {
    this.#link.send(bytes);
    done();
  }

  override _writev(parts: { readonly chunk: Buffer }[], done: () => void): void {
    this.#link.send(Buffer.concat(parts.map(({ chunk }) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk))));
    done();
  }

  override _final(done: () => void): void {
    done();
  }

  #pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.#link.pause(isPaused);
  }

  #pass(): void {
    if (this.#isReading || this.destroyed || this.#unread.length === 0) return;
    this.#isReading = true;
    const hasMore = this.#passRound();
    if (this.#isPaused && this.#unreadBytes < maxUnreadBytes / 4) this.#pause(false);
    const leftBytes = this.#unreadBytes;
    setImmediate(() => {
      this.#isReading = false;
      if (hasMore || this.#unreadBytes > leftBytes) this.#pass(); // more may have come meanwhile
    });
  }

  /** Passes on the packets of a round; false: what is left, if anything, is a part of a head. */
  #passRound(): boolean {
    let left = readPerRoundBytes;
    for (let packets = 0; packets < readPerRound && left > 0 && !this.destroyed; packets++) {
      if (this.#restBytes === 0 && !this.#joinHead()) return false;
      const [part] = this.#unread;
      if (part === undefined) return false;
      const available = part.length - this.#at;
      if (this.#restBytes === 0) {
        const length = packetLength(part, this.#at)!;
        if (Number.isNaN(length) || length > maxPacketBytes) {
          this.#events.fail(`the broker sent a packet of more than ${maxPacketBytes} bytes`);
          return false;
        }
        const plain = length > available ? undefined : readPublish(part, this.#at, this.#at + length, this.#version);
        if (plain !== undefined) {
          if (this.#untaken > 0) return true;
          left -= length;
          this.#skip(length);
          this.#events.published(plain);
          continue;
        }
        this.#restBytes = length;
        this.#untaken++;
      }
      const step = Math.min(this.#restBytes, available, left);
      const passed = part.subarray(this.#at, this.#at + step);
      left -= step;
      this.#restBytes -= step;
      this.#skip(step);
      this.push(passed);
    }
    return true;
  }

  /** Completes the head of the next packet; false: it has not come yet. */
  #joinHead(): boolean {
    for (;;) {
      const first = this.#unread[0];
      if (first === undefined) return false;
      if (packetLength(first, this.#at) !== undefined) return true;
      if (this.#unread.length === 1) return false;
      this.#unread.splice(0, 2, Buffer.concat([first.subarray(this.#at), this.#unread[1]!]));
      this.#at = 0;
    }
  }

  #skip(length: number): void {
    this.#at += length;
    this.#unreadBytes -= length;
    if (this.#at < this.#unread[0]!.length) return;
    this.#unread.shift();
    this.#at = 0;
  }
}
