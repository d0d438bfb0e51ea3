// Pings every client in turn, whether it is silent or not: so nobody who is there is silent for long, and no proxy on the way takes a
// socket for one that is no longer used. Who is silent for longer than `idleMs` is cut by uWebSockets.js.

import type { ConnectedClient } from './socket-protocol.ts';

/** A client is pinged about once in so many beats. */
const beatsPerRound = 30;

interface Clients {
  readonly size: number;
  clients(): Iterable<ConnectedClient>;
}

export class Heartbeat {
  readonly #clients: Clients;
  readonly #beatMs: number;
  #timer: NodeJS.Timeout | undefined;
  /** Where this round is; undefined: the first one has not begun. */
  #walk: Iterator<ConnectedClient> | undefined;
  #beat = 0;

  constructor(clients: Clients, beatMs = 1000) {
    this.#clients = clients;
    this.#beatMs = beatMs;
  }

  /** To be told when a client has come. */
  came(): void {
    this.#timer ??= setInterval(() => this.#pingSome(), this.#beatMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#walk = undefined;
    this.#beat = 0;
  }

  /** Those who come while a round is under way are at its end, and may have to wait for the next one. */
  #pingSome(): void {
    const { size } = this.#clients;
    if (size === 0) {
      this.stop();
      return;
    }
    this.#beat = (this.#beat + 1) % beatsPerRound;
    if (this.#beat === 0) this.#walk = this.#clients.clients()[Symbol.iterator]();
    for (let left = Math.ceil(size / beatsPerRound); left > 0; left--) {
      const next = this.#walk?.next();
      if (next === undefined || next.done) return;
      next.value.session.ping();
    }
  }
}
