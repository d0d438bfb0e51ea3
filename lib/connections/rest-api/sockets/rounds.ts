// Knows which changes were told in the last two rounds of the event loop. At the end of a round the server sends what was published in it.
// So when it drops a frame, that frame was published in this round or in the one before.

import { Durations } from '../../../model/time/durations.ts';

/** One round of so many is timed. */
const timedEvery = 16;

export class Rounds {
  /** The revision before the first change of this round, and that of the round before; undefined: nothing was told in it. */
  #current: number | undefined = undefined;
  #previous: number | undefined = undefined;

  #count = 0;
  /** When the first change of this round was told; undefined: this round is not timed. */
  #beganMs: number | undefined = undefined;
  /** From the first change of a round until the end of the round; of one round in sixteen. */
  readonly durations = new Durations();

  /** Notes that the change of a revision is being told. */
  note(revision: number): void {
    if (this.#current !== undefined) return;
    this.#current = revision - 1;
    if (++this.#count % timedEvery === 0) this.#beganMs = performance.now();
    setImmediate(this.#end);
  }

  /** Returns a revision up to which every frame has left; `newest` is the revision of the hub. */
  leftUpTo(newest: number): number {
    return Math.min(this.#previous ?? newest, this.#current ?? newest);
  }

  readonly #end = () => {
    if (this.#beganMs !== undefined) {
      this.durations.add((performance.now() - this.#beganMs) / 1000);
      this.#beganMs = undefined;
    }
    this.#previous = this.#current;
    this.#current = undefined;
  };
}
