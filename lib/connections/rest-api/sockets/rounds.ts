// Knows which changes were told in the last two rounds of the event loop. At the end of a round uWebSockets.js sends what was published
// in it. So when it drops a frame, that frame was published in this round or in the one before.

import { Durations } from '../../../model/time/duration.ts';

/** One round of so many is timed. */
const timedEvery = 16;

export class Rounds {
  /** The revision before the first change of this round, and that of the round before; undefined: nothing was told in it. */
  #current: number | undefined = undefined;
  #previous: number | undefined = undefined;

  #count = 0;
  /** When the first change of the round that was timed last was told. */
  #beganMs = 0;
  /** From the first change of a round until what its observers had sent in this round is with the sockets; of one round in sixteen. */
  readonly durations = new Durations();

  /** Notes that the change of a revision is being told; returns whether `time` is to be called once its observers know it. */
  note(revision: number): boolean {
    if (this.#current !== undefined) return false;
    this.#current = revision - 1;
    setImmediate(this.#end);
    if (++this.#count % timedEvery !== 0) return false;
    this.#beganMs = performance.now();
    return true;
  }

  /** Times the round. What the observers have put off until its end is done before this is over. */
  time(): void {
    setImmediate(this.#endTiming);
  }

  /** Returns a revision up to which every frame has left; `newest` is the revision of the hub. */
  leftUpTo(newest: number): number {
    return Math.min(this.#previous ?? newest, this.#current ?? newest);
  }

  readonly #end = () => {
    this.#previous = this.#current;
    this.#current = undefined;
  };

  readonly #endTiming = () => this.durations.add((performance.now() - this.#beganMs) / 1000);
}
