// The link to a broker as a stream for the MQTT client. Received data is handled in small parts, so that a flood of messages does not delay
// the rest of the hub. The length of a packet and the number of unread bytes are limited. Plain messages, which make up most of a flood,
// bypass the client but never overtake a packet that the client has not handled yet.

import { Duplex } from 'node:stream';
import type { DeviceLink } from '../../device/link.ts';
import { maxPacketBytes, type Published, packetLength, readPublish } from './publish-packet.ts';

/** The number of unread bytes above which reading from the link is paused. */
export const maxUnreadBytes = 262_144;
/** The maximum number of received bytes and the maximum number of packets that are handled in one round of the event loop. */
export const readPerRoundBytes = 2048;
export const readPerRound = 32;

/** The callbacks through which the stream reports events. */
export interface LinkStreamEvents {
  /** Reports a message that bypasses the client. */
  published(message: Published): void;
  fail(reason: string): void;
}

/** A stream that passes received bytes to the MQTT client in small parts, one part per round of the event loop. */
export class LinkStream extends Duplex {
  readonly #link: Pick<DeviceLink, 'send' | 'pause'>;
  readonly #version: 4 | 5;
  readonly #events: LinkStreamEvents;
  #unread: Buffer[] = [];
  /** The offset of the first unread byte in the first unread part. */
  #at = 0;
  #unreadBytes = 0;
  #isPaused = false;
  #isReading = false;
  /** The number of bytes of the current packet that have not been passed to the client yet. */
  #restBytes = 0;
  /** The number of packets that have been passed to the client but not handled yet. */
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

  /** Must be called when the client has handled a packet. */
  taken(): void {
    this.#untaken--;
  }

  override _read(): void {}

  /**
   * Ignores chunks that are not bytes. The client may write such a chunk in response to a malformed packet, and the resulting error would
   * end the hub.
   */
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
      if (hasMore || this.#unreadBytes > leftBytes) this.#pass(); // more bytes may have arrived in the meantime
    });
  }

  /** Passes on packets up to the limits for one round. Returns false if the unread data contains no complete packet header. */
  #passRound(): boolean {
    let left = readPerRoundBytes;
    for (let packets = 0; packets < readPerRound && left > 0 && !this.destroyed; packets++) {
      if (this.#restBytes === 0 && !this.#joinHead()) return false;
      const part = this.#unread[0];
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

  /** Joins the parts that contain the next packet header. Returns false if the header is incomplete. */
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
