// The networks of clients. For limits per address, a network is an IPv4 address, or the /64 prefix of an IPv6 address, because a single
// host may have a whole /64.

/** Returns the network of an address: `2001:0db8:0000:0000:…` → `2001:0db8:0000:0000::/64`. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const groups = address.split(':');
  return groups.length === 8 ? `${groups.slice(0, 4).join(':')}::/64` : address;
}

/** Counts items per network. The number of entries is bounded by the number of items. */
export class NetworkCounts {
  readonly #counts = new Map<string, number>();

  of(address: string): number {
    return this.#counts.get(networkOf(address)) ?? 0;
  }

  add(address: string, count = 1): void {
    this.#counts.set(networkOf(address), this.of(address) + count);
  }

  /** Returns the sums of the counts here and in `others`, network by network. */
  plus(others: NetworkCounts): NetworkCounts {
    const sum = new NetworkCounts();
    for (const counts of [this, others]) for (const [network, count] of counts.#counts) sum.add(network, count);
    return sum;
  }

  /** Returns the lower of the counts here and in `others`, network by network. */
  leastOf(others: NetworkCounts): NetworkCounts {
    const least = new NetworkCounts();
    for (const [network, count] of this.#counts) {
      const other = others.#counts.get(network);
      if (other !== undefined) least.add(network, Math.min(count, other));
    }
    return least;
  }

  remove(address: string): void {
    const count = this.of(address) - 1;
    if (count > 0) this.#counts.set(networkOf(address), count);
    else this.#counts.delete(networkOf(address));
  }
}
