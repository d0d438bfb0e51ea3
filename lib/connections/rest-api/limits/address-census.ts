// Whether an address has too many connections. It is asked when there are more of all clients together than one of them may have, so
// that it costs nothing before; then the system is asked, once a second, who has how many.

import { peersOf } from '../../../net/tcp-peers.ts';
import { NetworkCounts } from './network.ts';

const everyMs = 1000;

export class AddressCensus {
  readonly #most: number;
  readonly #portOf: () => number;
  /** What the system told last, and what has come since. */
  #counts = new NetworkCounts();
  #takenAtMs = Number.NEGATIVE_INFINITY;
  /** The system does not tell: nobody is refused. */
  #isBlind = false;

  constructor(most: number, portOf: () => number) {
    this.#most = most;
    this.#portOf = portOf;
  }

  /** Counts a connection that has come; returns whether its address may have one more. */
  mayCome(address: string): boolean {
    if (this.#isBlind) return true;
    if (performance.now() - this.#takenAtMs >= everyMs) void this.#take();
    this.#counts.add(address);
    return this.#counts.of(address) <= this.#most;
  }

  async #take(): Promise<void> {
    this.#takenAtMs = performance.now();
    try {
      const counts = new NetworkCounts();
      for (const [address, count] of await peersOf(this.#portOf())) counts.add(address, count);
      this.#counts = counts;
    } catch {
      this.#isBlind = true;
    }
  }
}
