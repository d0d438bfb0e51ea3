// Caches results, because many rules have the same expression or read the same names.

/** Caches results by key, up to a maximum number. A full cache is cleared. */
export class KeptResults<Result> {
  readonly #most: number;
  readonly #results = new Map<string, Result>();

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): Result | undefined {
    return this.#results.get(key);
  }

  /** Adds a result under a key and returns the result. */
  keep(key: string, result: Result): Result {
    if (this.#results.size >= this.#most) this.#results.clear();
    this.#results.set(key, result);
    return result;
  }
}
