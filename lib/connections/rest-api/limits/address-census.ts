// Whether an address has too many connections. uWebSockets.js does not say whose connection has gone, so all that have come count, until
// the system is asked who is there. That takes it some 30 ms, so it is asked only when it matters, once a second at most.

import { peersOf } from '../../../net/tcp-peers.ts';
import { NetworkCounts } from './network.ts';

const everyMs = 1000;
/** After so many connections it is asked in any case, so that those who have gone are forgotten. */
const manyCame = 1000;

export class AddressCensus {
  readonly #most: number;
  readonly #portOf: () => number;
  /** No address has more. */
  #atMost = new NetworkCounts();
  /** What has come since the system was asked last. */
  #since = new NetworkCounts();
  #came = 0;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  /** true: the system does not tell, and so nobody is refused. */
  #isBlind = false;

  constructor(most: number, portOf: () => number) {
    this.#most = most;
    this.#portOf = portOf;
  }

  /** Counts a connection that has come, one of `open`, unless its address may not have one more; returns whether it may. */
  mayCome(address: string, open: number): boolean {
    if (this.#isBlind) return true;
    const isFull = open > this.#most;
    const count = this.#atMost.of(address) + 1;
    if ((isFull && count * 2 > this.#most) || this.#came >= Math.max(manyCame, this.#most)) this.#ask();
    if (isFull && count > this.#most) return false;
    this.#atMost.add(address);
    this.#since.add(address);
    this.#came++;
    return true;
  }

  #ask(): void {
    const now = performance.now();
    if (now - this.#askedAtMs < everyMs) return;
    this.#askedAtMs = now;
    this.#since = new NetworkCounts();
    this.#came = 0;
    peersOf(this.#portOf()).then(
      (peers) => this.#hear(peers),
      () => {
        this.#isBlind = true;
      },
    );
  }

  /** Of what came while the system was asked nobody knows whether it told of it, so both bounds hold. */
  #hear(peers: ReadonlyMap<string, number>): void {
    const told = new NetworkCounts();
    for (const [address, count] of peers) told.add(address, count);
    this.#atMost = this.#atMost.leastOf(told.plus(this.#since));
  }
}
