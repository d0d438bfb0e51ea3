// When a link is cut: after some time, with the so many-th message, or right after the first or second `end`.

import type { Random } from '../../support/random.ts';

const longestLifeMs = 60;
const mostMessages = 60;

export class Plan {
  readonly #cut: () => void;
  #isOver = false;
  #messages = Number.POSITIVE_INFINITY;
  #ends = Number.POSITIVE_INFINITY;

  /** `cut` is called once. */
  constructor(random: Random, cut: () => void) {
    this.#cut = cut;
    const kind = random.below(3);
    if (kind === 0) setTimeout(() => this.#end(), random.below(longestLifeMs));
    else if (kind === 1) this.#messages = 1 + random.below(mostMessages);
    else this.#ends = 1 + random.below(2);
  }

  took(isEnd: boolean): void {
    this.#messages--;
    if (isEnd) this.#ends--;
    if (this.#messages === 0 || this.#ends === 0) this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cut();
  }
}
