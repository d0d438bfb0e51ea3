// Clients that are behind take turns: some milliseconds of each round of the event loop are for them, the rest is for those
// who are live.

import type { Client } from './client.ts';

const roundMs = 2;
/** How many parameters are looked at for a client before it is the next one's turn. */
const turnBudget = 4096;

export class CatchUpQueue {
  /** Bounded by the number of clients. */
  readonly #clients = new Set<Client>();

  /** Has a client caught up as far as its socket takes it. */
  add(client: Client): void {
    this.#clients.add(client);
    if (this.#clients.size === 1) setImmediate(() => this.#run());
  }

  remove(client: Client): void {
    this.#clients.delete(client);
  }

  #run(): void {
    const endMs = performance.now() + roundMs;
    for (const client of this.#clients) {
      this.#clients.delete(client);
      const stopped = client.catchUp?.run(turnBudget);
      if (stopped === 'more') this.#clients.add(client);
      else if (stopped === 'done') client.view!.join(client);
      if (performance.now() > endMs) break;
    }
    if (this.#clients.size > 0) setImmediate(() => this.#run());
  }
}
