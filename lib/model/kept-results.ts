// Results of work that is done again and again: many rules have the same expression, or read the same names.

/** Keeps results by key, up to a bound; when there are more, it forgets all of them. */
export class KeptResults<Result> {
  readonly #most: number;
  readonly #results = new Map<string, Result>();

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): Result | undefined {
    return this.#results.get(key);
  }

  /** Returns the result. */
  keep(key: string, result: Result): Result {
    if (this.#results.size >= this.#most) this.#results.clear();
    this.#results.set(key, result);
    return result;
  }
}
