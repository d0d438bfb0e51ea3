// What a hub with a single writer must hold at each revision: write n, counting from 1, sets one parameter to n and is one change. A
// client's picture that the hub reports as complete up to a revision can therefore be checked while writing continues.

export class Truth {
  /** The parameter of each write; index 0 is unused. */
  readonly #owners: number[] = [-1];
  /** The newest write to each parameter up to `#reached`. */
  readonly #newest: Float64Array;
  readonly #firstRevision: number;
  #reached = 0;

  /** `firstRevision` is the hub's revision before the first write. */
  constructor(parameters: number, firstRevision: number) {
    this.#newest = new Float64Array(parameters);
    this.#firstRevision = firstRevision;
  }

  get writes(): number {
    return this.#owners.length - 1;
  }

  /** The hub's revision after all writes. */
  get revision(): number {
    return this.#firstRevision + this.writes;
  }

  /** Records the next write; returns its value. */
  write(parameter: number): number {
    return this.#owners.push(parameter) - 1;
  }

  /** Number of parameters that changed after revision `after`, up to `revision`; `revision` must not decrease from one call to the next. */
  changedBetween(after: number, revision: number): number {
    this.#advance(revision);
    const write = after - this.#firstRevision;
    return this.#newest.reduce((count, newest) => count + (newest > write ? 1 : 0), 0);
  }

  /** Describes the first error in a picture that is complete up to a revision and may hold newer values; 0 stands for no value. */
  differenceAt(revision: number, picture: Float64Array): string | undefined {
    this.#advance(revision);
    for (const [parameter, value] of picture.entries()) {
      if (value < this.#newest[parameter]!)
        return `parameter ${parameter} is ${value} at revision ${revision}, expected ${this.#newest[parameter]} or newer`;
      if (value !== 0 && this.#owners[value] !== parameter)
        return `parameter ${parameter} is ${value}, which was never written`;
    }
    return undefined;
  }

  #advance(revision: number): void {
    const last = Math.min(revision - this.#firstRevision, this.writes);
    for (; this.#reached < last; this.#reached++) this.#newest[this.#owners[this.#reached + 1]!] = this.#reached + 1;
  }
}
