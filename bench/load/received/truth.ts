// What a hub must hold at each of its revisions, when there is one writer: write n, from 1 on, sets one parameter to n and is
// one change. So a picture that is told to be complete up to a revision can be checked while writing goes on.

export class Truth {
  /** The parameter of each write; index 0 stands for none. */
  readonly #owners: number[] = [-1];
  /** The newest write to each parameter up to `#reached`. */
  readonly #newest: Float64Array;
  readonly #firstRevision: number;
  #reached = 0;

  /** `firstRevision` is the hub's before the first write. */
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

  /** Notes the next write; returns its value. */
  write(parameter: number): number {
    return this.#owners.push(parameter) - 1;
  }

  /** How many parameters have changed after a revision and up to another; revisions never go back from one call to the next. */
  changedBetween(after: number, revision: number): number {
    this.#advance(revision);
    const write = after - this.#firstRevision;
    return this.#newest.reduce((count, newest) => count + (newest > write ? 1 : 0), 0);
  }

  /** Says what is wrong in a picture that is complete up to a revision and may hold newer values; 0: no value. */
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
