// A socket that the client library opened, whose other side, the hub, a spec plays.

import type { SocketLike } from '../../../../lib/client/link/platform.ts';

export class HubSocket implements SocketLike {
  protocol = '';
  bufferedAmount = 0;
  onopen: ((event: never) => void) | null = null;
  onmessage: ((event: never) => void) | null = null;
  onclose: ((event: never) => void) | null = null;
  onerror: ((event: never) => void) | null = null;
  /** When the client opened it, and whether it has let go of it. */
  readonly openedAt: number;
  isClosed = false;
  readonly url: string;
  #sent: unknown[] = [];

  constructor(openedAt: number, url: string) {
    this.openedAt = openedAt;
    this.url = url;
  }

  send(text: string): void {
    this.#sent.push(JSON.parse(text));
  }

  close(): void {
    this.isClosed = true;
  }

  /** Accepts the socket and says hello; `patterns`: how many the hub takes of a subscription. */
  accept(epoch = 'e1', protocol = 'patchbay.v1', patterns = 2048): this {
    this.protocol = protocol;
    this.onopen?.({} as never);
    return this.says({ hello: { epoch, limits: { patterns } } });
  }

  says(...messages: readonly object[]): this {
    for (const message of messages) this.onmessage?.({ data: JSON.stringify(message) } as never);
    return this;
  }

  /** Ends the socket, as the network or the hub does. */
  ends(code = 1006, reason = ''): void {
    this.onclose?.({ code, reason } as never);
  }

  /** Takes what the client has sent. */
  heard(): unknown[] {
    return this.#sent.splice(0);
  }
}
