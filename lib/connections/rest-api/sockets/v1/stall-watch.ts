// Finds clients whose sockets have been full for too long.

/** What is watched; `fullSinceMs` is of a monotonic clock. */
interface Watched {
  readonly fullSinceMs: number | undefined;
}

const checkMs = 1000;

export class StallWatch<Client extends Watched> {
  readonly #timeoutMs: number;
  readonly #giveUp: (client: Client) => void;
  /** Bounded by the number of clients. */
  readonly #full = new Set<Client>();
  #timer: NodeJS.Timeout | undefined;

  /** `giveUp` is called for a client that has been full for `timeoutMs`. */
  constructor(timeoutMs: number, giveUp: (client: Client) => void) {
    this.#timeoutMs = timeoutMs;
    this.#giveUp = giveUp;
  }

  /** Watches a client that is full. */
  add(client: Client): void {
    this.#full.add(client);
    this.#timer ??= setInterval(() => this.#check(), checkMs);
  }

  /** Watches it no more: it has read, or is gone. */
  delete(client: Client): void {
    if (!this.#full.delete(client) || this.#full.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #check(): void {
    const latest = performance.now() - this.#timeoutMs;
    for (const client of this.#full) if (client.fullSinceMs! < latest) this.#giveUp(client);
  }
}
