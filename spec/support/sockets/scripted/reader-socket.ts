// The socket of a client of patchbay.v1, whose reader a spec plays: it reads when it is told to.

import type { Socket } from '../../../../lib/connections/rest-api/sockets/socket-protocol.ts';
import type { ReceivedMessage } from '../../../../lib/wire/v1/hub-messages.ts';

/** What the system takes of a client that does not read. */
const systemBytes = 2000;

export class ReaderSocket {
  isReading = true;
  /** What has been sent and not been taken by the reader yet. */
  #frames: string[] = [];
  #unread = 0;
  readonly #read: (message: ReceivedMessage) => void;

  constructor(read: (message: ReceivedMessage) => void) {
    this.#read = read;
  }

  /** This as the hub sees it. */
  get asSocket(): Socket {
    return this as unknown as Socket;
  }

  /** Whether something was sent that the reader has not taken. */
  get hasUnread(): boolean {
    return this.#frames.length > 0;
  }

  send(frame: string | Uint8Array): number {
    this.#frames.push(typeof frame === 'string' ? frame : Buffer.from(frame).toString());
    this.#unread += frame.length;
    return this.getBufferedAmount() === 0 ? 1 : 0;
  }

  cork(work: () => void): void {
    work();
  }

  getBufferedAmount(): number {
    return Math.max(0, this.#unread - systemBytes);
  }

  ping(): void {}

  end(): void {}

  /** Takes what was sent, if it reads. */
  drain(): void {
    if (!this.isReading) return;
    const frames = this.#frames;
    this.#frames = [];
    this.#unread = 0;
    for (const frame of frames) this.#read(JSON.parse(frame));
  }
}
