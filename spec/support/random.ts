// Numbers that look random and are the same for the same seed, so that whatever an input finds can be found again.

export class Random {
  #state: number;

  /** The `index`-th source of a seed. */
  constructor(seed: number, index: number) {
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35);
    for (let round = 0; round < 4; round++) this.#next();
  }

  /** An integer from 0 on, less than `end`. */
  below(end: number): number {
    return Math.floor((this.#next() / 2 ** 32) * end);
  }

  /** true once in `times` on average. */
  once(times: number): boolean {
    return this.below(times) === 0;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  /** A list of at most so many items. */
  list<T>(most: number, create: () => T): T[] {
    return Array.from({ length: this.below(most + 1) }, create);
  }

  /** mulberry32. */
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }
}
