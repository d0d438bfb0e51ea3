// Clients that are behind take turns: some milliseconds of each round of the event loop are for them, the rest is for those
// who are live.

import type { Client } from './client.ts';

const roundMs = 2;
/** How long a client is worked for at most before it is the next one's turn. */
const turnMs = 0.5;

export class CatchUpQueue {
  /** Bounded by the number of clients. */
  readonly #clients = new Set<Client>();
  #isRequested = false;
  readonly #advance: (client: Client, endMs: number) => boolean;

  /** `advance` works for a client until then, and returns whether there is more to do at once. */
  constructor(advance: (client: Client, endMs: number) => boolean) {
    this.#advance = advance;
  }

  /** Has a client brought up to date as far as its socket takes it. */
  add(client: Client): void {
    this.#clients.add(client);
    this.#runSoon();
  }

  remove(client: Client): void {
    this.#clients.delete(client);
  }

  #runSoon(): void {
    if (this.#isRequested || this.#clients.size === 0) return;
    this.#isRequested = true;
    setImmediate(() => this.#run());
  }

  #run(): void {
    this.#isRequested = false;
    const endMs = performance.now() + roundMs;
    for (const client of this.#clients) {
      this.#clients.delete(client);
      if (this.#advance(client, performance.now() + turnMs)) this.#clients.add(client);
      if (performance.now() > endMs) break;
    }
    this.#runSoon();
  }
}
