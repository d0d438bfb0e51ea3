// A client with valid credentials that connects again and again while a hub is under attack, each time over new connections: by password
// from an address of its own, by token, and by WebSocket. It measures how long each takes.

import { connect } from 'node:net';
import { openWebSocket } from './web-socket.ts';

export interface Credentials {
  readonly user: string;
  readonly password: string;
  readonly token: string;
}

export interface Entrances {
  readonly count: number;
  readonly longestMs: number;
  /** What went wrong first; undefined: nothing did. */
  readonly mistake: string | undefined;
}

const everyMs = 400;
const giveUpMs = 10_000;
/** From where passwords come: others guess from the address where the tokens come from. */
const ownAddress = '127.0.0.9';

export class HandshakeRequest {
  readonly #port: number;
  readonly #ways: readonly (() => Promise<void>)[];
  #count = 0;
  #longestMs = 0;
  #mistake: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(port: number, { user, password, token }: Credentials) {
    this.#port = port;
    const basic = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    const bearer = `Bearer ${token}`;
    this.#ways = [() => this.#ask(basic, ownAddress), () => this.#ask(bearer), () => this.#openSocket(bearer)];
  }

  start(): void {
    this.#timer = setInterval(() => {
      for (const way of this.#ways) void this.#come(way);
    }, everyMs);
  }

  stop(): Entrances {
    clearInterval(this.#timer);
    return { count: this.#count, longestMs: this.#longestMs, mistake: this.#mistake };
  }

  async #come(way: () => Promise<void>): Promise<void> {
    const startMs = performance.now();
    try {
      await way();
      this.#count++;
    } catch (error) {
      this.#mistake ??= (error as Error).message;
    }
    this.#longestMs = Math.max(this.#longestMs, performance.now() - startMs);
  }

  #ask(authorization: string, localAddress?: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port: this.#port, ...(localAddress && { localAddress }) });
      socket.setTimeout(giveUpMs, () => socket.destroy(new Error(`expected an answer within ${giveUpMs} ms`)));
      socket.on('error', reject);
      socket.on('close', () => reject(new Error('expected an answer, the connection was closed')));
      socket.on('data', (bytes) => {
        socket.destroy();
        const [line = ''] = bytes.toString('latin1').split('\r\n', 1);
        if (line === 'HTTP/1.1 200 OK') resolve();
        else reject(new Error(`expected 200 for the right credentials, got ${line}`));
      });
      socket.write(`GET /hub/me HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n\r\n`);
    });
  }

  async #openSocket(authorization: string): Promise<void> {
    const handlers = { onBytes: () => {}, onClose: () => {} };
    const socket = await openWebSocket(this.#port, '/ws?filter=none', handlers, undefined, {
      headers: { authorization },
    });
    socket.destroy();
  }
}
