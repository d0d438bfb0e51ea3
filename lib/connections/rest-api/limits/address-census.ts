// Whether an address has too many connections. Nobody asks as long as all clients together have no more than one of them may have, so
// that it costs nothing until then. After that the census asks the system once a second who has how many.

import { peersOf } from '../../../net/tcp-peers.ts';
import { NetworkCounts } from './network.ts';

const everyMs = 1000;

export class AddressCensus {
  readonly #most: number;
  readonly #portOf: () => number;
  /** What the system told last, plus the connections that have come since. Those that have gone since count until it tells again. */
  #counts = new NetworkCounts();
  #takenAtMs = Number.NEGATIVE_INFINITY;
  /** true: the system does not tell, and so nobody is refused. */
  #isBlind = false;

  constructor(most: number, portOf: () => number) {
    this.#most = most;
    this.#portOf = portOf;
  }

  /** Counts a connection that has come, unless its address may not have one more; returns whether it may. */
  mayCome(address: string): boolean {
    const now = performance.now();
    if (now - this.#takenAtMs >= everyMs)
      this.#take(now); // this one is among them
    else this.#counts.add(address);
    if (this.#isBlind || this.#counts.of(address) <= this.#most) return true;
    this.#counts.remove(address);
    return false;
  }

  /** Asks at once: of a burst, all would come before an answer did. */
  #take(now: number): void {
    this.#takenAtMs = now;
    this.#counts = new NetworkCounts();
    try {
      for (const [address, count] of peersOf(this.#portOf())) this.#counts.add(address, count);
    } catch {
      this.#isBlind = true;
    }
  }
}
