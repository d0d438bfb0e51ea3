// The handshake of a WebSocket, answered when the session is ready: its filters have been compiled then, and matched with all
// parameters, in turns with what others ask for.

import type { Exchange } from '../http/exchange.ts';
import type { Task } from '../turns/work-queue.ts';
import type { Session } from './session.ts';

export interface HandshakeOptions {
  /** That of the client. */
  readonly address: string;
  readonly exchange: Exchange;
  /** Begins the session. Errors: `bad-request`. */
  begin(): Session;
  /** Answers the handshake with the session. */
  upgrade(session: Session): void;
  /** Answers what `begin` throws. */
  refuse(error: unknown): void;
  /** It is over. */
  end(): void;
}

export class Handshake implements Task {
  readonly address: string;
  readonly #options: HandshakeOptions;
  #session: Session | undefined = undefined;

  constructor(options: HandshakeOptions) {
    this.address = options.address;
    this.#options = options;
  }

  advance(endMs: number): boolean {
    const { exchange, upgrade, refuse, end } = this.#options;
    if (exchange.isAborted) this.#session?.close();
    else {
      try {
        if (this.#prepare(endMs)) return true;
        exchange.reply(() => upgrade(this.#session!));
      } catch (error) {
        refuse(error);
      }
    }
    end();
    return false;
  }

  #prepare(endMs: number): boolean {
    this.#session ??= this.#options.begin();
    return this.#session.prepare(endMs);
  }
}
