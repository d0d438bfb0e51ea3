// The networks of clients. For limits per address, a network is an IPv4 address, or the /64 prefix of an IPv6 address, because a single
// host may have a whole /64.

/**
 * Returns the network to which limits per address apply: `2001:0db8:0000:0000:…` → `2001:0db8:0000:0000::/64`. Returns an IPv4 address
 * unchanged.
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const groups = address.split(':');
  return groups.length === 8 ? `${groups.slice(0, 4).join(':')}::/64` : address;
}

/** Counts items, such as connections, per network. The number of entries is bounded by the number of items. */
export class NetworkCounts {
  readonly #counts = new Map<string, number>();

  of(address: string): number {
    return this.#counts.get(networkOf(address)) ?? 0;
  }

  add(address: string, count = 1): void {
    this.#counts.set(networkOf(address), this.of(address) + count);
  }

  /** Returns the sum of the counts here and in `others` for each network. */
  plus(others: NetworkCounts): NetworkCounts {
    const sum = new NetworkCounts();
    for (const counts of [this, others]) for (const [network, count] of counts.#counts) sum.add(network, count);
    return sum;
  }

  /** Returns the lower of the counts here and in `others` for each network. */
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
