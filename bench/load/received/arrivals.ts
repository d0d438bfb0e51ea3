// When changes were sent, and how long each took to each socket; those of the warm-up do not count.

import { percentile } from '../../../spec/support/statistics.ts';

/** Latencies in milliseconds, and how many changes were sent a second. */
export interface ArrivalFigures {
  readonly p50: number;
  readonly p99: number;
  readonly changesPerSecond: number;
}

export class Arrivals {
  readonly sentAt: Float64Array;
  readonly #done = Promise.withResolvers<void>();
  readonly #warmUp: number;
  readonly #received: Uint32Array;
  readonly #latenciesMs: Float64Array;
  #counted = 0;
  #completeSockets = 0;

  constructor(sockets: number, warmUp: number, changes: number) {
    this.sentAt = new Float64Array(changes);
    this.#warmUp = warmUp;
    this.#received = new Uint32Array(sockets);
    this.#latenciesMs = new Float64Array((changes - warmUp) * sockets);
  }

  /** Resolves when all sockets have received all changes. */
  get complete(): Promise<void> {
    return this.#done.promise;
  }

  /** A socket has received so many changes by now. */
  add(socket: number, changes: number): void {
    const now = performance.now();
    for (let change = Math.max(this.#warmUp, this.#received[socket]!); change < changes; change++)
      this.#latenciesMs[this.#counted++] = now - this.sentAt[change]!;
    this.#received[socket] = changes;
    if (changes === this.sentAt.length && ++this.#completeSockets === this.#received.length) this.#done.resolve();
  }

  figures(): ArrivalFigures {
    const sorted = this.#latenciesMs.sort();
    const spanMs = this.sentAt.at(-1)! - this.sentAt[this.#warmUp]!;
    return {
      p50: percentile(sorted, 0.5),
      p99: percentile(sorted, 0.99),
      changesPerSecond: ((this.sentAt.length - this.#warmUp - 1) * 1000) / spanMs,
    };
  }
}
