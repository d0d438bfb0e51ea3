// Knows which changes were told in the last two rounds of the event loop. At the end of a round the server sends what was published in it.
// So when it drops a frame, that frame was published in this round or in the one before.

export class Rounds {
  /** The revision before the first change of this round, and that of the round before; undefined: nothing was told in it. */
  #current: number | undefined = undefined;
  #previous: number | undefined = undefined;

  /** Notes that the change of a revision is being told. */
  note(revision: number): void {
    if (this.#current !== undefined) return;
    this.#current = revision - 1;
    setImmediate(this.#end);
  }

  /** Returns a revision up to which every frame has left; `newest` is the revision of the hub. */
  leftUpTo(newest: number): number {
    return Math.min(this.#previous ?? newest, this.#current ?? newest);
  }

  readonly #end = () => {
    this.#previous = this.#current;
    this.#current = undefined;
  };
}
