// Whether an address has too many connections. Nobody asks as long as all clients together have no more than one of them may have, so
// that it costs nothing until then. After that the census asks the system once a second who has how many.

import { peersOf } from '../../../net/tcp-peers.ts';
import { NetworkCounts } from './network.ts';

const everyMs = 1000;

export class AddressCensus {
  readonly #most: number;
  readonly #portOf: () => number;
  /** What the system told last, plus the connections that have come since. */
  #counts = new NetworkCounts();
  #takenAtMs = Number.NEGATIVE_INFINITY;
  /** true: the system does not tell, and so nobody is refused. */
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
