// The link to a broker as a stream for the client of MQTT. It reads in slices, so that a flood of messages does not hold up the rest of the hub, and
// bounds what a broker sends: the length of a packet, and what waits to be read.

import { Duplex } from 'node:stream';
import type { DeviceLink } from '../../device/link.ts';

/** The longest packet that is read, in bytes. */
export const maxPacketBytes = 16 * 1_048_576;
/** How many received bytes wait to be read; then the link is paused. */
export const maxUnreadBytes = 262_144;
/** How many received bytes are handled in one round of the event loop. */
const readPerRoundBytes = 2048;

/** What is received is passed on in small parts, a part in each round of the event loop. */
export class LinkStream extends Duplex {
  readonly #link: DeviceLink;
  readonly #fail: (reason: string) => void;
  #unread: Uint8Array[] = [];
  #unreadBytes = 0;
  #isPaused = false;
  #isReading = false;
  /** What is left of the packet that is being received; and the bytes of its head so far. */
  #restBytes = 0;
  #head: number[] = [];
  isHeard = false;

  constructor(link: DeviceLink, fail: (reason: string) => void) {
    super({ autoDestroy: false });
    this.#link = link;
    this.#fail = fail;
  }

  receive(bytes: Uint8Array): void {
    this.isHeard = true;
    if (!this.#measure(bytes)) {
      this.#fail(`the broker sent a packet of more than ${maxPacketBytes} bytes`);
      return;
    }
    for (let from = 0; from < bytes.length; from += readPerRoundBytes)
      this.#unread.push(bytes.subarray(from, from + readPerRoundBytes));
    this.#unreadBytes += bytes.length;
    if (!this.#isPaused && this.#unreadBytes > maxUnreadBytes) this.#pause(true);
    this.#pass();
  }

  override _read(): void {}

  /** What the client answers to a malformed packet may be no bytes at all. Thrown there, the error would end the hub. */
  override write(chunk: unknown): boolean {
    try {
      return super.write(chunk);
    } catch {
      this.#fail('the broker sent a malformed packet');
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
    if (this.#isReading) return;
    this.#isReading = true;
    const next = this.#unread.shift();
    if (next === undefined || this.destroyed) {
      this.#isReading = false;
      return;
    }
    this.#unreadBytes -= next.length;
    if (this.#isPaused && this.#unreadBytes < maxUnreadBytes / 4) this.#pause(false);
    this.push(next);
    setImmediate(() => {
      this.#isReading = false;
      this.#pass();
    });
  }

  /** Follows the lengths of packets; false: one is too long. */
  #measure(bytes: Uint8Array): boolean {
    for (let at = 0; at < bytes.length; ) {
      if (this.#restBytes > 0) {
        const step = Math.min(this.#restBytes, bytes.length - at);
        this.#restBytes -= step;
        at += step;
        continue;
      }
      this.#head.push(bytes[at++]!);
      const last = this.#head.at(-1)!;
      if (this.#head.length === 1 || (last & 128) !== 0) {
        if (this.#head.length > 5) return false;
        continue;
      }
      this.#restBytes = this.#head.slice(1).reduce((sum, byte, place) => sum + (byte & 127) * 128 ** place, 0);
      this.#head = [];
      if (this.#restBytes > maxPacketBytes) return false;
    }
    return true;
  }
}
