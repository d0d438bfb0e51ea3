// Numbers that look random and are the same for the same seed, so that whatever an input finds can be found again. And samples of long
// lists of cases that are much alike.

import type { ExecutionContext } from 'ava';

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

/**
 * Whether a case is one of this run: each `every`-th, from a random one on, which the log of the test names. A run with `FIRST=0` begins with
 * that one, a run with `WHOLE=1` takes all.
 */
export function sampled(t: Pick<ExecutionContext, 'log'>, every: number): (index: number) => boolean {
  const { WHOLE: whole, FIRST: given } = process.env;
  if (whole === '1') return () => true;
  const first = given === undefined ? Math.floor(Math.random() * every) : Number(given) % every;
  t.log(`1 of ${every} cases, FIRST=${first}`);
  return (index) => index % every === first;
}
