// The outputs that have to be evaluated: a set of their ranks that gives the lowest first. It has three levels of bits; each
// bit says whether any of 32 bits of the next level is set. So adding and taking cost the same however many ranks there are.

/** How many ranks a set can hold: 0 to 32,767. */
export const maxRanks = 32 ** 3;

export class RankSet {
  #top = 0;
  readonly #middle = new Int32Array(32);
  readonly #bottom = new Int32Array(1024);

  get isEmpty(): boolean {
    return this.#top === 0;
  }

  /** Does nothing when the rank is in the set already. */
  add(rank: number): void {
    this.#bottom[rank >> 5]! |= 1 << (rank & 31);
    this.#middle[rank >> 10]! |= 1 << ((rank >> 5) & 31);
    this.#top |= 1 << (rank >> 10);
  }

  /** Takes out the lowest rank; -1 when the set is empty. */
  takeFirst(): number {
    if (this.#top === 0) return -1;
    const high = lowestBit(this.#top);
    const middle = high * 32 + lowestBit(this.#middle[high]!);
    const rank = middle * 32 + lowestBit(this.#bottom[middle]!);
    this.#bottom[middle]! &= ~(1 << (rank & 31));
    if (this.#bottom[middle] === 0) this.#middle[high]! &= ~(1 << (middle & 31));
    if (this.#middle[high] === 0) this.#top &= ~(1 << high);
    return rank;
  }
}

function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word);
}
